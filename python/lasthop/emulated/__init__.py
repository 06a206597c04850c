"""Results of emulations. In contrast to emulations, they can be read on every system."""
