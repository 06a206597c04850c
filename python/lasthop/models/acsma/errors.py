"""Errors that the A-CSMA model raises for invalid or too large networks."""

from lasthop.errors import ConvergenceError, UserError

__all__ = ["ConvergenceError", "NetworkError", "TooLargeError"]


class NetworkError(UserError, ValueError):
    """An invalid network or utility; the message names the invalid item."""


class TooLargeError(UserError):
    """A conflict graph that is too large for an exact method."""
