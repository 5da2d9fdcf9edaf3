"""Reports and figures of a folder of results."""
