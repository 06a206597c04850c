"""Errors of the stability functions."""

from lasthop.errors import ConvergenceError, UserError

__all__ = ["ConvergenceError", "NoEquilibriumError", "ParameterError"]


class ParameterError(UserError, ValueError):
    """An unknown parameter, or an invalid value of a parameter."""


class NoEquilibriumError(UserError):
    """A system has no equilibrium; the message has the reason."""
