"""Parser for the usual command lines of `lasthop simulate`, which does not import typer.

Typer reads all other command lines: those with an error, with ``--help``, ``--quiet`` or
``--option=value``, and those with a value that begins with a hyphen.
"""

from collections.abc import Callable, Sequence
from typing import Any, get_args, get_origin

from lasthop.cli.declared import Parameter
from lasthop.progress.interruption import INTERRUPTED, raise_interrupt

__all__ = ["run", "values_of"]


def run(args: Sequence[str]) -> Any:
    """Run the command of a command line, and return its exit code."""
    if args[:1] == ["simulate"]:
        from lasthop.cli.simulate import simulate

        values = values_of(simulate, args[1:])
        if values is not None:
            raise_interrupt()
            try:
                return simulate(**values)
            except KeyboardInterrupt:
                return INTERRUPTED
    from lasthop.cli.app import app

    return app(args=list(args), prog_name="lasthop", standalone_mode=False)


def values_of(function: Callable[..., Any], args: Sequence[str]) -> dict[str, Any] | None:
    """Return the values of the parameters of a command's function, as typer does; None if typer
    must read the arguments.
    """
    parameters = declarations(function)
    options = {
        name: key for key, parameter in parameters.items() for name in option_names(key, parameter)
    }
    texts: dict[str, list[str]] = {key: [] for key in parameters}
    remaining = iter(args)
    for arg in remaining:
        if not arg.startswith("-"):
            argument = next(key for key, each in parameters.items() if each.kind == "Argument")
            texts[argument].append(arg)
        elif arg not in options:
            return None
        elif function.__annotations__[options[arg]] is bool:
            texts[options[arg]].append(arg)
        else:
            value = next(remaining, "-")
            if value.startswith("-"):
                return None
            texts[options[arg]].append(value)
    try:
        return {
            key: value_of(function.__annotations__[key], parameter, texts[key])
            for key, parameter in parameters.items()
        }
    except Exception:  # Typer reads the same text again, and reports the error.
        return None


def declarations(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the declarations of the parameters of a command's function."""
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    required = names[: len(names) - len(defaults)]
    arguments = {name: get_args(function.__annotations__[name])[1] for name in required}
    return arguments | dict(zip(names[len(required) :], defaults, strict=True))


def option_names(key: str, parameter: Parameter) -> Sequence[str]:
    """Return the names of an option on the command line; none for an argument."""
    if parameter.kind == "Argument":
        return ()
    return parameter.names or (f"--{key.replace('_', '-')}",)


def value_of(hint: Any, parameter: Parameter, texts: Sequence[str]) -> Any:
    """Return the value of a parameter.

    Raises
    ------
    ValueError
        If an argument is missing or was given twice.
    """
    if parameter.kind == "Argument":
        [text] = texts
        return text
    if hint is bool:
        return bool(texts) or parameter.default
    several = any(get_origin(each) is list for each in get_args(hint))
    if not texts:
        return () if several else parameter.default
    parse = parameter.keywords.get("parser", str)
    return [parse(text) for text in texts] if several else parse(texts[-1])
