"""What the stability workbench cannot answer."""

from lasthop.errors import ConvergenceError, UserError

__all__ = ["ConvergenceError", "NoEquilibriumError", "ParameterError"]


class ParameterError(UserError, ValueError):
    """A parameter that no model has, or a value that it cannot have."""


class NoEquilibriumError(UserError):
    """Parameters for which the system has no equilibrium, with the reason."""
