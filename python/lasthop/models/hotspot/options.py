"""Options of the hot-spot model."""

from dataclasses import dataclass

from lasthop.models.choices import Choices

LEAST, MOST = 1e-3, 1e3
"""Range of meaningful access priorities. [-]"""


@dataclass(frozen=True)
class Options(Choices):
    r"""Options of the model, which are not part of a scenario.

    Attributes
    ----------
    beta : float or None
        Access priority of every station over the AP, :math:`\beta` (definition d14), as measured in
        the paper. With None, the priority of each station is computed from the access parameters of
        the station and the AP. [-]
    """

    beta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta is not None and not LEAST <= self.beta <= MOST:
            raise ValueError(f"beta: {self.beta:g} is not a number from {LEAST:g} to {MOST:g}")
