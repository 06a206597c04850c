"""Conversion of the congestion control of a scenario to a window rule of the fluid model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lasthop.models.errors import ModelError
from lasthop.scenario.transports import DELAYED_ACK, Tcp
from lasthop.stability.series import larger
from lasthop.stability.windows import RULES, WindowRule

RENO = ("reno", "newreno")
"""Congestion controls with Reno's congestion avoidance."""


ABE = ", ABE"
"""End of the name of a window rule with `abe`."""

ABE_REDUCTION = 0.2
"""Reduction of the window by a mark with `abe`, as a fraction of the window: RFC 8511, section 3.
[-]
"""


def rule_of(tcp: Tcp, *, marks: bool) -> tuple[WindowRule, dict[str, float]]:
    """Return the window rule of a flow's congestion avoidance, and its parameters.

    Parameters
    ----------
    tcp : Tcp
        TCP settings of a flow.
    marks : bool
        Whether the queue marks packets instead of dropping them.

    Raises
    ------
    ModelError
        If the growth or the reduction of the window depends on more than the window.
    """
    name = tcp.congestion
    if name in RENO:
        return reno(tcp.segments_per_step, abe=tcp.abe and marks), {}
    if name == "compound":
        compound = tcp.compound
        parameters = {"alpha": compound.alpha, "k": compound.k, "beta": compound.beta}
        by_acks = tcp.segments_per_step > 1
        return (delayed_compound() if by_acks else RULES["compound-reno"]), parameters
    if name in ("illinois", "africa"):
        if tcp.segments_per_step > 1:
            raise ModelError(
                "table I", f"`tcp.delayed_ack` = true with {name}, whose rule is for every ACK"
            )
        return RULES[name], {}
    why = {
        "cubic": "grows by the time since the last loss",
        "cubic_linux": "grows by the time since the last loss",
        "tahoe": "restarts from one packet after each loss",
        "westwood": "falls to the amount that the path has carried",
        "dctcp": "falls by the part of its packets that is marked",
        "prague": "falls by the part of its packets that is marked",
        "bbr": "sends at the delivery rate that it measures, also while packets are lost",
        "bbr3": "sends at the delivery rate that it measures",
    }
    raise ModelError(
        "eq. 1",
        f"`tcp.congestion` = {name} {why.get(name, 'has no rule')}; expected "
        f"{', '.join(RENO)}, compound, illinois or africa",
    )


def reno(segments_per_step: int, *, abe: bool) -> WindowRule:
    r"""Return the window rule of Reno.

    Parameters
    ----------
    segments_per_step : int
        Number of acknowledged segments per step of window growth, :math:`n`. A window of :math:`w`
        packets grows by :math:`i(w) = 1/nw` per packet. It is 2 with delayed ACKs. [segments]
    abe : bool
        Whether the window is reduced by marks as RFC 8511 says: :math:`d(w) = 0.2 w` instead of
        :math:`w/2`.
    """
    rule = RULES["reno"]
    if segments_per_step > 1:
        rule = replace(rule, name="reno, delayed ACKs", increase=delayed_reno_increase)
    if abe:
        rule = replace(rule, name=rule.name + ABE, decrease=abe_decrease)
    return rule


def delayed_reno_increase(w: Any, _: Mapping[str, Any]) -> Any:
    """Return the increase per packet of Reno with a receiver that acknowledges every second packet,
    :math:`i(w) = 1/2w`. [packets]
    """
    return 1.0 / (DELAYED_ACK * w)


def abe_decrease(w: Any, _: Mapping[str, Any]) -> Any:
    """Return the decrease per mark of Reno with ABE, :math:`d(w) = 0.2 w`. [packets]"""
    return ABE_REDUCTION * w


def delayed_compound() -> WindowRule:
    r"""Return the window rule of Compound with delayed ACKs. A window of :math:`w` packets grows by
    :math:`i(w) = (1/2 + (\alpha w^k - 1)^+) / w` per packet.

    Compound's delay window grows once per round trip, however many ACKs arrive in the round trip.
    """
    compound = RULES["compound-reno"]

    def increase(w: Any, p: Mapping[str, Any]) -> Any:
        return (larger(p["alpha"] * w ** p["k"], 1.0) - 1.0 + 1.0 / DELAYED_ACK) / w

    return WindowRule("compound-reno, delayed ACKs", increase, compound.decrease)
