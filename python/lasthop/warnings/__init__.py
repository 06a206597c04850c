"""Warnings that a user must read before trusting an answer."""
