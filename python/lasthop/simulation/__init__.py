"""Simulations: the call of the engine, the result, and step-by-step simulation."""
