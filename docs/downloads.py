"""Run and store a cell of seven downloads, simulated by the engine and by a Monte Carlo program.

``python docs/downloads.py`` runs both simulations in a minute. It writes
``reference/seven-downloads.json``, from which `make docs-pages` makes the table of `validation.md`.
"""

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

import lasthop as lh

DOCS = Path(__file__).resolve().parent
KEPT = DOCS / "reference" / "seven-downloads.json"
EXAMPLE = DOCS.parent / "examples" / "seven-downloads.toml"

CWMINS = (31, 15, 7)
"""CWmin of all nodes. [slots]"""

REPLICATIONS, DURATION_S = 5, 1000.0
"""Number of runs with each simulator, and duration of a run. [-, s]"""

MIN_RTO = "1 s"
"""Minimum RTO of the runs. With the default of 200 ms and CWmin 7, TCP would retransmit segments
that are only delayed.
"""


def load() -> Any:
    """Return the stored results: date and points."""
    return json.loads(KEPT.read_text("utf-8"))


def point(cwmin: int) -> dict[str, Any]:
    """Return the goodput of the cell from both simulators. [bit/s]"""
    sys.path.append(str(DOCS.parent / "tests" / "validation"))
    from seven_downloads import mean_and_ci95, simulate

    changes = {"cell.cwmin": cwmin, "duration": f"{DURATION_S} s", "tcp.min_rto": MIN_RTO}
    cell = lh.simulate(EXAMPLE, replications=REPLICATIONS, settings=changes).cells.iloc[0]
    runs = [simulate(cwmin, DURATION_S, seed) for seed in range(1, REPLICATIONS + 1)]
    mean_bps, ci95_bps = mean_and_ci95([sum(run.goodputs_bps) for run in runs])
    return {
        "cwmin": cwmin,
        "engine": {
            "mean_bps": float(cell.goodput_bps),
            "ci95_bps": float(cell.goodput_bps_ci95),
        },
        "monte_carlo": {"mean_bps": mean_bps, "ci95_bps": ci95_bps},
    }


def main() -> None:
    """Run all points and store the results."""
    content = {
        "date": date.today().isoformat(),
        "replications": REPLICATIONS,
        "duration_s": DURATION_S,
        "points": [point(cwmin) for cwmin in CWMINS],
    }
    KEPT.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    print(KEPT)


if __name__ == "__main__":
    main()
