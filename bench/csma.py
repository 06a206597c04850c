"""Measure the speed of simulations of CSMA networks: the CPU time per delivered packet in a network
of four links, and the simulated time per CPU time in a network of a thousand links.
"""

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
#: Total load of all links [packets/s], and the simulated times of the short and the long run [s].
LOAD_PPS, SHORT_S, LONG_S = 1000.0, 20.0, 120.0
COST_AIM = 3.0
"""Largest accepted ratio of the CPU time per delivered packet in topology a to the CPU time per
delivered packet in a cell. [-]"""


@dataclass(frozen=True)
class Compared:
    """Costs of topology a (four links) and of a network of a thousand links."""

    four: Cost
    thousand: Cost

    @property
    def times_real_time(self) -> float:
        """Simulated seconds per second of CPU time."""
        return 1e6 / (self.thousand.us_per_segment * self.thousand.segments_per_s)

    def missed(self, cell_us: float) -> list[str]:
        """Return a message for each missed aim."""
        aims = []
        if self.four.us_per_segment > COST_AIM * cell_us:
            aims.append(
                f"csma: {self.four.us_per_segment:.3f} us a packet of topology a, aim "
                f"{COST_AIM:g} times the cell's {cell_us:.3f} us"
            )
        if self.times_real_time <= 1.0:
            aims.append(f"csma: {LINKS} links at {self.times_real_time:.2f} of real time, aim 1")
        return aims


def compare(short_s: float, long_s: float, repeats: int) -> Compared:
    """Measure topology a and the network of a thousand links."""
    file = HERE / "out" / "thousand-links.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(thousand_links()))
    return Compared(
        four=ours.cost(TOPOLOGY_A, short_s, long_s, repeats),
        thousand=ours.cost(file, SHORT_S, LONG_S, repeats),
    )


def thousand_links() -> dict[str, object]:
    """Return a network of links at random positions. Each link conflicts with six others on
    average, and has a Poisson source.

    Channel access is adaptive, and the load is below the capacity everywhere.
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
