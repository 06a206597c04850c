"""Find the functions of lasthop that take most CPU time with `perf`, for a case whose aim is
missed.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
CELL = ("cell_speed",)
"""Example program of the engine that simulates a cell. It has debug symbols, unlike the Python
extension."""
ROUTER = ("summary", str(Path(__file__).parent / "cases" / "dumbbell.toml"))
"""Example program of the engine that simulates a router, with its argument."""
LINES = 15


def table(command: tuple[str, ...]) -> str:
    """Return the functions of `command` and their fractions of CPU time. If perf is not available,
    return the reason.
    """
    perf = shutil.which("perf")
    if perf is None:
        return "no profile: `perf` is not installed (Debian package linux-perf)"
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/perf.data"
        recorded = run(
            [perf, "record", "--quiet", "--output", data, str(program(command[0])), *command[1:]]
        )
        if recorded.returncode != 0:
            return f"no profile: {recorded.stderr.strip()}"
        by_function = ["--stdio", "--no-children", "--fields", "overhead,symbol"]
        printed = run([perf, "report", "--input", data, *by_function]).stdout
    shares = [line for line in printed.splitlines() if line.strip() and not line.startswith("#")]
    return "\n".join([f"where our CPU time goes: {' '.join(command)}", *shares[:LINES]])


def program(example: str) -> Path:
    """Return an example program of the engine, built with debug symbols."""
    # Build only the engine: in a build of the whole workspace, the engine has other features.
    build = ["cargo", "build", "--release", "--package", "lasthop-engine", "--example", example]
    build += ["--message-format", "json"]
    for line in run(build).stdout.splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("name") == example and message.get("executable"):
            return Path(message["executable"])
    raise FileNotFoundError(f"cargo built no example {example}")


def run(argv: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command, and return its output."""
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
