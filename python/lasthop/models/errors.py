"""What can go wrong when a model is asked."""


class ModelError(Exception):
    """A scenario lies outside what a model can answer.

    Parameters
    ----------
    assumption : str
        The assumption that the scenario breaks, by the paper's own number where
        it has one (``"a7"``), else by where the paper states it (``"section 3"``).
    message : str
        What in the scenario breaks it.

    Attributes
    ----------
    assumption, message : str
        As given.
    """

    def __init__(self, assumption: str, message: str) -> None:
        super().__init__(f"breaks assumption {assumption}: {message}")
        self.assumption = assumption
        self.message = message


class ConvergenceError(Exception):
    """A solver met its limit of steps before its tolerance."""
