"""Optional packages, and the extra of lasthop that installs each package."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec

from lasthop.errors import UserError

__all__ = ["EXTRAS", "NEEDED", "PACKAGES", "install", "lacking", "missing", "named_by", "need"]

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "science": ("matplotlib", "numpy", "pandas", "pyarrow", "scipy"),
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
    "a prediction": ("numpy", "scipy"),
    "import pcap": ("dpkt",),
    "lasthop compare": ("numpy", "scipy", "matplotlib"),
    "lasthop explain FILE": ("scipy",),
    "lasthop plot": ("matplotlib",),
    "lasthop reproduce": ("numpy", "scipy", "matplotlib"),
    "lasthop simulate --out": ("pandas", "pyarrow"),
    **dict.fromkeys(
        (f"lasthop stability {name}" for name in ("models", "equilibrium", "roots")), ("numpy",)
    ),
    **dict.fromkeys(
        (
            f"lasthop stability {name}"
            for name in ("hopf", "normal-form", "cycle", "integrate", "chart")
        ),
        ("numpy", "scipy"),
    ),
    "lasthop sweep": ("pyarrow",),
    "lasthop tune": ("numpy", "scipy"),
    "lasthop tune --out": ("matplotlib", "pyarrow"),
    "lasthop what-if": ("scipy",),
    "lasthop what-if --out": ("pandas", "pyarrow"),
    "lasthop.learning": ("gymnasium", "numpy"),
    "metrics": ("prometheus_client",),
    "simulate_many": ("numpy",),
    "workbench": ("starlette", "uvicorn"),
}
"""Optional packages that each action needs. The key is the subject of the error message."""


def missing(package: str, what: str = "") -> UserError:
    """Return the error for a package that is not installed.

    Parameters
    ----------
    package : str
        Name under which the package is imported, a key of `EXTRAS`.
    what : str
        Command that needs the package, such as ``sweep``; empty if the message does not name a
        command.
    """
    name = package.replace("_", "-")
    message = f"{what} needs {name}, which is not installed" if what else f"{name} is not installed"
    return UserError(message, install(EXTRAS[package]))


def install(extra: str) -> str:
    """Return the command that installs an extra of lasthop."""
    return f"pip install 'lasthop[{extra}]'"


def need(*actions: str) -> None:
    """Refuse actions before they start if a package that they need is not installed.

    Parameters
    ----------
    *actions : str
        Keys of `NEEDED`.

    Raises
    ------
    UserError
        If a package is missing; the message names the first missing package and its extra.
    """
    for action in actions:
        if (error := lacking(action)) is not None:
            raise error


def lacking(
    action: str, present: Callable[[str], bool] | None = None, what: str | None = None
) -> UserError | None:
    """Return the error for the first missing package of an action; None if no package is missing.

    Parameters
    ----------
    action : str
        Key of `NEEDED`.
    present : callable, optional
        Function that returns whether a package is installed; by default `is_there`.
    what : str, optional
        Subject of the message; by default the action.
    """
    for package in NEEDED[action]:
        if not (present or is_there)(package):
            return missing(package, what or action)
    return None


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
