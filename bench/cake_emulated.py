"""Runs the cases of `cake_points.py` with TCP through the engine's queue, in user-mode Linux.

    python bench/cake_emulated.py                      makes the missing runs
    python bench/cake_emulated.py --only ECN           only cases whose names match
    python bench/cake_emulated.py --minutes 40         starts no run after this time
    python bench/cake_emulated.py --queue fq_codel     with FQ-CoDel in place of CAKE, to test this
                                                       program

The TCP is that of the runs of `cake_kernel.py`, and time is simulated. Runs are stored in
out/cake-engine.jsonl with those of `cake_engine.py`.
"""

import argparse
import re
import time
from pathlib import Path

import uml
from cake_engine import SIDE, stored
from cake_points import CASES, SEEDS
from measure import require_release_build

from lasthop import _core

INSIDE = Path(__file__).with_name("cake_emulated_inside.py")


def main() -> None:
    """Run the parts that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="PATTERN", help="only cases that match")
    parser.add_argument("--queue", default="cake", choices=("cake", "fq_codel"))
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="N")
    asked = parser.parse_args()
    if lacks := uml.missing():
        raise SystemExit(lacks)
    until_s = time.monotonic() + 60 * asked.minutes
    runs = stored(asked.queue)
    done = runs.known()
    chosen = [case for case in CASES.values() if case.tcp and re.search(asked.only, case.name)]
    for seed in SEEDS:
        for case in chosen:
            key = case.key(SIDE, seed)
            if key in done and done[key]["engine"] == _core.ENGINE:
                continue
            if time.monotonic() > until_s:
                print("stopped: runs are left")
                return
            seen = uml.answer(INSIDE, case.name, asked.queue, str(seed))
            runs.add(key, {**seen, "engine": _core.ENGINE})
            print(key, flush=True)


if __name__ == "__main__":
    require_release_build()
    main()
