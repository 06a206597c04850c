"""Long lists of a scenario, which are read in pieces when one of their items is accessed.

A network of 100,000 flows has half a million items. Their JSON text and tree need five times as
much memory as the engine's own data. A check needs only the number of items.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar, overload

__all__ = ["PIECE", "Common", "Listed", "LongList", "Rows", "View", "passing"]

T = TypeVar("T")
Row = Mapping[str, Any]

PIECE = 256
"""Number of rows that are read from the engine at a time. The tree of a row needs several times as
much memory as the converted row.
"""


class Common(Generic[T]):
    """JSON object that several rows share; it is converted only once."""

    __slots__ = ("_read", "tree")

    def __init__(self, tree: Row) -> None:
        self.tree = tree
        self._read: dict[type, Any] = {}

    def read_as(self, kind: type[T], read: Callable[[type[T], Row], T]) -> T:
        """Return the converted object, which is the same Python object for all rows."""
        if kind not in self._read:
            self._read[kind] = read(kind, self.tree)
        result: T = self._read[kind]
        return result


@dataclass(frozen=True)
class LongList:
    """Long list that the engine stores. Ranges of its rows can be read."""

    count: int
    fetch: Callable[[int, int], str]
    """Function that returns the rows from one index (inclusive) to another (exclusive), as JSON.
    The JSON object contains ``rows`` and ``shared``. For some keys of a row, ``shared`` has a list
    of objects, and the value in the row is an index of this list.
    """

    def stretch(self, first: int, last: int) -> list[dict[str, Any]]:
        """Return the rows from `first` to before `last`; objects that rows share are `Common`."""
        tree = json.loads(self.fetch(first, last))
        rows: list[dict[str, Any]] = tree["rows"]
        for key, tables in tree["shared"].items():
            common: list[Common[Any]] = [Common(table) for table in tables]
            for row in rows:
                index = row.get(key)
                if index is not None:
                    row[key] = common[index]
        return rows

    def trees(self) -> Iterator[dict[str, Any]]:
        """Yield all rows as dictionaries; successive rows may share inner dictionaries."""
        for first in range(0, self.count, PIECE):
            for row in self.stretch(first, min(first + PIECE, self.count)):
                yield {key: _plain(value) for key, value in row.items()}


def _plain(value: Any) -> Any:
    return value.tree if isinstance(value, Common) else value


class View(Mapping[str, Any]):
    """Read-only dictionary whose long lists are read on first access."""

    __slots__ = ("_tree",)

    def __init__(self, tree: Row) -> None:
        self._tree = {
            key: value if isinstance(value, LongList) else _frozen(value)
            for key, value in tree.items()
        }

    def __getitem__(self, key: str) -> Any:
        results = self._tree[key]
        if isinstance(results, LongList):
            rows = Rows(results, _frozen)
            results = self._tree[key] = tuple(rows)
        return results

    def __iter__(self) -> Iterator[str]:
        return iter(self._tree)

    def __len__(self) -> int:
        return len(self._tree)


def _frozen(tree: Any) -> Any:
    if isinstance(tree, dict):
        return MappingProxyType({key: _frozen(value) for key, value in tree.items()})
    if isinstance(tree, list):
        return tuple(_frozen(value) for value in tree)
    if isinstance(tree, Common):
        return tree.read_as(MappingProxyType, lambda _, inside: _frozen(inside))
    return tree


class Listed(list[Any]):
    """Long list that `json` writes row by row, without storing all rows."""

    def __init__(self, known: LongList) -> None:
        super().__init__()
        self._known = known

    def __len__(self) -> int:
        return self._known.count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self._known.trees()


class Rows(Sequence[T]):
    """Sequence of a long list's rows, each converted by `read`.

    On access to a row, its piece of `PIECE` rows is read and stored. The sequence is equal to a
    tuple of the same values.
    """

    __slots__ = ("_list", "_pieces", "_read")

    def __init__(self, known: LongList, read: Callable[[Row], T]) -> None:
        self._list = known
        self._read = read
        self._pieces: dict[int, tuple[T, ...]] = {}

    def _piece(self, number: int) -> tuple[T, ...]:
        results = self._pieces.get(number)
        if results is None:
            results = self._pieces[number] = tuple(self._converted(number))
        return results

    def _converted(self, number: int) -> Iterator[T]:
        first = number * PIECE
        rows = self._list.stretch(first, min(first + PIECE, len(self)))
        return map(self._read, rows)

    def __len__(self) -> int:
        return self._list.count

    def __iter__(self) -> Iterator[T]:
        for first in range(0, len(self), PIECE):
            yield from self._piece(first // PIECE)

    def passing(self) -> Iterator[T]:
        """Yield all rows. Pieces that are not stored yet are not stored, unless there is only one
        piece.
        """
        for number in range(-(-len(self) // PIECE)):
            if number in self._pieces or len(self) <= PIECE:
                yield from self._piece(number)
            else:
                yield from self._converted(number)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        place = range(len(self))[index]
        return self._piece(place // PIECE)[place % PIECE]

    def __reduce__(self) -> tuple[type[tuple[T, ...]], tuple[tuple[T, ...]]]:
        return tuple, (tuple(self),)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, (Rows, tuple)) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def passing(rows: Sequence[T]) -> Iterator[T]:
    """Yield the rows of a sequence that is read only once, so that a long list is not stored."""
    return rows.passing() if isinstance(rows, Rows) else iter(rows)
