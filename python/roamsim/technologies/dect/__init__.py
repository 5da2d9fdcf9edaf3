"""DECT: its pictures."""
