"""What machine this is: its processor, and how it gives memory."""
