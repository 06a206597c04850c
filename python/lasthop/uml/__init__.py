"""User-mode Linux: a Linux kernel that runs as an ordinary process, with a simulated clock."""
