"""Options of the 802.11e model, for statements that the paper leaves open."""

from dataclasses import dataclass
from typing import Literal

from lasthop.models.choices import Choices

ApQueue = Literal["fifo", "mixed"]

MIN_BPS, MAX_BPS = 1e5, 1e9
"""Least and largest accepted rate of a MAC ACK. [bit/s]"""


@dataclass(frozen=True)
class Options(Choices):
    """Choices where the paper leaves a rule open. The defaults are the rules of lasthop's
    simulation engine.

    Attributes
    ----------
    mean_backoff : "CW/2" or "(CW+1)/2"
        Mean of a backoff. In section 2.1 the backoff is uniform on [0, CW], which means CW/2;
        section 3.6 prints (CW+1)/2.
    attempts : "scenario" or "unlimited"
        Limit of attempts after which a frame is dropped and the contention window is reset.
        ``"scenario"``: the limit of the scenario. ``"unlimited"``: no limit.
    collision : "eifs" or "frame"
        Time after the longest colliding frame. ``"eifs"``: SIFS, the duration of a MAC ACK, and
        AIFS. ``"frame"``: only AIFS. The paper does not define T_col.
    eifs_rate_bps : float or None
        Rate of the MAC ACK in the time after a collision; None uses the rate of the scenario.
        [bit/s]
    ap_queue : "fifo", "mixed" or None
        Order of the AP's queue, which matters only with TXOP; None uses the scenario's order.
        ``"fifo"``: the packets that a station sent in one burst remain adjacent. The solution is
        exact if the stations' TXOP limit divides the window and the AP's TXOP limit; otherwise the
        model uses ``"mixed"`` with a warning. ``"mixed"``: the paper's uniform order.
    solver : "auto", "full", "product", "lumped" or "pifs"
        Solver; see :mod:`lasthop.models.edca.solve`.
    """

    mean_backoff: Literal["CW/2", "(CW+1)/2"] = "CW/2"
    attempts: Literal["scenario", "unlimited"] = "scenario"
    collision: Literal["eifs", "frame"] = "eifs"
    eifs_rate_bps: float | None = None
    ap_queue: ApQueue | None = None
    solver: Literal["auto", "full", "product", "lumped", "pifs"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        rate_bps = self.eifs_rate_bps
        if rate_bps is not None and not MIN_BPS <= rate_bps <= MAX_BPS:
            raise ValueError(
                f"eifs_rate_bps: {rate_bps:g} is not a rate from {MIN_BPS:g} to {MAX_BPS:g} bit/s"
            )


PAPER = Options(mean_backoff="CW/2", attempts="unlimited", collision="eifs", ap_queue="mixed")
"""Options that reproduce the model of the paper itself, as far as the paper describes it: no
attempt limit, and a mixed AP queue.
"""
