"""Scenarios: reading of files, and checked values."""
