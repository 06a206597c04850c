"""Limit of the number of open files of this process."""

import resource
from contextlib import suppress

__all__ = ["raise_descriptors"]


def raise_descriptors() -> int:
    """Raise the limit of open files of this process to the allowed maximum, and return the new
    limit."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most
