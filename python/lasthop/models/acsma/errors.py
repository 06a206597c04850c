"""Errors of networks for the A-CSMA model."""

from lasthop.errors import ConvergenceError, UserError

__all__ = ["ConvergenceError", "NetworkError", "TooLargeError"]


class NetworkError(UserError, ValueError):
    """A network or utility that makes no sense; the message names the part at fault."""


class TooLargeError(UserError):
    """A conflict graph that an exact method cannot take."""
