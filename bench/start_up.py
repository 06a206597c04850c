"""Instructions of short commands divided by those of `python -c pass`, compared with limits.

For `lasthop simulate`, the instructions of the engine are subtracted. They are those of its example
program `summary`, which simulates the same scenario and prints the same result as JSON.

This program is part of `make bench ONLY=instructions` and of its short form. The measured
interpreter is the interpreter that runs the benchmark, and `lasthop` is the command installed next
to it. The ratio depends little on the processor and the compiler, so it is compared with the same
limit on every machine.
"""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hot_spots import program
from measure import BenchError, callgrind

EXAMPLES = Path(__file__).parents[1] / "examples"
HOTSPOT = EXAMPLES / "hotspot.toml"
SIMULATE = "lasthop simulate above the engine's own"
SEVEN = str(EXAMPLES / "seven-downloads.toml")
SETTINGS = ("duration=1 s", "warmup=0.5 s", "replications=1")
SET = [word for setting in SETTINGS for word in ("--set", setting)]

COMMANDS: Mapping[str, Sequence[str]] = {
    "lasthop --version": ["--version"],
    # these are the arguments of a shell's completion script; most of the cost is reading the schema
    "completion at Tab": ["completion", "answer", "zsh", "check", "x.toml", "--set", "cell."],
    "lasthop --help": ["--help"],
    "lasthop check": ["check", str(HOTSPOT)],
    SIMULATE: ["simulate", SEVEN, "--jobs", "1", *SET],
}
"""Arguments of each measured command, by its name in instructions.toml."""


def installed() -> Path:
    """Return the path of the `lasthop` command that belongs to this interpreter."""
    command = Path(sysconfig.get_path("scripts")) / "lasthop"
    if not command.exists():
        raise BenchError(f"{command}: no such file: `make build` installs it")
    return command


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables that make runs repeatable and allow Python to store compiled
    modules."""
    variables = {key: value for key, value in given.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return variables | {"PYTHONHASHSEED": "0", "COLUMNS": "80"}


def counted(arguments: Sequence[str]) -> int:
    """Return the number of instructions of a Python run. A first run, which compiles modules, is
    not counted."""
    argv = [sys.executable, *arguments]
    variables = environment(os.environ)
    subprocess.run(argv, env=variables, capture_output=True, check=False)
    return callgrind(argv, env=variables)[0]


def of_engine() -> int:
    """Return the number of instructions of the engine alone for the run of `SIMULATE`."""
    return callgrind([str(program("summary")), SEVEN, "1", *SETTINGS])[0]


def measure() -> dict[str, float]:
    """Return the number of instructions of each command, divided by that of `python -c pass`."""
    lasthop = str(installed())
    runs = [["-c", "pass"], *([lasthop, *arguments] for arguments in COMMANDS.values())]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        engine = pool.submit(of_engine)
        baseline, *counts = pool.map(counted, runs)
        own = {SIMULATE: engine.result()}
    every = zip(COMMANDS, counts, strict=True)
    return {name: (count - own.get(name, 0)) / baseline for name, count in every}


def table(measured: Mapping[str, float], aims: Mapping[str, float]) -> list[str]:
    """Return the lines of the table."""
    head = "instructions of a command, divided by those of `python -c pass`"
    rows = [f"  {name:39} {ratio:6.1f}  aim {aims[name]:g}" for name, ratio in measured.items()]
    return [head, *rows]


def missed(measured: Mapping[str, float], aims: Mapping[str, float]) -> list[str]:
    """Return a message for each command above its limit."""
    return [
        f"{name}: {ratio:.1f} times the instructions of `python -c pass`, aim {aims[name]:g}"
        for name, ratio in measured.items()
        if ratio > aims[name]
    ]


def main(aims: Mapping[str, float]) -> list[str]:
    """Print the table. Return a message for each command above its limit."""
    measured = measure()
    print(*table(measured, aims), sep="\n")
    return missed(measured, aims)
