"""Estimates from results: means with intervals, differences, curves."""
