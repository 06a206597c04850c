"""User-mode Linux: a kernel that is an ordinary process, with a simulated clock."""
