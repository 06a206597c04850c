"""What can go wrong when a model is asked."""

from lasthop.errors import ConvergenceError, ModelError

__all__ = ["ConvergenceError", "ModelError"]
