"""Optional packages, the extra of lasthop that installs each package, and the packages that each
command needs.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

from lasthop.errors import UserError

__all__ = [
    "COMMANDS",
    "EXTRAS",
    "is_there",
    "missing",
    "named_by",
    "naming_missing",
    "need",
    "need_for",
]

EXTRAS = {
    "numpy": "science",
    "matplotlib": "science",
    "scipy": "models",
    "pandas": "tables",
    "pyarrow": "tables",
    "prometheus_client": "gateway",
    "python_socks": "relay",
    "dpkt": "import",
    "distributed": "cluster",
    "submitit": "slurm",
    "starlette": "workbench",
    "uvicorn": "workbench",
    "gymnasium": "learn",
}
"""Name of the extra of lasthop that installs an optional package."""

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "predict": ("numpy",),
    "compare": ("numpy", "matplotlib"),
    "tune": ("numpy",),
    "tune --out": ("numpy", "matplotlib"),
    "plot": ("matplotlib",),
    "explain FILE": ("scipy",),
    "what-if": ("scipy",),
    "stability": ("scipy",),
    "reproduce": ("scipy", "matplotlib"),
    "workbench": ("starlette", "uvicorn"),
}
"""Packages that a command needs, whatever its scenario.

The extra of scipy also installs numpy, which scipy needs. The option ``--plot`` needs matplotlib.
Some models need scipy, which `naming_missing` reports.
"""


def missing(package: str, *more: str, what: str = "") -> UserError:
    """Return the error for packages that are not installed. The message names only the first.

    Parameters
    ----------
    package : str
        Name under which the package is imported, a key of `EXTRAS`.
    more : str
        Further packages, whose extras the hint also names.
    what : str
        Command that needs the package, such as ``sweep``; empty if the message does not name a
        command.
    """
    name = package.replace("_", "-")
    message = f"{what} needs {name}, which is not installed" if what else f"{name} is not installed"
    extras = ",".join(dict.fromkeys(EXTRAS[each] for each in (package, *more)))
    return UserError(message, f"pip install 'lasthop[{extras}]'")


def need(what: str, *packages: str) -> None:
    """Refuse an action before it starts if a package that it needs is not installed.

    Raises
    ------
    UserError
        If a package is missing; the message names the first missing package, and the hint has the
        extras of all missing packages.
    """
    absent = [package for package in packages if not is_there(package)]
    if absent:
        raise missing(*absent, what=what)


def need_for(command: str) -> None:
    """Refuse a command, a key of `COMMANDS`, if a package that it needs is not installed."""
    need(f"lasthop {command}", *COMMANDS[command])


@contextmanager
def naming_missing(what: str) -> Iterator[None]:
    """Replace the error of Python about a missing optional package by an error that names the
    action and the extra.
    """
    try:
        yield
    except ImportError as error:
        package = named_by(error)
        if package is None:
            raise
        raise missing(package, what=what) from error


def is_there(package: str) -> bool:
    """Return whether a package is installed."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def named_by(error: ImportError) -> str | None:
    """Return the optional package that an import did not find; None if it is not a key of
    `EXTRAS`.
    """
    package = (error.name or "").split(".")[0]
    return package if package in EXTRAS and not is_there(package) else None
