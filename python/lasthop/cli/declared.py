"""Arguments and options of commands, declared without an import of typer.

The import of typer takes a quarter of the instructions of a short simulation. Typer is needed for
help, for errors, and for the command lines that `lasthop.cli.direct` does not read.
"""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, get_args, get_origin

__all__ = ["Declared", "argument", "bad_parameter", "for_typer", "option"]


class Declared(NamedTuple):
    """Declaration of an argument or option: the arguments of a class of typer."""

    kind: str
    """Name of the class of typer: ``Argument`` or ``Option``."""
    default: Any
    names: tuple[str, ...]
    more: dict[str, Any]

    def of_typer(self) -> Any:
        """Return typer's declaration."""
        import typer

        return getattr(typer, self.kind)(self.default, *self.names, **self.more)


def argument(**more: Any) -> Declared:
    """Return the declaration of a required argument."""
    return Declared("Argument", ..., (), more)


def option(default: Any, *names: str, **more: Any) -> Any:
    """Return the declaration of an option. The type is that of the default of a parameter."""
    return Declared("Option", default, names, more)


def bad_parameter(message: str) -> Exception:
    """Return typer's error for a wrong value of an argument or option."""
    import typer

    return typer.BadParameter(message)


def for_typer(function: Callable[..., Any]) -> Callable[..., Any]:
    """Set the signature of a command's function to the signature that typer reads."""
    from inspect import signature

    own = signature(function)
    parameters = [
        each.replace(default=_converted(each.default), annotation=_annotation(each.annotation))
        for each in own.parameters.values()
    ]
    function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return function


def _converted(value: Any) -> Any:
    return value.of_typer() if isinstance(value, Declared) else value


def _annotation(hint: Any) -> Any:
    """Return an annotation whose declaration is that of typer."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *declarations = get_args(hint)
    return Annotated[(kind, *map(_converted, declarations))]
