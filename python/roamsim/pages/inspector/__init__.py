"""The time line of a report, in the browser: its scripts and its style. `page.py` writes them into the page."""
