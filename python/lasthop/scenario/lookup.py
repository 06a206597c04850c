"""A value in a tree by its path, and which path is meant where there is none."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from lasthop.errors import listed

__all__ = ["NoSuchKey", "value_at"]

LIKE = 0.65
"""Least likeness of the end of a path that is suggested, as `difflib` has it. [-]"""

MOST = 3
"""Most paths that are suggested."""


class NoSuchKey(KeyError):
    """A path that leads nowhere; its text names those that are nearest, found when it is read."""

    def __init__(self, path: object, tree: Mapping[str, Any]) -> None:
        super().__init__(path)
        self._tree = tree

    def __str__(self) -> str:
        path = self.args[0]
        if not isinstance(path, str):
            return f"{path!r} is no path; expected names joined by dots, such as `cell.ap.cwmin`"
        return absence_text(path, self._tree)

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyError, (str(self),)


UNITS = ("s", "bps", "bytes", "m", "packets")
"""Endings of keys whose values have a unit in the file, or count packets there."""


def value_at(tree: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path: keys, names or numbers of items of lists, joined by dots.

    A key may be written as in the file, without the unit that the normalised one ends with:
    ``duration`` for ``duration_s``. The value is in that unit.

    Raises
    ------
    NoSuchKey
        There is no such key.
    """
    node: Any = tree
    for step in path.split(".") if isinstance(path, str) else [path]:
        inside = within(node)
        keys = [step, *(f"{step}_{unit}" for unit in UNITS)]
        results = [key for key in keys if key in inside]
        if len(results) != 1 and step not in inside:
            raise NoSuchKey(path, tree)
        node = inside[results[0]]
    return node


def within(node: Any) -> Mapping[Any, Any]:
    """Return the children of a node by key; items of a list have their names and numbers."""
    if isinstance(node, Mapping):
        return node
    if isinstance(node, Sequence) and not isinstance(node, str):
        numbered = {str(number): item for number, item in enumerate(node)}
        named = {
            item["name"]: item for item in node if isinstance(item, Mapping) and "name" in item
        }
        return numbered | named
    return {}


def absence_text(path: str, tree: Mapping[str, Any]) -> str:
    """Say that a path leads nowhere, and which one may be meant."""
    known = (corrected(path, tree) or like(path, tree))[:MOST] or list(tree)
    return f"there is no `{path}`; there is {listed([f'`{each}`' for each in known])}"


def corrected(path: str, tree: Mapping[str, Any]) -> list[str]:
    """Paths with the units, plurals of lists and numbers of members that the file has not.

    >>> corrected("station.a.rate", {"stations": [{"name": "a-1", "rate_bps": 2e6}]})
    ['stations.a-1.rate_bps']
    """
    node: Any = tree
    before = ""
    *steps, last = path.split(".")
    for step in steps:
        inside = within(node)
        meant = step if step in inside else next(iter(written_out(step, inside)), None)
        if meant is None:
            return []
        before, node = f"{before}{meant}.", inside[meant]
    return [f"{before}{key}" for key in written_out(last, within(node))]


def written_out(step: str, inside: Mapping[Any, Any]) -> list[str]:
    """Keys that are this one with an ending, the shortest first."""
    endings = (f"{step}_", f"{step}s", f"{step}-")
    return sorted((key for key in map(str, inside) if step and key.startswith(endings)), key=len)


def like(path: str, tree: Mapping[str, Any]) -> list[str]:
    """Paths that end like this one, the likest first."""
    steps = path.split(".")
    ends: dict[str, str] = {}
    for each in paths(tree, asked=steps):
        end = ".".join(each.split(".")[-len(steps) :])
        ends.setdefault(end, each)
    return [ends[end] for end in get_close_matches(path, list(ends), n=MOST, cutoff=LIKE)]


def paths(node: Any, asked: Sequence[str], before: str = "") -> Iterator[str]:
    """Yield every path below a node; in a list only that of the given item, else of the first."""
    inside = within(node)
    if not isinstance(node, Mapping):
        names = [step for step in inside if not step.isdecimal()] or list(inside)
        inside = {step: inside[step] for step in names if step in asked} or {
            step: inside[step] for step in names[:1]
        }
    for step, value in inside.items():
        yield f"{before}{step}"
        yield from paths(value, asked, f"{before}{step}.")
