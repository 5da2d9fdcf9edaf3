"""Python written by other files: typed attributes of result tables, typed scenarios.

`python -m generators` writes them anew (`make generated`); a test holds that what is there is what would be written.
"""
