"""Scenarios: their files, the checked values, and how they are read."""
