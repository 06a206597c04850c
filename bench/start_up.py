"""Instructions of short commands, divided by those of `python -c pass`: a ratchet.

Part of `make bench ONLY=instructions` and of its short form. The interpreter is the one that runs
the bench, and `lasthop` is the command installed next to it. The ratio depends little on processor
and compiler, so that it is judged everywhere.
"""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure import BenchError, callgrind

HOTSPOT = Path(__file__).parents[1] / "examples" / "hotspot.toml"

COMMANDS: Mapping[str, Sequence[str]] = {
    "lasthop --version": ["--version"],
    # As the scripts of shells call it. A key path reads the schema too, which takes most.
    "completion at Tab": ["completion", "answer", "zsh", "check", "x.toml", "--set", "cell."],
    "lasthop --help": ["--help"],
    "lasthop check": ["check", str(HOTSPOT)],
}
"""Arguments of each command by its name in instructions.toml."""


def installed() -> Path:
    """Returns the command `lasthop` of this interpreter."""
    command = Path(sysconfig.get_path("scripts")) / "lasthop"
    if not command.exists():
        raise BenchError(f"{command}: no such file: `make build` installs it")
    return command


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """Returns variables under which a run is repeatable, and compiled modules are kept."""
    kept = {key: value for key, value in given.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONHASHSEED": "0", "COLUMNS": "80"}


def counted(arguments: Sequence[str]) -> int:
    """Returns instructions of one run of Python; a run before it compiles what it imports."""
    argv = [sys.executable, *arguments]
    variables = environment(os.environ)
    subprocess.run(argv, env=variables, capture_output=True, check=False)
    return callgrind(argv, env=variables)[0]


def measure() -> dict[str, float]:
    """Returns instructions of each command over those of `python -c pass`."""
    lasthop = str(installed())
    runs = [["-c", "pass"], *([lasthop, *arguments] for arguments in COMMANDS.values())]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        nothing, *counts = pool.map(counted, runs)
    return {name: count / nothing for name, count in zip(COMMANDS, counts, strict=True)}


def table(measured: Mapping[str, float], aims: Mapping[str, float]) -> list[str]:
    """Returns the lines that are printed."""
    head = "instructions of a command, divided by those of `python -c pass`"
    rows = [f"  {name:26} {now:6.1f}  aim {aims[name]:g}" for name, now in measured.items()]
    return [head, *rows]


def missed(measured: Mapping[str, float], aims: Mapping[str, float]) -> list[str]:
    """Returns a line for each command above its aim."""
    return [
        f"{name}: {now:.1f} times the instructions of `python -c pass`, aim {aims[name]:g}"
        for name, now in measured.items()
        if now > aims[name]
    ]


def main(aims: Mapping[str, float]) -> list[str]:
    """Prints a table; returns what takes too many."""
    measured = measure()
    print(*table(measured, aims), sep="\n")
    return missed(measured, aims)
