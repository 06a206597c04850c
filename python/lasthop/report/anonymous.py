"""Replacement of the user's names of stations, flows and links by neutral names."""

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["Anonymiser"]

NAMED_LISTS = {"stations": "station", "flows": "flow", "links": "link", "classes": "class"}
"""Lists of the normalised scenario whose item names are replaced, each with the neutral word."""

NAMED_KEYS = {"group": "station", "class": "class"}
"""Keys of items with the neutral word for each key. The value of such a key is a name that the user
chose, and is replaced.
"""


NAME_KEYS = frozenset(
    [
        "name",
        "station",
        "group",
        "class",
        "from",
        "to",
        "node",
        "flow",
        "queue",
        "sender",
        "receiver",
        "conflicts",
        "disturbs",
        "forward",
        "back",
        "route",
        "links",
        "warnings",
    ]
)
"""Keys of results and scenarios whose values contain the user's names."""

STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')|#[^\n]*')
"""Pattern of a TOML string (group 1) or a TOML comment."""

PATH_WORD = re.compile(r"[^=\s]*\.(?:toml|json|html|png|pdf|svg|pcapng|csv)\b|[^=\s]*/[^=\s]*")
"""Pattern of a file name in a command line."""


class Anonymiser:
    """Table of the user's names and the neutral names that replace them.

    Names are station groups, stations, wired flows, wired links and nodes, and classes. A name is
    replaced where it is a whole word of a text, such as in ``laptop/up/1`` and ``laptop-2``.

    Parameters
    ----------
    tree : mapping
        The normalised scenario, from which the names are taken.
    """

    def __init__(self, tree: Mapping[str, Any]) -> None:
        self._names: dict[str, str] = {}
        self.scenario_names: set[str] = set()
        self._collect(tree)
        if isinstance(csma := tree.get("csma"), Mapping):
            self._collect(csma)
        longest_first = sorted(self._names, key=len, reverse=True)
        words = "|".join(re.escape(name) for name in longest_first)
        self._pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)") if words else None

    def text(self, text: str) -> str:
        """Return a text in which neutral names replace the user's names."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda result: self._names[result[0]], text)

    def tree(self, tree: Any) -> Any:
        """Return a tree of dictionaries and lists in which neutral names replace the user's names.

        Only values of `NAME_KEYS` are replaced, so that a station with the name ``up`` does not
        change directions.
        """
        return self._tree(tree, is_name=False)

    def toml(self, text: str) -> str:
        """Return the text of a scenario file with neutral names and without comments."""
        bare = STRING_OR_COMMENT.sub(lambda result: result[1] or "", text)
        lines = [line.rstrip() for line in self.text(bare).splitlines()]
        for name in self.scenario_names:
            lines = [line.replace(f'"{name}"', '"a network"') for line in lines]
        return "\n".join(line for line in lines if line) + "\n"

    def command(self, command: str) -> str:
        """Return a command line with neutral names; FILE replaces file names."""
        words = [PATH_WORD.sub("FILE", word) for word in command.split(" ")]
        return self.text(" ".join(words))

    def _name(self, name: str) -> str:
        """Return a name such as ``laptop/up/1`` with its first part replaced."""
        first, slash, rest = name.partition("/")
        return self.text(name) if " " in name else self.text(first) + slash + rest

    def _tree(self, tree: Any, *, is_name: bool) -> Any:
        if isinstance(tree, str):
            if tree in self.scenario_names:
                return "a network"
            return self._name(tree) if is_name else tree
        if isinstance(tree, Mapping):
            return {
                key: self._tree(value, is_name=is_name or key in NAME_KEYS)
                for key, value in tree.items()
            }
        if isinstance(tree, list | tuple):
            return [self._tree(value, is_name=is_name) for value in tree]
        return tree

    def _collect(self, tree: Mapping[str, Any]) -> None:
        if name := str(tree.get("name") or ""):
            self.scenario_names.add(name)
        for key, word in NAMED_LISTS.items():
            for item in tree.get(key, ()):
                for inner, inner_word in NAMED_KEYS.items():
                    self._add(item.get(inner), inner_word)
                # The flow of a station is named after the station, whose name is replaced anyway.
                if key != "flows" or "station" not in item:
                    self._add(item.get("name"), word)
                for node in ("from", "to"):
                    self._add(item.get(node), "node")

    def _add(self, name: object, word: str) -> None:
        if not isinstance(name, str) or not name or name in self._names:
            return
        group, _, index = name.rpartition("-")
        if index.isdecimal() and group in self._names:
            # A station of a group, such as ``laptop-2``: the name of the group is replaced.
            return
        number = sum(known.startswith(f"{word}-") for known in self._names.values()) + 1
        self._names[name] = f"{word}-{number}"
