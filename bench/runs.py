"""Storage of runs as lines of a file, so that runs are not repeated, and the parts of a result that
are stored."""

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
"""Mean values of a result. The keys are the list in the result, the name of the item, and the
quantity."""

OUT = Path(__file__).parent / "out"


class Runs:
    """A file of stored runs with one line `{"key": ..., "seen": ...}` per run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> Iterator[tuple[str, Any]]:
        """Yield the key and the values of each stored run. The order is that in which runs were
        added."""
        text = self.path.read_text() if self.path.exists() else ""
        try:
            for line in map(json.loads, text.splitlines()):
                yield line["key"], line["seen"]
        except json.JSONDecodeError as error:
            raise UserError(f"{self.path}: a line is not whole: {error}") from None

    def known(self) -> dict[str, Any]:
        """Return the values of the stored runs by key. If a key occurs several times, its last run
        is returned."""
        return dict(self.lines())

    def add(self, key: str, seen: object) -> None:
        """Append a run to the file."""
        self.path.parent.mkdir(exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps({"key": key, "seen": seen}) + "\n")


def machine() -> str:
    """Return a description of the machine on which the runs are made."""
    return f"Linux {'.'.join(platform.release().split('.')[:2])}, {os.cpu_count()} processors"


def kept(summary: Table, lists: Sequence[str]) -> Lists:
    """Return the mean values of the given lists of a result."""
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
    """Return the mean values of the given lists for each replication of a simulation."""
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
