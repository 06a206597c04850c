"""Choices that the paper leaves open or prints wrongly, by name."""

from dataclasses import dataclass
from typing import Literal

from lasthop.models.choices import Choices

Increase = Literal["engine", "compound", "printed"]
Mean = Literal["time", "jumps"]


@dataclass(frozen=True)
class Options(Choices):
    r"""Readings of the paper. The defaults are what the engine does.

    Attributes
    ----------
    increase : "engine", "compound" or "printed"
        Window growth. ``"engine"``: :math:`\max(1, \alpha W^\kappa)` a round trip while fewer than
        gamma packets of the flow wait, 1 from there on. ``"compound"``: :math:`\alpha W^\kappa` a
        round trip, as Eq. (23) has it. ``"printed"``: :math:`\alpha W^\kappa` per ACK, Eq. (2) to
        the letter.
    losses : "bursts", "independent" or "chain"
        How losses meet a flow. ``"bursts"``: the AP's buffer overflows in episodes of a round trip
        that hit growing flows, recovery and timeouts take time. ``"independent"``: every packet is
        lost with the same probability, recovery and timeouts take time. ``"chain"``: the window
        chain of Eq. (3), which halves at each loss and has no time. Where uploads share the buffer
        ``"bursts"`` becomes ``"independent"``: their surplus of ACKs hits all packets alike.
    mean : "time" or "jumps"
        Mean of the chain of Eq. (3): the window over time, or over its changes as Eq. (4) prints
        it.
    collisions : "draining" or "mean"
        Collisions of the AP's attempts. ``"draining"``: stations that have sent their ACK contend
        no more, so that later attempts at a packet collide less. ``"mean"``: as often at every
        attempt, (13).
    slots : "scenario" or "bianchi"
        Whether counters fall in busy slots: as `cell.countdown` says, or always.
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
"""The paper's own model as corrected: chain of Eq. (3), averages of Eqs. (4) to (16)."""
