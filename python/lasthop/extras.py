"""Optional packages, and the extra of lasthop that installs each package."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

from lasthop.errors import UserError

__all__ = [
    "EXTRAS",
    "NEEDED",
    "PACKAGES",
    "install",
    "is_there",
    "lacking",
    "missing",
    "named_by",
    "naming_missing",
    "need",
    "need_packages",
]

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "science": ("matplotlib", "numpy"),
    "models": ("numpy", "scipy"),
    "tables": ("pandas", "pyarrow"),
    "gateway": ("prometheus_client",),
    "relay": ("prometheus_client", "python_socks"),
    "import": ("dpkt",),
    "cluster": ("distributed",),
    "slurm": ("submitit",),
    "workbench": ("starlette", "uvicorn"),
    "learn": ("gymnasium", "numpy"),
}
"""Optional packages by the extra of lasthop that installs them. Names are those of imports."""

EXTRAS = {
    package: extra for extra, packages in reversed(list(PACKAGES.items())) for package in packages
}
"""Name of the first extra of lasthop that installs an optional package."""

NEEDED: Mapping[str, tuple[str, ...]] = {
    "a data frame": ("pandas",),
    "a picture": ("matplotlib",),
    "a prediction": ("numpy",),
    "import pcap": ("dpkt",),
    "lasthop compare": ("numpy", "matplotlib"),
    "lasthop explain FILE": ("scipy",),
    "lasthop plot": ("matplotlib",),
    "lasthop reproduce": ("scipy", "matplotlib"),
    "lasthop stability": ("scipy",),
    "lasthop tune": ("numpy",),
    "lasthop tune --out": ("numpy", "matplotlib"),
    "lasthop what-if": ("scipy",),
    "lasthop.learning": ("gymnasium", "numpy"),
    "Parquet files": ("pandas", "pyarrow"),
    "metrics": ("prometheus_client",),
    "simulate_many": ("numpy",),
    "some models": ("scipy",),
    "workbench": ("starlette", "uvicorn"),
}
"""Optional packages that each action needs. The key is the subject of the error message.

The extra of scipy also installs numpy, which scipy needs. Some models need scipy, which
`naming_missing` reports.
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
    return UserError(message, install(*extras_with(package, *more)))


def extras_with(*packages: str) -> list[str]:
    """Return the first extra that installs all these packages, or else the first extra of each."""
    for extra, installed in PACKAGES.items():
        if {*packages} <= {*installed}:
            return [extra]
    return list(dict.fromkeys(EXTRAS[package] for package in packages))


def install(*extras: str) -> str:
    """Return the command that installs extras of lasthop."""
    from lasthop.shell import command_text

    return command_text(["pip", "install", f"lasthop[{','.join(extras)}]"])


def need(*actions: str) -> None:
    """Refuse actions before they start if a package that they need is not installed.

    Parameters
    ----------
    *actions : str
        Keys of `NEEDED`.

    Raises
    ------
    UserError
        If a package is missing; the message names the first missing package, and the hint has the
        extras of all missing packages of the action.
    """
    for action in actions:
        if (error := lacking(action)) is not None:
            raise error


def need_packages(what: str, *packages: str) -> None:
    """Refuse an action that is not in `NEEDED`, as `need` does. `what` is the subject of the error
    message.
    """
    absent = [package for package in packages if not is_there(package)]
    if absent:
        raise missing(*absent, what=what)


def lacking(
    action: str, present: Callable[[str], bool] | None = None, what: str | None = None
) -> UserError | None:
    """Return the error for the missing packages of an action; None if no package is missing.

    Parameters
    ----------
    action : str
        Key of `NEEDED`.
    present : callable, optional
        Function that returns whether a package is installed; by default `is_there`.
    what : str, optional
        Subject of the message; by default the action.
    """
    absent = [package for package in NEEDED[action] if not (present or is_there)(package)]
    return missing(*absent, what=what or action) if absent else None


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
