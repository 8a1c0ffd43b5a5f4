"""What every stage shares: settings, places, run conditions, tracking. The library itself is `quartet`."""
