"""The report as one page of HTML that needs nothing beside it, from the same chapters as README.md: see `page.page`.

`render.py` turns their Markdown into HTML, `pictures.py` the drawn files into inline pictures that follow the light or
dark mode of the reader; `glossary.py` says what the short words mean; `page.html.j2` and `page.css` are the page.
"""
