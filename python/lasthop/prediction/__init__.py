"""Predictions of a scenario by an analytical model."""
