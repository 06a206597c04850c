"""Access to a value in a tree by its key path, with suggestions if the path does not exist."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from lasthop.errors import listed

__all__ = ["NoSuchKey", "value_at"]

LIKE = 0.65
"""Smallest similarity between a path and the end of a suggested path, as measured by `difflib`.
[-]
"""

MOST = 3
"""Maximum number of suggested paths."""


class NoSuchKey(KeyError):
    """Error for a path that does not exist. The message, which is created on access, suggests
    similar paths.
    """

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
"""Suffixes of normalised keys that the keys of a file do not have: units, and ``packets``."""


def value_at(tree: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path, such as ``cell.ap.cwmin``. A path consists of keys, and of names
    or indices of list items.

    A key may be written as in the file, without the unit at the end of the normalised key:
    ``duration`` for ``duration_s``. The value is in the unit of the normalised key.

    Raises
    ------
    NoSuchKey
        If the path does not exist.
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
    """Return the values inside a node by key. A list item has its name and its index as keys."""
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
    """Return the message that a path does not exist, with suggested paths."""
    known = (corrected(path, tree) or like(path, tree))[:MOST] or list(tree)
    return f"there is no `{path}`; there is {listed([f'`{each}`' for each in known])}"


def corrected(path: str, tree: Mapping[str, Any]) -> list[str]:
    """Return the normalised paths that a path in the notation of the file may mean. A normalised
    path has units, plural names of lists, and numbers of stations.

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
    """Return the keys that consist of the given key and a suffix, the shortest first."""
    endings = (f"{step}_", f"{step}s", f"{step}-")
    return sorted((key for key in map(str, inside) if step and key.startswith(endings)), key=len)


def like(path: str, tree: Mapping[str, Any]) -> list[str]:
    """Return existing paths whose end is similar to the path, the most similar first."""
    steps = path.split(".")
    ends: dict[str, str] = {}
    for each in paths(tree, asked=steps):
        end = ".".join(each.split(".")[-len(steps) :])
        ends.setdefault(end, each)
    return [ends[end] for end in get_close_matches(path, list(ends), n=MOST, cutoff=LIKE)]


def paths(node: Any, asked: Sequence[str], before: str = "") -> Iterator[str]:
    """Yield all paths inside a node. In a list, only the items in `asked` are visited, or the first
    item if none is in `asked`.
    """
    inside = within(node)
    if not isinstance(node, Mapping):
        names = [step for step in inside if not step.isdecimal()] or list(inside)
        inside = {step: inside[step] for step in names if step in asked} or {
            step: inside[step] for step in names[:1]
        }
    for step, value in inside.items():
        yield f"{before}{step}"
        yield from paths(value, asked, f"{before}{step}.")
