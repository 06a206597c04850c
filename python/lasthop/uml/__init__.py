"""User-mode Linux: a kernel as an ordinary process, whose time passes only while it sleeps."""
