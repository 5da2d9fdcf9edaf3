"""Roamsim beside other simulators: the same scenarios, and how the results compare. `make validate` runs it."""
