"""What TCP connections of a program cost on this machine: paper 001, section 5.3.5.

    python bench/connection_costs.py [--keep]

Times of opening and closing connections and of sending a packet, and the memory of 100 connections
in one thread and in a thread each, over loopback. Needs a C compiler; takes a second. `--keep`
writes ``python/lasthop/studies/acsma/costs.json``, which the claim on these costs reads; without it
the same is printed.
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


def measured() -> list[dict[str, float]]:
    """Return the costs of each round; a first one, which finds everything cold, is left out."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "costs"
        subprocess.run(["cc", "-O2", "-pthread", str(SOURCE), "-o", str(program)], check=True)
        done = subprocess.run([program, str(ROUNDS + 1)], check=True, stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()[1:]]


def processor() -> str:
    """Return the name of the processor."""
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text("utf-8"))
    return found.group(1).strip() if found else platform.machine()


def main() -> None:
    """Measure, and print or keep what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="write it where the claim reads it")
    keep = parser.parse_args().keep
    rounds = measured()
    whole: dict[str, Any] = {
        "on": f"{processor()}, Linux {platform.release()}",
        "date": date.today().isoformat(),
        "rounds": {name: [one[name] for one in rounds] for name in rounds[0]},
    }
    text = json.dumps(whole, indent=1) + "\n"
    if keep:
        KEPT.write_text(text, "utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
