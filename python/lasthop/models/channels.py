"""Channels that models, which know a steady state, cannot have."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["changing"]


def changing(stations: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What of a scenario changes the channel of stations during the run."""
    groups = dict.fromkeys(each["group"] for each in stations if each.get("channel_changes"))
    for group in groups:
        yield f"`station.{group}.channel` changes the channel; the model knows a steady state only"
