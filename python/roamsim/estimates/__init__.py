"""What results say: means with intervals, differences, curves."""
