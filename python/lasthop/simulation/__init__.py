"""Simulations: the call of the engine, the result, and runs in steps."""
