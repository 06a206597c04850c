"""Results and scenarios as text at a prompt, and as tables in notebooks and reports."""
