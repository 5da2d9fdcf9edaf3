"""The page of every report: one self-contained HTML file."""
