"""Scenarios: reading of scenario files, and checked values."""
