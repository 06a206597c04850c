"""Warnings that a user must check before trusting an answer."""
