"""Networks with a conflict graph: cost of a delivered packet, and speed of a thousand links."""

import json
import random
from dataclasses import dataclass
from math import hypot, pi, sqrt
from pathlib import Path

import ours
from measure import Cost

HERE = Path(__file__).parent
TOPOLOGY_A = HERE.parent / "examples" / "csma.toml"
LINKS, DEGREE = 1000, 6.0
#: Total packets per second, and the lengths of the two simulations.
LOAD_PPS, SHORT_S, LONG_S = 1000.0, 20.0, 120.0
#: Largest ratio of the cost per delivered packet in topology a to that in a single cell.
COST_GOAL = 3.0


@dataclass(frozen=True)
class Compared:
    """Topology a compared with a single cell, and the large network."""

    four: Cost
    thousand: Cost

    @property
    def times_real_time(self) -> float:
        """Simulated seconds per second of processor time."""
        return 1e6 / (self.thousand.us_per_segment * self.thousand.segments_per_s)

    def missed(self, cell_us: float) -> list[str]:
        """Return the missed goals."""
        goals = []
        if self.four.us_per_segment > COST_GOAL * cell_us:
            goals.append(
                f"csma: {self.four.us_per_segment:.3f} us a packet of topology a, aim "
                f"{COST_GOAL:g} times the cell's {cell_us:.3f} us"
            )
        if self.times_real_time <= 1.0:
            goals.append(f"csma: {LINKS} links at {self.times_real_time:.2f} of real time, aim 1")
        return goals


def compare(short_s: float, long_s: float, repeats: int) -> Compared:
    """Measure both."""
    file = HERE / "out" / "thousand-links.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(thousand_links()))
    return Compared(
        four=ours.cost(TOPOLOGY_A, short_s, long_s, repeats),
        thousand=ours.cost(file, SHORT_S, LONG_S, repeats),
    )


def thousand_links() -> dict[str, object]:
    """Return links at random positions, each with six conflicts on average and a Poisson source.

    Access is adaptive, and every neighbourhood can carry the load.
    """
    draws = random.Random(1)
    side = 1.0
    reach = side * sqrt(DEGREE / (pi * (LINKS - 1)))
    places = [(draws.random() * side, draws.random() * side) for _ in range(LINKS)]
    links: dict[str, dict[str, object]] = {}
    for k, (x, y) in enumerate(places):
        heard = [
            f"l{other}"
            for other in range(k + 1, LINKS)
            if hypot(x - places[other][0], y - places[other][1]) <= reach
        ]
        links[f"l{k}"] = {"conflicts": heard} if heard else {}
    source = {"rate": f"{8 * LOAD_PPS / LINKS:g} kbps", "packet": "1000 B", "arrivals": "poisson"}
    return {
        "name": f"{LINKS} links",
        "duration": f"{LONG_S:g} s",
        "warmup": "1 s",
        "replications": 1,
        "csma": {"link": links},
        "flow": {f"f{k}": {"route": [f"l{k}"], "udp": source} for k in range(LINKS)},
    }
