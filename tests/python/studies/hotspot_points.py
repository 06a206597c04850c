"""Points of the studies of paper 002, which tests of measures and of the setup use."""

CONNECTIONS = (1, 2, 3, 4, 5, 6)
WINDOWS = (6, 9, 12, 16, 20, 24, 30, 36, 42)
