"""Run the commands of `lasthop queue` with CAKE, and print the code and the output of each."""

import contextlib
import io
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lasthop.cli import main as lasthop
from shown import batch, in_batches

FILE = """\
[interface]
name = "wan"
queue.cake = { bandwidth = "18 Mbps", diffserv = "diffserv4", overhead = "40 B" }
"""


def main() -> dict[str, Any]:
    """Return the results of the commands, and the queue of the interface before and after."""
    link = "ip link add wan type veth peer name wan1"
    in_batches([link, "ip link set wan up", "ip link set wan1 up"])
    file = Path(tempfile.mkdtemp(), "cake.toml")
    file.write_text(FILE)
    before = batch("tc", ["qdisc show dev wan"])
    results = {}
    for verb in ("check", "up", "status", "status --json", "down"):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            words, options = verb.split()[0], verb.split()[1:]
            code = lasthop(["queue", words, str(file), *options])
        results[verb] = [code, output.getvalue()]
        if verb == "up":
            time.sleep(2.5)
    return {"results": results, "restored": batch("tc", ["qdisc show dev wan"]) == before}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main()) + "\n")
