"""Conversion of JSON objects to frozen dataclasses. The annotations of a class define the
conversion.

The name of a field is its key in JSON. If the key is a keyword of Python, the key is in the field's
metadata ``key``. A value of a type that JSON does not have, such as an address, is `Annotated` with
the function that converts its text. Unknown keys are ignored, so that a new key of the engine
causes no error. Fields without a default are required.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields, is_dataclass
from functools import cache
from operator import attrgetter
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from lasthop.scenario.rows import Common, LongList, Rows

__all__ = ["Table", "named", "read_as"]

T = TypeVar("T")
Reader = Callable[[Any], Any]


def _text(value: Any) -> str:
    """Return a value as text; null becomes an empty text."""
    return "" if value is None else str(value)


PLAIN: Mapping[Any, Reader] = {float: float, str: _text}
"""Conversion functions by type. Values of all other types are not converted."""


AS_THEY_ARE = (float, str, bool, int)
"""Types of fields whose JSON values need no conversion if they already have exactly this type."""


def named(key: str, default: Any = MISSING) -> Any:
    """Declare a field whose JSON key differs from its name, such as ``class``."""
    return field(default=default, metadata={"key": key})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(named,))
class Table:
    """Base of the dataclasses that describe a JSON object. These dataclasses are frozen and accept
    only keyword arguments.

    The base class defines the methods of all subclasses. The decorator `dataclass` would compile
    six functions for each class, which takes longer than reading a small scenario.
    """

    _names: ClassVar[tuple[str, ...]] = ()
    _name_set: ClassVar[frozenset[str]] = frozenset()
    _defaults: ClassVar[Mapping[str, Any]] = {}
    _values: ClassVar[Callable[[Any], Any]] = id

    def __init_subclass__(cls) -> None:
        dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)
        known = fields(cls)  # type: ignore[arg-type]
        cls._names = tuple(each.name for each in known)
        cls._name_set = frozenset(cls._names)
        cls._defaults = {each.name: each.default for each in known if each.default is not MISSING}
        cls._values = attrgetter(*cls._names)

    def __init__(self, /, **values: Any) -> None:
        if values.keys() != self._name_set:
            values = {**self._defaults, **values}
            if values.keys() != self._name_set:
                wrong = ", ".join(sorted(values.keys() ^ self._name_set))
                raise TypeError(f"{type(self).__name__}: missing or unknown fields: {wrong}")
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        values = type(self)._values
        return bool(values(self) == values(other))

    def __hash__(self) -> int:
        return hash(type(self)._values(self))

    def __repr__(self) -> str:
        state = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names)
        return f"{type(self).__qualname__}({state})"


def read_as(kind: type[T], tree: Mapping[str, Any]) -> T:
    """Convert a JSON object to an object of the dataclass `kind`, or of a subclass of `kind`.

    Parameters
    ----------
    kind : type
        Dataclass. If the dataclass has a static method ``kind_of``, this method selects the
        subclass for the object.
    tree : Mapping
        JSON object.

    Raises
    ------
    KeyError
        If a required key is missing.
    """
    choose: Callable[[Mapping[str, Any]], type[T]] | None = getattr(kind, "kind_of", None)
    chosen: type[Any] = kind if choose is None else choose(tree)
    values = {}
    for place in _places(chosen):  # type: ignore[arg-type]
        if place.key in tree:
            value = tree[place.key]
            values[place.name] = value if type(value) is place.plain else place.read(value)
        elif place.required:
            raise KeyError(f"{chosen.__name__} has no {place.key}")
    result: T = chosen(**values)
    return result


class _Place(NamedTuple):
    """JSON key of a field, and the function that converts its value."""

    name: str
    key: str
    read: Reader
    plain: type | None
    """Type whose values are not converted; None if all values are converted."""
    required: bool


@cache
def _places(kind: type) -> tuple[_Place, ...]:
    hints = get_type_hints(kind, include_extras=True)

    def place(each: "Field[Any]") -> _Place:
        required = each.default is MISSING and each.default_factory is MISSING
        key = each.metadata.get("key", each.name)
        hint = hints[each.name]
        return _Place(
            each.name, key, _reader(hint), hint if hint in AS_THEY_ARE else None, required
        )

    return tuple(place(each) for each in fields(kind))


def _reader(hint: Any) -> Reader:
    """Return the function that converts a JSON value to this type."""
    if is_dataclass(hint):
        return lambda value: _table(hint, value)  # type: ignore[arg-type]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        made: Reader = inner[1]
        return made
    if origin in (Union, UnionType):
        kinds = [each for each in inner if each is not NoneType]
        known = _reader(kinds[0]) if len(kinds) == 1 else _as_it_is
        return lambda value: None if value is None else known(value)
    if origin is tuple:
        element = _reader(inner[0])
        return lambda value: tuple(map(element, value))
    if origin is Sequence:
        row = _reader(inner[0])
        return lambda value: _rows(row, value)
    return PLAIN.get(hint, _as_it_is)


def _table(kind: type[T], value: Any) -> T:
    """Convert a JSON object to a dataclass. If several items of a long list share a JSON object,
    they also share the dataclass object.
    """
    return value.read_as(kind, read_as) if isinstance(value, Common) else read_as(kind, value)


def _rows(read: Reader, value: Any) -> Sequence[Any]:
    """Convert a list. A long list is converted in pieces, on first access."""
    return Rows(value, read) if isinstance(value, LongList) else tuple(map(read, value))


def _as_it_is(value: Any) -> Any:
    return value.tree if isinstance(value, Common) else value
