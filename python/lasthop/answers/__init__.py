"""Tables, quantities, saving and loading that all results have in common."""
