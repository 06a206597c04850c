"""Warnings that a user must read before trusting a result."""
