"""Packages that not every use needs, and which extra of lasthop installs them."""

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
"""The extra that has a package."""


def missing(package: str, what: str = "") -> UserError:
    """Return the error for a package that is not installed.

    Parameters
    ----------
    package : str
        One of `EXTRAS`, as it is imported.
    what : str
        Command that needs it, such as ``sweep``; empty if the message need not name it.
    """
    name = package.replace("_", "-")
    message = f"{what} needs {name}, which is not installed" if what else f"{name} is not installed"
    return UserError(message, f"pip install 'lasthop[{EXTRAS[package]}]'")


def need(what: str, *packages: str) -> None:
    """Refuse what cannot be done without packages that are not installed, before any of it is done.

    Raises
    ------
    UserError
        With the first that is missing, and its extra.
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
    """Return the package of an extra that an import has not found; None for other packages."""
    package = (error.name or "").split(".")[0]
    return package if package in EXTRAS and not is_there(package) else None
