"""Real programs over a simulated network: `roamsim live`."""
