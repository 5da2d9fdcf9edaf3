"""Folders of results: what is kept of runs, and how it is found again."""
