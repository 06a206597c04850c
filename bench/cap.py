"""Measure shares, and the first seconds of traffic, if the maximum rate `wce.max` is far above the
capacity of the WLAN.

    python bench/cap.py

Each run starts a user-mode Linux in simulated time (`uml.py`), which runs `cap_inside.py`. The
script prints a table and writes out/cap.json.
"""

import json
import statistics
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import uml
from cap_inside import PERIODS
from measure import require_release_build
from tc_network import FAST_BPS, SLOW_BPS

HERE = Path(__file__).parent
OUT = HERE / "out"
INSIDE = HERE / "cap_inside.py"
RTT_S, RUNS = 0.02, 3
AIRS = {"24 Mbit/s": FAST_BPS, "13 Mbit/s": SLOW_BPS}
"""Data rate of each WLAN, by its name. The name is the goodput of a single download. [bit/s]
"""
CAPS_BPS = (29e6, 100e6, 300e6, 1000e6)


def main() -> None:
    """Run all cases, print the table and write the file."""
    if (reason := uml.missing()) is not None:
        print(f"cap: left out: {reason}")
        return
    plan = [(air, cap, seed) for seed in range(1, RUNS + 1) for air in AIRS for cap in CAPS_BPS]
    runs: list[dict[str, Any]] = []
    OUT.mkdir(exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        for each in pool.map(lambda each: run(*each), plan):
            runs.append(each)
            OUT.joinpath("cap.json").write_text(json.dumps(runs, indent=1) + "\n")
    periods = "".join(f"{f'{a:g}..{b:g} s':>14}" for a, b in PERIODS)
    print("the air  cap [Mbit/s]  12 downloads, 1 [Mbit/s]   round trip added, median [ms]; C then")
    print(f"{'':48}{periods}")
    for air in AIRS:
        for cap_bps in CAPS_BPS:
            of_case = [r for r in runs if (r["air"], r["cap_bps"]) == (air, cap_bps)]
            heavy, light = (
                statistics.mean(r["bulk"][name] for r in of_case) / 1e6
                for name in ("heavy", "light")
            )
            cells = ""
            for k in range(len(PERIODS)):
                added = statistics.mean(
                    1e3 * ((r["echo"][k]["rtt_median_s"] or float("inf")) - RTT_S) for r in of_case
                )
                c = statistics.mean(r["c_bps"][k] for r in of_case) / 1e6
                cells += f"{f'{added:.0f}; {c:.1f}':>14}"
            print(f"{air:12}{cap_bps / 1e6:8.0f}{heavy:14.1f}{light:10.1f}    {cells}")


def run(air: str, cap_bps: float, seed: int) -> dict[str, Any]:
    """Return the results of one run in user-mode Linux."""
    settings = {"cap_bps": cap_bps, "data_rate_bps": AIRS[air], "rtt_s": RTT_S, "seed": seed}
    seen = uml.answer(INSIDE, json.dumps(settings))
    return {"air": air, "cap_bps": cap_bps, "seed": seed, **seen}


if __name__ == "__main__":
    require_release_build()
    main()
