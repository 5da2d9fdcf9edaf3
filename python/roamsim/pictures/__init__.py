"""Pictures of what was recorded over time, and of metrics."""
