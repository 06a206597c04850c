"""Options of a model. An option is a keyword, or a number that replaces a value of the scenario."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from types import NoneType
from typing import Any, Literal, Self, SupportsFloat, get_args, get_origin, get_type_hints

from lasthop.errors import UserError


@dataclass(frozen=True)
class Choices:
    """Base class of a model's options; an option of type `Literal` accepts only the listed
    values.
    """

    def __post_init__(self) -> None:
        for name, allowed in words_of(type(self)):
            value = getattr(self, name)
            if allowed and value not in allowed:
                words = ", ".join(str(word) for word in allowed if word is not None)
                raise ValueError(f"{name} = {value!r} is none of {words}")

    @classmethod
    def of(cls, given: Mapping[str, object], model: str) -> Self:
        """Return the options of a model; a number may be given as text.

        Raises
        ------
        UserError
            If an option or its value is unknown.
        """
        words = dict(words_of(cls))
        values = dict[str, object]()
        for name, value in given.items():
            if name not in words:
                known = ", ".join(each.name for each in fields(cls))
                raise UserError(
                    f'option "{name:.60}": unknown; model {model} has {known}',
                )
            if not words[name]:
                values[name] = _number(name, value)
            elif isinstance(value, str | NoneType):
                values[name] = value
            else:
                raise UserError(f'option {name}: "{value}" is not a text')
        try:
            return cls(**values)
        except ValueError as error:
            raise UserError(f"option {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the options by name, in the form in which results contain options."""
        return asdict(self)


def words_of(cls: type) -> Iterator[tuple[str, list[Any]]]:
    """Yield each option with its accepted keywords; the list of keywords is empty for a number."""
    for name, hint in get_type_hints(cls).items():
        kinds = (hint,) if get_origin(hint) is Literal else get_args(hint)
        words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
        yield name, [*words, None] if words and NoneType in kinds else words


def _number(name: str, value: object) -> float | None:
    if value is None:
        return None
    is_text = isinstance(value, str) and value.isascii() and "_" not in value
    if is_text or (isinstance(value, SupportsFloat) and not isinstance(value, bool)):
        with suppress(ValueError, OverflowError, TypeError):
            return float(value)  # type: ignore[arg-type]
    raise UserError(f'option {name}: "{value}" is not a number')
