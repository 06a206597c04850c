"""Figures 6.5 to 6.8: n-ACK in topology a with queues in packets and in bytes."""

from typing import Any

from lasthop.studies.acsma import network
from lasthop.studies.acsma.network import LINKS, SCHEMES
from lasthop.studies.acsma.settings import by_user
from lasthop.studies.study import Quantity, Run, Runs, Study, listed, mean_of
from lasthop.studies.sweep import Sweep, points_of


def _occupancy(run: Run, back: bool) -> Quantity:
    names = [f"{link}/back" if back else f"{link}" for link in LINKS]
    return mean_of([run.quantity("queues", name, "occupancy_packets") for name in names])


def _measure_units(runs: Runs) -> dict[str, Quantity]:
    by_packets, by_bytes = UNITS.at(acks="").runs(runs)
    values = {
        "total_bytes": network.total(by_bytes),
        "total_packets": network.total(by_packets),
        "queue_ratio": _queues_back(by_bytes),
        "queue_ratio_packets": _queues_back(by_packets),
        "r_ratio": _r_back(by_bytes),
        "connections": network.connections(by_bytes, 2),
    }
    for unit, run in (("bytes", by_bytes), ("packets", by_packets)):
        for user in LINKS:
            values[f"rtt_{unit}_{user}"] = network.rtt(run, user)
            values[f"connections_{unit}_{user}"] = network.connections(run, user)
    return values


def _queues_back(run: Run) -> Quantity:
    """Return the mean queue of the links that carry ACKs, divided by that of the links that carry
    data. [-]
    """
    return _occupancy(run, back=True) / _occupancy(run, back=False)


def _r_back(run: Run) -> Quantity:
    """Return the mean r of the links that carry ACKs, divided by that of the links that carry data.
    [-]
    """
    back = mean_of([network.link(run, f"{link}/back", "aggressiveness") for link in LINKS])
    return back / mean_of(network.of_all(network.aggressiveness, run))


SAME_SETTING_PPS = {"table 6.2": 739, "table 6.3": 737, "figure 6.5": 595}
"""Total throughputs that the paper prints for n-ACK in topology a. These throughputs differ
although the settings are the same. [packets/s]
"""


def _unit_findings(runs: Runs) -> dict[str, str]:
    light_packets, light_bytes = UNITS.at(acks="-light").runs(runs)
    ratio = _queues_back(light_bytes)
    text = ", ".join(f"{total} ({where})" for where, total in SAME_SETTING_PPS.items())
    return {
        "acsma-8": (
            f"the paper's own totals for n-ACK with queues in packets are {text} packets/s. With "
            f"ACKs as short as their bytes (C = {network.LIGHT_PPS}) the total is "
            f"{network.total(light_packets)} packets/s with queues in packets and "
            f"{network.total(light_bytes)} with queues in bytes. In bytes, the backward queues are "
            f"{ratio} times as long as the forward queues, and users have "
            f"{listed(network.of_all(network.connections, light_bytes))} connections"
        ),
        "acsma-24": _units_by_variant(runs),
    }


def _units_by_variant(runs: Runs) -> str:
    """Return as text the effect of queues in bytes, under each variant."""
    by_packets, by_bytes = UNITS.at(acks="").runs(runs)
    rates = " and ".join(listed(network.rates(run)) for run in (by_packets, by_bytes))
    queues = [
        by_bytes.quantity("queues", f"{link}/back", "occupancy_packets")
        / by_bytes.quantity("queues", f"{link}", "occupancy_packets")
        for link in LINKS
    ]
    each = []
    for kind, words in UNIT_WORDS.items():
        by_packets, by_bytes = BY_UNIT.at(kind=kind).runs(runs)
        each.append(
            f"{words}: {network.total(by_packets)} and {network.total(by_bytes)} packets/s, "
            f"backward over forward queues {_queues_back(by_packets)} and "
            f"{_queues_back(by_bytes)}, backward over forward r {_r_back(by_bytes)} in bytes, "
            f"user 1's round-trip time {network.rtt(by_packets, 1)} and "
            f"{network.rtt(by_bytes, 1)} s"
        )
    bytes_of_r = network.ACK_BYTES / network.PACKET_BYTES
    return (
        f"in bytes an ACK counts as {bytes_of_r:.3g} of a data packet. So r of backward links is "
        "comparable only if their queues are longer by the inverse of that factor. They are "
        f"{listed(queues)} times as long as the forward queues. User 2's ACKs starve, and the "
        f"others gain its air time. Users get {rates} packets/s with queues in packets and in "
        f"bytes. Variants, in packets and in bytes: {'; '.join(each)}"
    )


UNIT_WORDS = {
    "dummy": "dummy packets",
    **{name: variant.words for name, variant in network.VARIANTS.items()},
}
"""Labels of the settings of n-ACK with which queues in packets and in bytes are compared."""


def _in_unit(kind: str, unit: str) -> dict[str, Any]:
    """Return the scenario of n-ACK with queues in `unit`, under a variant or with dummy packets."""
    csma: dict[str, Any] = {} if unit == "packets" else {"queue_unit": unit}
    if kind != "dummy":
        return network.variant("nack", kind, **csma)
    return network.scenario(
        f"n-ACK, queues in {unit}, dummy", **SCHEMES["nack"], dummy=True, **csma
    )


BY_UNIT = Sweep(
    "{unit}-{kind}", _in_unit, {"kind": tuple(UNIT_WORDS), "unit": ("packets", "bytes")}
)

UNITS = Sweep(
    "{unit}{acks}",
    lambda unit, acks: network.scenario(
        f"n-ACK, queues in {unit}",
        queue_unit=unit,
        **(network.LIGHT_ACKS if acks else SCHEMES["nack"]),
    ),
    {"unit": ("packets", "bytes"), "acks": ("", "-light")},
)

FIG6_5 = Study(
    key="acsma-fig6_5",
    title="Figures 6.5 to 6.8: n-ACK with queues in packets and in bytes",
    points=points_of(UNITS, BY_UNIT),
    measure=_measure_units,
    findings=_unit_findings,
    draw=by_user({unit: f"queues in {unit}" for unit in ("packets", "bytes")}).draw,
)
