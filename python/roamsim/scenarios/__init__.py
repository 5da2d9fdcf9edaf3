"""Scenarios as users give them: read, and varied."""
