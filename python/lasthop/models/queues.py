"""Queues of a scenario that are not the drop-tail FIFOs which models know."""

from collections.abc import Iterator, Mapping
from typing import Any

PLAIN = ("drop_tail", "threshold")
"""Disciplines under which a packet is lost if, and only if, it finds the queue full."""


def managed(nodes: Iterator[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    """What to say of each queue under another discipline.

    Parameters
    ----------
    nodes : iterator of (str, Mapping)
        Nodes of a normalised scenario, each with the key path of its table.

    Yields
    ------
    str
        The queue's key and its discipline, once.
    """
    seen = set()
    for table, node in nodes:
        discipline = node.get("queue", {}).get("discipline", "drop_tail")
        what = f"`{table}.queue.{discipline}` manages the queue"
        if discipline not in PLAIN and what not in seen:
            seen.add(what)
            yield what


def nodes_of(scenario: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The access point and all stations, each with the key path of its table."""
    yield "cell.ap", scenario["cell"]["ap"]
    for station in scenario["stations"]:
        yield f"station.{station['group']}", station
