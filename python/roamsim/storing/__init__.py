"""Folders of results: written, read, and merged."""
