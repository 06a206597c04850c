"""Settings of the kernel's network that each namespace has of its own (sysctl)."""

from pathlib import Path

from lasthop.errors import UserError

ROOT = Path("/proc/sys")
ALLOWED = "net."
"""Others are the whole machine's."""


def write(name: str, value: str) -> None:
    """Give a setting of the calling thread's namespace a value.

    Parameters
    ----------
    name : str
        Such as ``net.ipv4.tcp_sack``.
    value : str

    Raises
    ------
    UserError
        If the kernel has no such setting there, or not with this value.
    """
    said = f"sysctl {name}={value}"
    words = name.split(".")
    if not name.startswith(ALLOWED) or not all(word.replace("_", "a").isalnum() for word in words):
        raise UserError(f"{said}: no setting of a network", "net.ipv4.tcp_sack=0")
    file = ROOT.joinpath(*words)
    try:
        file.write_text(value)
    except (FileNotFoundError, IsADirectoryError):
        raise UserError(f"{said}: a network namespace has no such setting") from None
    except OSError as error:
        raise UserError(f"{said}: {error.strerror}") from None
