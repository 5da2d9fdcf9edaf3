"""Result tables: contents, meaning of columns, values in words."""
