"""Parts that all answers share: tables, quantities, saving and loading."""
