"""Assumptions of the models of a saturated cell, and checks whether a scenario meets them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lasthop.models import cells
from lasthop.models.checks import Check, Each, Messages, Table, violations
from lasthop.models.dcf import airtime
from lasthop.models.dcf.zones import Category
from lasthop.models.errors import Doubt
from lasthop.scenario.typed import CellScenario, UdpFlow

SPREAD = 0.014
"""Largest relative error of a cell's goodput in the 1,440 simulated cells with a CWmin of 7 to 63
that ``docs/papers/dcf.md`` describes. [-]"""
SMALL_CWMIN = 7
"""CWmin below which the models warn, because attempts of different nodes are no longer nearly
independent. [slots]
"""
SMALL_ERRORS = ((1, 0.14), (3, 0.04), (SMALL_CWMIN, 0.015))
"""Pairs of a CWmin and the largest relative error of goodput up to this CWmin, in simulated cells
of 2 to 20 stations. [slots, -]
"""
TIMEOUT_ERROR = 0.017
"""Largest relative error of goodput with an ACK timeout between 50 us and EIFS less AIFS. [-]"""


FLOWS: Table[CellScenario] = (cells.NO_FLOW, Each(cells.station_flows, *cells.SATURATED))
"""Checks that all flows are saturated UDP flows."""

REFUSED: Table[CellScenario] = (
    cells.lossless_wire("cell"),
    Messages("assumption 1", cells.managed),
    Check(
        "assumption 6",
        lambda scenario: scenario.cell.rate_control != "fixed",
        '`cell.rate_control` = "{0.cell.rate_control}"',
    ),
    Messages("assumption 6", cells.changing_channels),
    Each(
        cells.active_stations,
        Check(
            "assumption 6",
            lambda station: station.snr_db is not None,
            "`{0.table}.snr` loses frames by their length; use `error`",
        ),
    ),
)
"""Checks whose violation makes the models refuse a scenario."""


@dataclass(frozen=True)
class Sender:
    """An access category of a node, with the flows that it sends."""

    category: Category
    flows: tuple[UdpFlow, ...]


def of_senders(scenario: CellScenario, senders: Sequence[Sender]) -> Iterator[Doubt]:
    """Yield each assumption that a scenario breaks, with a message."""
    cell = scenario.cell
    yield from violations(REFUSED, scenario)
    timeout_s = cell.ack_timeout_s
    if timeout_s is not None and timeout_s > airtime.eifs_lead_s(cell) and fails(senders):
        yield (
            "assumption 4",
            f"`cell.ack_timeout` = {1e6 * timeout_s:g} us is longer than EIFS less AIFS, "
            f"{1e6 * airtime.eifs_lead_s(cell):.4g} us",
        )
    yield from _of_countdown(scenario, [sender.category for sender in senders])
    for sender in senders:
        category, first = sender.category, sender.flows[0]
        key, packets = scenario.flow_key(first), category.packets
        if packets > 1 and category.contender.attempts_long is not None:
            yield "assumption 5", f"RTS before the {packets} packets of an access of `{key}`"
        if packets > 1 and category.contender.error_prob > 0:
            yield "assumption 5", f"packets of `{key}` are lost, and {packets} make an access"
        node = cell.ap if category.node == "ap" else scenario.station[category.node]
        if cell.cf_end and node.access(first.category).txop_limit_s is not None:
            yield "assumption 5", "`cell.cf_end` ends opportunities with an additional frame"


def _of_countdown(scenario: CellScenario, senders: Sequence[Category]) -> Iterator[Doubt]:
    """Yield messages about backoff counters that the models do not support."""
    if any(sender.contender.cwmin < 1 for sender in senders):
        yield "assumption 3", "a sender with `cwmin` = 0 never releases the medium"
    if scenario.cell.countdown == "edca":
        return
    aifsns = sorted({sender.aifsn for sender in senders})
    if len(aifsns) > 1:
        messages = ", ".join(map(str, aifsns))
        yield "assumption 3", f'senders with several AIFSN, {messages}; `countdown` is not "edca"'
    if len({sender.node for sender in senders}) < len(senders):
        yield "assumption 3", 'a node sends in several categories; `countdown` is not "edca"'


def fails(senders: Sequence[Sender]) -> bool:
    """Return whether frames can be lost, by a collision or by a channel error."""
    return len(senders) > 1 or any(each.category.contender.error_prob > 0 for each in senders)


def doubts(scenario: CellScenario, senders: Sequence[Sender]) -> Iterator[Doubt]:
    """Yield warnings about assumptions that the scenario nearly breaks."""
    for message in cells.unsteady_flows(scenario):
        yield "assumption 1", message
    if scenario.cell.ack_timeout_s is not None and fails(senders):
        yield (
            "assumption 4",
            "senders of lost frames are taken to wait for EIFS, not for `cell.ack_timeout`; "
            f"goodput was off by up to {100 * TIMEOUT_ERROR:g} %",
        )
    least = min(sender.category.contender.cwmin for sender in senders)
    if least < SMALL_CWMIN and len(senders) > 1:
        low = next(error for cwmin, error in SMALL_ERRORS if least <= cwmin)
        yield (
            "assumption 7",
            f"with `cwmin` = {least} senders that collided are likely to collide again; goodput "
            f"was off by up to {100 * low:g} %",
        )
