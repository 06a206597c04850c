"""Tables, quantities, saving and loading that all answers have in common."""
