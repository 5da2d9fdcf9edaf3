"""Many runs of a scenario side by side."""
