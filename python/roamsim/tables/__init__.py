"""Result tables: what is in them, what their columns mean, and how values read."""
