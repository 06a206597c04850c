"""Measure the effect of shaping uplink UDP on three TCP downloads, and on one upload over UDP
similar to QUIC.

    python bench/quic.py [--quick] [--jobs N]

Each run is a separate kernel in simulated time (`uml.py`), which runs `quic_inside.py`. The script
prints a table and writes out/quic.json.
"""

import argparse
import json
import statistics
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import uml
from measure import require_release_build

HERE = Path(__file__).parent
RUNS_FILE = HERE / "out" / "quic.json"
INSIDE = HERE / "quic_inside.py"
RTT_S, RUNS = 0.02, 5
FULL, QUICK = (20.0, 30.0), (10.0, 15.0)
"""Warm-up and measured time of full and of quick runs. [s]"""
CASES: Mapping[str, tuple[str | None, str | None]] = {
    "no gateway": ("udp", None),
    'udp = "down"': ("udp", 'udp = "down"\n'),
    'udp = "both"': ("udp", 'udp = "both"\n'),
    "the upload over TCP": ("tcp", 'udp = "down"\n'),
    "no upload": (None, 'udp = "down"\n'),
}
"""For each case, the transport protocol of the upload (None without an upload), and additional
lines of the gateway's file (None without a gateway)."""


def main(*, quick: bool, jobs: int) -> None:
    """Run all cases, print the table, and write out/quic.json."""
    if (reason := uml.missing()) is not None:
        print(f"quic: left out: {reason}")
        return
    plan = [(name, seed) for seed in range(1, 2 if quick else RUNS + 1) for name in CASES]
    with ThreadPoolExecutor(jobs) as pool:
        runs = []
        RUNS_FILE.parent.mkdir(exist_ok=True)
        for each in pool.map(lambda each: run(each, QUICK if quick else FULL), plan):
            runs.append(each)
            RUNS_FILE.write_text(json.dumps(runs, indent=1) + "\n")
    print(f"{'Mbit/s, mean of runs':22} downloads  (least, most)  upload  C")
    for name in CASES:
        of_case = [each for each in runs if each["case"] == name]
        down = [each["downloads_bps"] / 1e6 for each in of_case]
        up = statistics.mean(each["upload_bps"] for each in of_case) / 1e6
        print(
            f"{name:22} {statistics.mean(down):9.2f}  ({min(down):5.2f}, {max(down):5.2f}) "
            f"{up:7.2f}  {capacity(of_case)}"
        )


def capacity(runs: list[dict[str, Any]]) -> str:
    """Return the mean rate C of the gateway at the end of the runs, as text. [Mbit/s]"""
    rates = [run["status"]["aps"][0]["rate_bps"] / 1e6 for run in runs if run["status"]]
    return f"{statistics.mean(rates):.1f}" if rates else "-"


def run(case: tuple[str, int], length: tuple[float, float]) -> dict[str, Any]:
    """Run one case in a user-mode Linux, and return its results."""
    name, seed = case
    upload, gateway = CASES[name]
    warm_up_s, measured_s = length
    settings = {
        "upload": upload,
        "gateway": gateway,
        "rtt_s": RTT_S,
        "seed": seed,
        "warm_up_s": warm_up_s,
        "measured_s": measured_s,
    }
    seen = uml.answer(INSIDE, json.dumps(settings))
    return {"case": name, "seed": seed, **seen}


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description="what shaping uplink UDP does")
    parser.add_argument("--quick", action="store_true", help="one short run of each case")
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    options = parser.parse_args()
    main(quick=options.quick, jobs=options.jobs)
