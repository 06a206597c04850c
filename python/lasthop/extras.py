"""Optional packages, and the extra of lasthop that installs each package."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

from lasthop.errors import UserError

__all__ = [
    "EXTRA_OF_PACKAGE",
    "PACKAGES_OF_ACTION",
    "PACKAGES_OF_EXTRA",
    "error_for_action",
    "first_install",
    "install_command",
    "is_installed",
    "missing",
    "missing_package_of",
    "name_missing_package",
    "need",
    "need_packages",
]

PACKAGES_OF_EXTRA: Mapping[str, tuple[str, ...]] = {
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

EXTRA_OF_PACKAGE = {
    package: extra
    for extra, packages in reversed(list(PACKAGES_OF_EXTRA.items()))
    for package in packages
}
"""Name of the first extra of lasthop that installs an optional package."""

PACKAGES_OF_ACTION: Mapping[str, tuple[str, ...]] = {
    "data frames": ("pandas",),
    "import pcap": ("dpkt",),
    "lasthop compare": ("numpy", "matplotlib"),
    "lasthop explain FILE": ("scipy",),
    "lasthop plot": ("matplotlib",),
    "lasthop reproduce": ("scipy", "matplotlib"),
    "lasthop stability": ("scipy",),
    "lasthop stability models": ("numpy",),
    "lasthop tune": ("numpy",),
    "lasthop tune --out": ("numpy", "matplotlib"),
    "lasthop what-if": ("scipy",),
    "lasthop workbench": ("starlette", "uvicorn"),
    "lasthop.learning": ("gymnasium", "numpy"),
    "Parquet files": ("pandas", "pyarrow"),
    "lasthop.simulate_many": ("numpy",),
    "metrics": ("prometheus_client",),
    "metrics of relays": ("prometheus_client",),
    "pictures": ("matplotlib",),
    "predictions": ("numpy",),
    "some models": ("scipy",),
}
"""Optional packages that each action needs. The error message begins with the key. scipy stands
for numpy too, because its extra installs both.
"""

EXTRA_OF_ACTION: Mapping[str, str] = {
    "lasthop stability models": "models",
    "metrics of relays": "relay",
}
"""Extra to install for an action, if it is not the first extra with the missing packages."""


def missing(package: str, *more: str, what: str = "", extra: str | None = None) -> UserError:
    """Return the error for packages that are not installed. The message names only the first.

    Parameters
    ----------
    package : str
        Name under which the package is imported, a key of `EXTRA_OF_PACKAGE`.
    more : str
        Further packages, whose extras the hint also names.
    what : str
        Command or feature that needs the package, such as ``lasthop sweep``; empty if the message
        does not name it.
    extra : str, optional
        Extra that the hint names; by default the extras with all these packages.
    """
    name = package.replace("_", "-")
    message = f"{what}: package {name} is not installed" if what else f"{name} is not installed"
    extras = extras_with(package, *more) if extra is None else [extra]
    return UserError(message, f"run `{install_command(*extras)}`")


def extras_with(*packages: str) -> list[str]:
    """Return the first extra that installs all these packages, or else the first extra of each."""
    for extra, installed in PACKAGES_OF_EXTRA.items():
        if {*packages} <= {*installed}:
            return [extra]
    return list(dict.fromkeys(EXTRA_OF_PACKAGE[package] for package in packages))


def install_command(*extras: str) -> str:
    """Return the command that installs extras of lasthop. All shells accept its double quotes."""
    return f'pip install "lasthop[{",".join(extras)}]"'


def need(*actions: str) -> None:
    """Refuse actions before they start if a package that they need is not installed.

    Parameters
    ----------
    *actions : str
        Keys of `PACKAGES_OF_ACTION`.

    Raises
    ------
    UserError
        If a package is missing; the message names the first missing package, and the hint has the
        extras of all missing packages of the action.
    """
    for action in actions:
        if (error := error_for_action(action)) is not None:
            raise error


def need_packages(what: str, *packages: str) -> None:
    """Refuse an action that is not in `PACKAGES_OF_ACTION` if a package is missing. The error
    message begins with `what`.
    """
    absent = [package for package in packages if not is_installed(package)]
    if absent:
        raise missing(*absent, what=what)


def error_for_action(
    action: str, present: Callable[[str], bool] | None = None, what: str | None = None
) -> UserError | None:
    """Return the error for the missing packages of an action; None if no package is missing.

    Parameters
    ----------
    action : str
        Key of `PACKAGES_OF_ACTION`.
    present : callable, optional
        Function that returns whether a package is installed; by default `is_installed`.
    what : str, optional
        Beginning of the message; by default the action.
    """
    present = is_installed if present is None else present
    absent = [package for package in PACKAGES_OF_ACTION[action] if not present(package)]
    if not absent:
        return None
    return missing(*absent, what=what or action, extra=EXTRA_OF_ACTION.get(action))


def first_install(action: str) -> str:
    """Return a remark after a proposed command: the command that installs the packages of the
    action; empty if no package is missing.
    """
    error = error_for_action(action)
    return "" if error is None else f" (first {error.hint})"


@contextmanager
def name_missing_package(what: str) -> Iterator[None]:
    """Replace the error of Python about a missing optional package by an error that names the
    action and the extra.
    """
    try:
        yield
    except ImportError as error:
        package = missing_package_of(error)
        if package is None:
            raise
        raise missing(package, what=what) from error


def is_installed(package: str) -> bool:
    """Return whether a package is installed."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def missing_package_of(error: ImportError) -> str | None:
    """Return the optional package that an import did not find; None if it is not a key of
    `EXTRA_OF_PACKAGE`.
    """
    package = (error.name or "").split(".")[0]
    return package if package in EXTRA_OF_PACKAGE and not is_installed(package) else None
