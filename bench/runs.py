"""Runs that are stored as lines of a file and not repeated, and stored parts of a result."""

import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import lasthop as lh
from lasthop.errors import UserError

Table = Mapping[str, Any]
Lists = dict[str, dict[str, dict[str, float]]]
"""Quantities, by list and name of the item."""

OUT = Path(__file__).parent / "out"


class Runs:
    """Lines `{"key": ..., "seen": ...}` of a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> Iterator[tuple[str, Any]]:
        """Yield all entries in the order in which they were added."""
        text = self.path.read_text() if self.path.exists() else ""
        try:
            for line in map(json.loads, text.splitlines()):
                yield line["key"], line["seen"]
        except json.JSONDecodeError as error:
            raise UserError(f"{self.path}: a line is not whole: {error}") from None

    def known(self) -> dict[str, Any]:
        """Return the finished runs by their keys. The last entry of a key is used."""
        return dict(self.lines())

    def add(self, key: str, seen: object) -> None:
        """Keep a run."""
        self.path.parent.mkdir(exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps({"key": key, "seen": seen}) + "\n")


def machine() -> str:
    """Return the machine on which the runs are made."""
    return f"Linux {'.'.join(platform.release().split('.')[:2])}, {os.cpu_count()} processors"


def kept(summary: Table, lists: Sequence[str]) -> Lists:
    """Return the means of a result's lists."""
    return {
        name: {
            item["name"]: {
                key: value["mean"] for key, value in item.items() if isinstance(value, Mapping)
            }
            for item in summary.get(name, [])
        }
        for name in lists
    }


def by_replication(answer: "lh.Result", lists: Sequence[str]) -> list[Lists]:
    """Return the means of each replication of a simulation."""
    tree = answer.sample_tree
    return [
        {
            name: {
                item: {
                    quantity: value
                    for quantity, values in quantities.items()
                    if (value := values[number]) is not None
                }
                for item, quantities in tree.get(name, {}).items()
            }
            for name in lists
        }
        for number in range(answer.replications)
    ]
