"""Measure what TCP connections of a program cost on this machine (paper 001, section 5.3.5).

    python bench/connection_costs.py [--keep]

The script measures the times to open and close connections and to send a packet over loopback,
first at full speed and then as a slow link. The script also measures the memory of 100 connections
of a program, which has one thread for all connections, or one thread per connection. The script
needs a C compiler, and root permissions for a network namespace. The script runs for some seconds.
`--keep` writes ``python/lasthop/studies/acsma/costs.json``, with which lasthop checks the claim of
the paper about these costs. Without `--keep` the measurements are printed.
"""

import argparse
import json
import platform
import re
import subprocess
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOURCE = HERE / "connection_costs.c"
KEPT = HERE.parent / "python" / "lasthop" / "studies" / "acsma" / "costs.json"
ROUNDS = 30

SLOW_MBPS = 4
"""Rate of the slow link. At this rate the packets of a handshake wait in a queue. [Mb/s]"""

LOOPBACK = "ip link set lo up"
SLOW = f"ip link set lo mtu 1500 up; tc qdisc add dev lo root tbf rate {SLOW_MBPS}mbit burst 2000 \
limit 1000000"
"""Commands that set up loopback as a slow link or as a fast link."""


def measured(program: Path, prepare: str) -> dict[str, list[float]]:
    """Return the measurements of each cost, one per round. The first round is omitted, because its
    caches are cold.
    """
    words = ["unshare", "--net", "sh", "-ec", f"{prepare}; {program} {ROUNDS + 1}"]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE)
    rounds = [json.loads(line) for line in done.stdout.splitlines()[1:]]
    return {name: [costs[name] for costs in rounds] for name in rounds[0]}


def processor() -> str:
    """Return the name of the processor."""
    match = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text("utf-8"))
    return match.group(1).strip() if match else platform.machine()


def main() -> None:
    """Measure, and print the measurements or store them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="write it where the claim reads it")
    keep = parser.parse_args().keep
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "costs"
        subprocess.run(["cc", "-O2", "-pthread", str(SOURCE), "-o", str(program)], check=True)
        content: dict[str, Any] = {
            "on": f"{processor()}, Linux {platform.release()}",
            "date": date.today().isoformat(),
            "rounds": measured(program, LOOPBACK),
            "slow_mbps": SLOW_MBPS,
            "slow": measured(program, SLOW),
        }
    text = json.dumps(content, indent=1) + "\n"
    if keep:
        KEPT.write_text(text, "utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
