"""Choices that the paper leaves open or prints incorrectly."""

from dataclasses import dataclass
from typing import Literal

from lasthop.models.choices import Choices

Increase = Literal["engine", "compound", "printed"]
Mean = Literal["time", "jumps"]


@dataclass(frozen=True)
class Options(Choices):
    r"""Readings of the paper. The defaults are the engine's rules.

    Attributes
    ----------
    increase : "engine", "compound" or "printed"
        Window growth. ``"engine"``: :math:`\max(1, \alpha W^\kappa)` per round trip while fewer
        than gamma packets of the flow wait, otherwise 1. ``"compound"``: :math:`\alpha W^\kappa`
        per round trip, as in Eq. (23). ``"printed"``: :math:`\alpha W^\kappa` per ACK, exactly as
        in Eq. (2).
    losses : "bursts", "independent" or "chain"
        Model of losses. ``"bursts"``: the AP's buffer overflows in episodes of a round trip that
        affect growing flows; recovery and timeouts take time. ``"independent"``: every packet is
        lost with the same probability; recovery and timeouts take time. ``"chain"``: the window
        chain of Eq. (3), which halves at each loss and has no time. If uploads share the buffer,
        ``"bursts"`` becomes ``"independent"``: their surplus of ACKs affects all packets equally.
    mean : "time" or "jumps"
        Mean of the chain of Eq. (3): the window over time, or over its changes as printed in Eq.
        (4).
    collisions : "draining" or "mean"
        Collisions of the AP's attempts. ``"draining"``: stations that have sent their ACK stop
        contending, so that later attempts at a packet collide less. ``"mean"``: equal for all
        attempts, (13).
    slots : "scenario" or "bianchi"
        Whether counters fall in busy slots: as set by `cell.countdown`, or always.
    ack_balance : "served" or "printed"
        Terms that balance in Eq. (12): packets that leave a queue, or attempts as printed.
    goodput : "segments" or "acks"
        Segments that count as goodput: delivered segments, as in a simulation, or segments whose
        acknowledgement returns, :math:`\Theta_i` in Eq. (5).
    """

    increase: Increase = "engine"
    losses: Literal["bursts", "independent", "chain"] = "bursts"
    mean: Mean = "time"
    collisions: Literal["draining", "mean"] = "draining"
    slots: Literal["scenario", "bianchi"] = "scenario"
    ack_balance: Literal["served", "printed"] = "served"
    goodput: Literal["segments", "acks"] = "segments"


PAPER = Options(losses="chain", mean="jumps", collisions="mean", slots="bianchi")
"""The paper's own model with corrections: chain of Eq. (3), averages of Eqs. (4) to (16)."""
