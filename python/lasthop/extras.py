"""Optional packages, and the extra of lasthop that installs each package."""

from importlib.util import find_spec

from lasthop.errors import UserError

__all__ = ["EXTRAS", "missing", "named_by", "need"]

EXTRAS = {
    "numpy": "science",
    "scipy": "science",
    "pandas": "science",
    "pyarrow": "science",
    "matplotlib": "science",
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
    return UserError(message, f"pip install 'lasthop[{EXTRAS[package]}]'")


def need(what: str, *packages: str) -> None:
    """Refuse an action before it starts if a package that it needs is not installed.

    Raises
    ------
    UserError
        If a package is missing; the message names the first missing package and its extra.
    """
    for package in packages:
        if not is_there(package):
            raise missing(package, what)


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
