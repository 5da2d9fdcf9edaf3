"""What a folder of results is shown as."""
