"""Network settings of the kernel (sysctl) that are separate for each network namespace."""

from pathlib import Path

from lasthop.errors import UserError

ROOT = Path("/proc/sys")
ALLOWED = "net."
"""Prefix of settings that a namespace may have. Settings with other prefixes belong to the whole
machine."""


def write(name: str, value: str) -> None:
    """Write a network setting of the calling thread's namespace.

    Parameters
    ----------
    name : str
        Name of the setting, such as ``net.ipv4.tcp_sack``.
    value : str

    Raises
    ------
    UserError
        If the namespace has no such setting, or if the kernel refuses the value.
    """
    text = f"sysctl {name}={value}"
    words = name.split(".")
    if not name.startswith(ALLOWED) or not all(word.replace("_", "a").isalnum() for word in words):
        raise UserError(f"{text}: not a network setting", "net.ipv4.tcp_sack=0")
    file = ROOT.joinpath(*words)
    if not file.is_file():
        raise UserError(f"{text}: a network namespace does not have this setting")
    try:
        before = file.read_text().strip()
        if not value:
            raise OSError(0, "it is empty")
        file.write_text(value)
    except OSError as error:
        raise UserError(
            f"{text}: the kernel refuses the value: {error.strerror}", f"it is {before}"
        ) from None
