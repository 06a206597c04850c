"""Import of cake-autorate: the rates between which it moves the bandwidth of CAKE.

cake-autorate pings reflectors. It reduces the bandwidth when the delay grows, and raises it while
the load is high. Without load, the bandwidth returns to the base rate. Its configuration is a shell
file such as ``config.primary.sh``, whose defaults are in ``defaults.sh``.
"""

import re
from pathlib import Path
from typing import NamedTuple

from lasthop.errors import UserError
from lasthop.importing.observed import Note
from lasthop.importing.text import read_lines

__all__ = ["Autorate", "Rates", "read_autorate"]

ASSIGNMENT = re.compile(r"\s*(?:export\s+)?(\w+)=([\"']?)([^\"'\s#]*)\2\s*(?:#.*)?")
DEFAULTS_KBPS = {
    **{"min_dl": 5_000, "base_dl": 20_000, "max_dl": 80_000},
    **{"min_ul": 5_000, "base_ul": 20_000, "max_ul": 35_000},
}
"""Default rates of cake-autorate. [kbit/s]"""
MAX_KBPS = 100_000_000


class Rates(NamedTuple):
    """Rates of one direction. [kbit/s]"""

    min_kbps: int
    base_kbps: int
    max_kbps: int
    adjusts: bool
    """Whether cake-autorate changes the bandwidth of this direction."""


class Autorate(NamedTuple):
    """Settings of cake-autorate."""

    download: Rates
    upload: Rates
    interface: str
    """Interface of the upload; empty if the file does not set it."""

    def notes(self) -> list[Note]:
        """Return a warning about each direction with a changing bandwidth."""
        return [
            Note(
                f"cake-autorate moves the {name} between {rates.min_kbps / 1e3:g} and "
                f"{rates.max_kbps / 1e3:g} Mbps, by the delay of pings; here it is always at the "
                f"base rate of {rates.base_kbps / 1e3:g} Mbps",
                True,
            )
            for name, rates in (("download", self.download), ("upload", self.upload))
            if rates.adjusts
        ]


def read_autorate(path: Path) -> Autorate:
    """Return the settings of cake-autorate in a file.

    Raises
    ------
    UserError
        If the file contains no setting of cake-autorate, or a rate that is no whole number, or a
        base rate outside its limits.
    """
    values: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(read_lines(path, "a configuration of cake-autorate"), 1):
        if match := ASSIGNMENT.fullmatch(line):
            values[match[1]] = (number, match[3])
    if not any(name.endswith("_shaper_rate_kbps") for name in values):
        raise UserError(
            f"{path}: no line such as base_dl_shaper_rate_kbps=20000: not a configuration of "
            "cake-autorate",
            "expected config.primary.sh of cake-autorate",
        )
    of = {name: _rates(path, values, name) for name in ("dl", "ul")}
    return Autorate(of["dl"], of["ul"], values.get("ul_if", (0, ""))[1])


def _rates(path: Path, values: dict[str, tuple[int, str]], direction: str) -> Rates:
    """Return the rates of a direction."""
    limits = []
    for which in ("min", "base", "max"):
        name = f"{which}_{direction}_shaper_rate_kbps"
        line, text = values.get(name, (0, str(DEFAULTS_KBPS[f"{which}_{direction}"])))
        if not re.fullmatch(r"\d{1,9}", text) or not 1 <= int(text) <= MAX_KBPS:
            why = f'"{text[:20]}" is not a whole number from 1 to {MAX_KBPS}'
            raise UserError(f"{path}:{line}: `{name}`: {why}")
        limits.append(int(text))
    least, base, most = limits
    if not least <= base <= most:
        name = f"base_{direction}_shaper_rate_kbps"
        line, _ = values.get(name, (0, ""))
        raise UserError(
            f"{path}:{line}: `{name}`: {base} is not between the minimum of {least} and the "
            f"maximum of {most} kbit/s"
        )
    _, adjusts = values.get(f"adjust_{direction}_shaper_rate", (0, "1"))
    return Rates(least, base, most, adjusts != "0")
