"""Measure shares and delay with merged segments, to show why the gateway turns receive offload off.

Each run is a separate user-mode Linux in simulated time (`uml.py`). In simulated time, computing
takes no time. Arrival times of segments therefore depend only on the network; see
`merging_inside.py`.
"""

import json
from pathlib import Path

import uml
from measure import require_release_build

HERE = Path(__file__).parent
MERGED = {"1": "off", "0": "on", "4": "on, 4 at most, turns of 4"}
CASES = [(queue, "100", merged) for queue in ("fq_codel", "pfifo") for merged in MERGED]


def main() -> int:
    """Run all cases, print the table and write out/merging.json."""
    print(f"{'leaf':10}{'Mbit/s':>7}  {'GRO':28}{'four : one':>11}{'of C':>7}{'echo, 95 %':>18}")
    measured = []
    for queue, rate, merged in CASES:
        seen = uml.answer(HERE / "merging_inside.py", queue, rate, merged, memory_mb=1024)
        measured.append({"queue": queue, "rate_mbps": rate, "gro": MERGED[merged]} | seen)
        delays = f"{1e3 * seen['median_s']:.2f}, {1e3 * seen['late_s']:.2f} ms"
        print(
            f"{queue:10}{rate:>7}  {MERGED[merged]:28}{seen['ratio']:11.3f}{seen['of_rate']:7.3f}"
            f"{delays:>18}",
            flush=True,
        )
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    out.joinpath("merging.json").write_text(json.dumps(measured, indent=2))
    return 0


if __name__ == "__main__":
    require_release_build()
    raise SystemExit(main())
