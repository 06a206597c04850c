"""Progress of long steps, their limits of time and memory, and Ctrl-C."""
