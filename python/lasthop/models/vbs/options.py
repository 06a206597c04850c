"""Options of the vbs model, for statements that paper 000 leaves open or prints incorrectly."""

from dataclasses import dataclass
from typing import Literal

from lasthop.models.choices import Choices

Increase = Literal["engine", "compound", "printed"]
Mean = Literal["time", "jumps"]


@dataclass(frozen=True)
class Options(Choices):
    r"""Choices where paper 000 leaves a rule open. The defaults are the rules of lasthop's
    simulation engine.

    Attributes
    ----------
    increase : "engine", "compound" or "printed"
        Window growth. ``"engine"``: :math:`\max(1, \alpha W^\kappa)` per round trip while fewer
        than gamma packets of the flow wait, otherwise 1. ``"compound"``: :math:`\alpha W^\kappa`
        per round trip, as in Eq. (23). ``"printed"``: :math:`\alpha W^\kappa` per ACK, exactly as
        in Eq. (2).
    losses : "bursts", "independent" or "chain"
        Model of losses. ``"bursts"``: the AP's buffer overflows in episodes that last a round trip
        and affect growing flows; recovery and timeouts take time. ``"independent"``: every packet
        is lost with the same probability; recovery and timeouts take time. ``"chain"``: the Markov
        chain of Eq. (3), in which the window halves at each loss and recovery takes no time. If
        uploads share the buffer, ``"independent"`` replaces ``"bursts"``, since the additional ACKs
        of uploads affect all packets equally.
    mean : "time" or "jumps"
        Mean window of the chain of Eq. (3). ``"time"``: average over time. ``"jumps"``: average
        over the changes of the window, as printed in Eq. (4).
    collisions : "draining" or "mean"
        Collisions of the AP's attempts. ``"draining"``: stations that have sent their ACK stop
        contending, so that later attempts at a packet collide less. ``"mean"``: the collision
        probability is equal for all attempts, as in Eq. (13).
    slots : "scenario" or "bianchi"
        Whether backoff counters fall in busy slots. ``"scenario"``: as set by `cell.countdown`.
        ``"bianchi"``: always.
    ack_balance : "served" or "printed"
        Quantities that Eq. (12) equates. ``"served"``: packets that leave a queue. ``"printed"``:
        attempts, as in the printed equation.
    goodput : "segments" or "acks"
        Segments that count as goodput. ``"segments"``: delivered segments, as in a simulation.
        ``"acks"``: segments whose acknowledgement returns, :math:`\Theta_i` in Eq. (5).
    """

    increase: Increase = "engine"
    losses: Literal["bursts", "independent", "chain"] = "bursts"
    mean: Mean = "time"
    collisions: Literal["draining", "mean"] = "draining"
    slots: Literal["scenario", "bianchi"] = "scenario"
    ack_balance: Literal["served", "printed"] = "served"
    goodput: Literal["segments", "acks"] = "segments"


PAPER = Options(losses="chain", mean="jumps", collisions="mean", slots="bianchi")
"""Options that reproduce the model of paper 000 itself, with corrections. They select the Markov
chain of Eq. (3) and the averages of Eqs. (4) to (16).
"""
