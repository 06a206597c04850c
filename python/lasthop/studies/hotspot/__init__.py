"""Studies of paper 002, per-station fairness in a hot-spot."""
