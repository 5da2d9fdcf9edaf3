"""The page that every report is: one HTML file, complete in itself."""
