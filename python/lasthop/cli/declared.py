"""Arguments and options of commands, declared without an import of typer.

The import of typer takes a quarter of the instructions of a short simulation. Typer is needed for
help, for errors, and for the command lines that `lasthop.cli.fast_arguments` does not read.
"""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, get_args, get_origin

__all__ = ["Parameter", "argument", "bad_parameter", "for_typer", "option"]


class Parameter(NamedTuple):
    """Declaration of an argument or option: the arguments of typer's class of the same name."""

    kind: str
    """Name of the class of typer: ``Argument`` or ``Option``."""
    default: Any
    """Default value; ``...`` for a required argument."""
    names: tuple[str, ...]
    """Names on the command line; empty for the name of the function's parameter."""
    keywords: dict[str, Any]
    """Keyword arguments of typer's class."""

    def to_typer(self) -> Any:
        """Return typer's declaration."""
        import typer

        return getattr(typer, self.kind)(self.default, *self.names, **self.keywords)


def argument(**keywords: Any) -> Parameter:
    """Return the declaration of a required argument."""
    return Parameter("Argument", ..., (), keywords)


def option(default: Any, *names: str, **keywords: Any) -> Any:
    """Return the declaration of an option, for use as the default of a parameter."""
    return Parameter("Option", default, names, keywords)


def bad_parameter(message: str) -> Exception:
    """Return typer's error for a wrong value of an argument or option."""
    import typer

    return typer.BadParameter(message)


def for_typer(function: Callable[..., Any]) -> Callable[..., Any]:
    """Replace the signature of a command's function by one with typer's declarations, and return
    the function.
    """
    from inspect import signature

    own = signature(function)
    parameters = [
        each.replace(default=_converted(each.default), annotation=_annotation(each.annotation))
        for each in own.parameters.values()
    ]
    function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return function


def _converted(value: Any) -> Any:
    return value.to_typer() if isinstance(value, Parameter) else value


def _annotation(hint: Any) -> Any:
    """Return an annotation whose declaration is that of typer."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *declarations = get_args(hint)
    return Annotated[(kind, *map(_converted, declarations))]
