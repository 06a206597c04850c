"""Where our CPU time goes: `perf` over the engine alone, when a goal is missed."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: Simulates the seven-station cell; the extension has no symbols, this program does.
EXAMPLE = "cell_speed"
LINES = 15


def table() -> str:
    """Functions by their share of CPU time, or why there is no such table."""
    perf = shutil.which("perf")
    if perf is None:
        return "no profile: `perf` is not installed (Debian package linux-perf)"
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/perf.data"
        recorded = run([perf, "record", "--quiet", "--output", data, str(program())])
        if recorded.returncode != 0:
            return f"no profile: {recorded.stderr.strip()}"
        by_function = ["--stdio", "--no-children", "--fields", "overhead,symbol"]
        printed = run([perf, "report", "--input", data, *by_function]).stdout
    shares = [line for line in printed.splitlines() if line.strip() and not line.startswith("#")]
    return "\n".join(["where our CPU time goes", *shares[:LINES]])


def program() -> Path:
    """The engine's example, built with symbols."""
    build = ["cargo", "build", "--release", "--example", EXAMPLE, "--message-format", "json"]
    for line in run(build).stdout.splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("name") == EXAMPLE and message.get("executable"):
            return Path(message["executable"])
    raise FileNotFoundError(f"cargo built no example {EXAMPLE}")


def run(argv: list[str]) -> subprocess.CompletedProcess[str]:
    """A command and what it printed."""
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
