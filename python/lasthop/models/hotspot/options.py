"""What may be said otherwise than the scenario has it."""

from dataclasses import dataclass

from lasthop.models.choices import Choices


@dataclass(frozen=True)
class Options(Choices):
    r"""What the scenario does not decide.

    Attributes
    ----------
    beta : float or None
        Access priority of every station over the AP, :math:`\beta` (d14), as the paper measures it;
        None computes each station's from its access parameters and the AP's. [-]
    """

    beta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta is not None and not 0.0 < self.beta < float("inf"):
            raise ValueError(f"beta = {self.beta:g} is not a number above 0")
