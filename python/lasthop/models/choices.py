"""Options of a model whose values are words."""

from dataclasses import asdict, dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Choices:
    """Base of a model's options: a `Literal` may be nothing but what its type says."""

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self)).items():
            kinds = (hint,) if get_origin(hint) is Literal else get_args(hint)
            words = [word for kind in kinds for word in get_args(kind)]
            allowed = [*words, None] if NoneType in kinds else words
            value = getattr(self, name)
            if words and value not in allowed:
                raise ValueError(f"{name} = {value!r} is none of {', '.join(map(str, allowed))}")

    def to_dict(self) -> dict[str, Any]:
        """By name, as results state them."""
        return asdict(self)
