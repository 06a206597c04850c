"""Conversion of arguments and options to values, without importing pydantic.

Typer checks each value by an adapter of pydantic. The import of pydantic takes more instructions
than the import of typer plus the check of a small scenario. Text and values that lasthop parses
need no adapter.
"""

from collections.abc import Callable, Iterable
from typing import Any, get_args, get_origin

__all__ = ["WithoutAdapters"]

Read = Callable[[Any], Any]


class WithoutAdapters:
    """Mixin for commands and groups: parameters are converted without pydantic where possible."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all parameters of the command, including ``--help``."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        skip_adapters(parameters)
        return parameters


def skip_adapters(parameters: Iterable[Any]) -> None:
    """Replace typer's pydantic adapter of each parameter that can be converted without it."""
    for parameter in parameters:
        # In some versions of typer, parameters have no descriptor and keep their adapter.
        descriptor = getattr(parameter, "type_descriptor", None)
        if descriptor is None or "get_runtime_param" in vars(parameter):
            continue
        read = reader(descriptor.annotation, descriptor.parameter_info.parser)
        if read is not None:
            parameter.get_runtime_param = Reader(parameter, read).get_reader


class Reader:
    """Replacement of typer's adapter for one parameter.

    Parameters
    ----------
    parameter : TyperArgument or TyperOption
        Argument or option whose adapter is replaced.
    read : callable
        Function that converts a text of the command line to the value.
    """

    def __init__(self, parameter: Any, read: Read) -> None:
        self._adapter = parameter.get_runtime_param
        self._read = read

    def get_reader(self) -> "Reader":
        """Return the object with which typer converts values."""
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the converted value, or raise the same error as typer's adapter."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        try:
            return self._read(value)
        except (ValueError, AssertionError):  # The adapter raises the error with a message.
            return self._adapter().coerce(value, param=param, ctx=ctx)


def reader(annotation: Any, parser: Read | None) -> Read | None:
    """Return a function that converts text to this type; None if the type needs typer's adapter."""
    inner = get_args(annotation)
    if get_origin(annotation) is list:
        element = reader(inner[0], parser)
        return None if element is None else lambda values: [element(value) for value in values]
    if get_origin(annotation) is tuple:
        if parser is None and all(each is str for each in inner):
            return lambda values: tuple(map(str, values))
        return None
    if parser is not None:
        return parser
    if annotation is bool:
        return flag
    return str if annotation is str else None


def flag(value: Any) -> bool:
    """Return a boolean that typer has already converted; refuse all other values."""
    if not isinstance(value, bool):
        raise ValueError(value)
    return value
