"""Checks claims about the gateway with real TCP on a wire whose rate is known.

    python bench/scenes.py [claim ...] [--seeds N] [--jobs N]    runs the missing runs
    python bench/scenes.py --table                               docs/reference/gateway-measured.md

Each run is a separate kernel in simulated time (`uml.py`), in which `scene_inside.py` runs a scene.
Every run is stored as a line of out/scenes.jsonl, and is not repeated.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean, median
from typing import Any

import uml
from measure import require_release_build
from runs import OUT, Runs
from scene_inside import BIN_S, LATENESS, Scene
from tc_network import CROWD

HERE = Path(__file__).parent
INSIDE = HERE / "scene_inside.py"
RUNS = Runs(OUT / "scenes.jsonl")
MEMORY_MB = 1024

Table = dict[str, Any]
Figures = dict[str, float]

MANY, ONE = 4, 1
RATE_BPS, FALLEN_BPS = 20_000_000, 6_000_000
FALL_S, RISE_S, END_S = 25.0, 45.0, 65.0
"""Times at which the rate of the wire is reduced and restored, and end of the run. [s]"""
FALLEN_S, RISEN_S, PINGED_S = 4.0, 6.0, 5.0
"""C must be correct `FALLEN_S` after the reduction of the rate, and `RISEN_S` after its
restoration. Pings are measured for `PINGED_S` after the reduction. [s]"""
FIXED_BPS = 19_000_000
"""Fixed rate C slightly below the capacity of the wire, for comparison. [bit/s]"""
FIRST, SOME = 1, (1, 2)
"""Seeds of scenes that are run only for comparison: the first seed only, or the first two seeds."""
WARM_UP_S, MEASURED_S = 12.0, 20.0
JOINS_S, JOINED_S, SHARED_S = 15.0, 2.0, 5.0
"""Time at which a station joins, and begin and end of the interval in which its share is measured,
relative to this time. [s]"""
WATCHED_S = 10.0
SELDOM_S = 0.5
"""Time between two samples of the rate C, in scenes that do not check C. [s]"""
LATE_S = 6.0
"""Time at which stations begin to reply late to pings. [s]"""
LATE_STATIONS = (5, 2, 1)
HONEST, PAPER = "all honest", '5: 300 ms, wce.rule = "paper"'
GOOD, BAD = "all good", "one at 1 Mbit/s"


@dataclass(frozen=True)
class Case:
    """One run of a scene (an experiment with real TCP), which checks a claim about the gateway."""

    claim: str
    label: str
    scene: Scene

    @property
    def key(self) -> str:
        """Return the key under which the run is stored."""
        return f"{self.claim}, {self.label}, seed {self.scene.seed}"


# -- scenes -------------------------------------------------------------------------------------


def falls(seed: int) -> Iterator[tuple[str, Scene]]:
    """Yield scenes in which the rate of the wire is 20, 6 and then 20 Mbit/s again."""
    for packets in (150, 300):
        downloads = (("heavy", MANY, 0.0), ("light", ONE, 0.0), ("reader", MANY, 0.0))
        yield (
            f"{packets} packets",
            Scene(
                seed=seed,
                rtt_s=0.02,
                rate_bps=RATE_BPS,
                downloads=downloads,
                length_s=END_S,
                fifo_packets=packets,
                changes=((FALL_S, FALLEN_BPS), (RISE_S, RATE_BPS)),
                pinged="light",
            ),
        )


def equals(seed: int) -> Iterator[tuple[str, Scene]]:
    """Yield scenes with one CUBIC download of a station and twelve downloads of other stations, at
    a very small round-trip time."""
    downloads = (("heavy", 12, 0.0), ("light", ONE, 0.0), ("reader", 12, 0.0))
    for leaf in ("fq_codel", "pfifo") if seed == FIRST else ("fq_codel",):
        for fixed_bps in (None, FIXED_BPS) if seed == FIRST else (None,):
            yield (
                f"leaves of {leaf}" + ("" if fixed_bps is None else ", C fixed"),
                Scene(
                    seed=seed,
                    rtt_s=0.0,
                    rate_bps=RATE_BPS,
                    downloads=downloads,
                    length_s=WARM_UP_S + MEASURED_S,
                    device_delay="0.2ms",
                    gateway=f'discipline = "{leaf}"\n',
                    fixed_bps=fixed_bps,
                ),
            )


def joiners(seed: int) -> Iterator[tuple[str, Scene]]:
    """Yield scenes in which a station starts one download while three other stations are
    downloading."""
    downloads = (
        ("heavy", MANY, 0.0),
        ("reader", MANY, 0.0),
        ("phone", ONE, 0.0),
        ("light", ONE, JOINS_S),
    )
    for leaf in ("fq_codel", "pfifo") if seed in SOME else ("fq_codel",):
        yield (
            f"leaves of {leaf}",
            Scene(
                seed=seed,
                rtt_s=0.02,
                rate_bps=RATE_BPS,
                downloads=downloads,
                length_s=JOINS_S + SHARED_S,
                gateway=f'discipline = "{leaf}"\n',
            ),
        )


def own_downloads(seed: int) -> Iterator[tuple[str, Scene]]:
    """Yield scenes with stations that download and call simultaneously, and a station without
    downloads."""
    for leaf in ("fq_codel", "codel", "pfifo") if seed in SOME else ("fq_codel",):
        yield (
            f"leaves of {leaf}",
            Scene(
                seed=seed,
                rtt_s=0.02,
                rate_bps=RATE_BPS,
                downloads=(("heavy", MANY, 0.0), ("light", ONE, 0.0), ("idle", 0, 0.0)),
                length_s=WATCHED_S + 15.0,
                gateway=f'discipline = "{leaf}"\n',
                look_s=SELDOM_S,
                watched=("heavy", "light", "idle"),
                watched_from_s=WATCHED_S,
            ),
        )


def late_ones(seed: int) -> Iterator[tuple[str, Scene]]:
    """Yield scenes with twenty stations with one download each. Some stations reply late to
    pings."""
    honest = Scene(
        seed=seed,
        rtt_s=0.02,
        rate_bps=RATE_BPS,
        downloads=tuple((name, ONE, 0.0) for name in CROWD),
        length_s=WARM_UP_S + MEASURED_S,
        look_s=SELDOM_S,
        late_from_s=LATE_S,
    )
    yield HONEST, honest
    for count in LATE_STATIONS:
        for word in LATENESS:
            late = tuple(CROWD)[:count]
            yield f"{count}: {word}", replace(honest, late=late, lateness=word)
    if seed == FIRST:
        five = replace(honest, late=tuple(CROWD)[:5], lateness="300 ms")
        yield PAPER, replace(five, gateway='wce.rule = "paper"\n')


def own_queues(seed: int) -> Iterator[tuple[str, Scene]]:
    """Yield scenes in which the access point has a FIFO per station, and one station has a very low
    rate."""
    downloads = (
        ("heavy", MANY, 0.0),
        ("light", ONE, 0.0),
        ("reader", ONE, 0.0),
        ("phone", ONE, 0.0),
    )
    good = Scene(
        seed=seed,
        rtt_s=0.02,
        rate_bps=RATE_BPS,
        downloads=downloads,
        length_s=WARM_UP_S + MEASURED_S,
    )
    share = RATE_BPS // len(downloads)
    others = RATE_BPS - share
    yield GOOD, replace(good, slow=("phone", share, others))
    yield BAD, replace(good, slow=("phone", 1_000_000, others))


SCENES: Mapping[str, Callable[[int], Iterator[tuple[str, Scene]]]] = {
    "fall": falls,
    "equal": equals,
    "joiner": joiners,
    "own": own_downloads,
    "late": late_ones,
    "queues": own_queues,
}


def cases(claims: Sequence[str], seeds: Sequence[int]) -> Iterator[Case]:
    """Yield the runs of these claims: all runs with the first seed, then all runs with the next
    seed."""
    for seed in seeds:
        for claim in claims:
            for label, scene in SCENES[claim](seed):
                yield Case(claim, label, scene)


# -- figures ------------------------------------------------------------------------------------


def goodput_bps(seen: Table, name: str, from_s: float, to_s: float) -> float:
    """Return the goodput of a station between two times of a run. [bit/s]"""
    marks = [0, *seen["bytes"][name]]
    first, last = round(from_s / BIN_S), min(round(to_s / BIN_S), len(marks) - 1)
    return float(8 * (marks[last] - marks[first]) / ((last - first) * BIN_S))


def off(seen: Table, rate_bps: float, from_s: float, to_s: float) -> float:
    """Return the largest relative difference between C and `rate_bps` in an interval. [-]"""
    return float(max(abs(c / rate_bps - 1) for at_s, c in seen["c"] if from_s <= at_s < to_s))


def settled_s(seen: Table, rate_bps: float, from_s: float, to_s: float) -> float:
    """Return the time from `from_s` until the rate C remains within 10 % of `rate_bps` for the rest
    of the interval. [s]"""
    outside = [
        at_s for at_s, c in seen["c"] if from_s <= at_s < to_s and abs(c / rate_bps - 1) > 0.1
    ]
    return max(outside, default=from_s) - from_s


def of_fall(seen: Table) -> Figures:
    """Return values of C and of pings after the reduction and after the restoration of the rate."""
    pings = [rtt_s for at_s, rtt_s in seen["pings"] if FALL_S <= at_s < FALL_S + PINGED_S]
    return {
        "least_bps": min(c for _, c in seen["c"]),
        "off_6": off(seen, FALLEN_BPS, FALL_S + FALLEN_S, RISE_S),
        "settled_6_s": settled_s(seen, FALLEN_BPS, FALL_S, RISE_S),
        "off_20": off(seen, RATE_BPS, RISE_S + RISEN_S, END_S),
        "settled_20_s": settled_s(seen, RATE_BPS, RISE_S, END_S),
        "ping_s": median(pings),
        "ping_most_s": max(pings),
    }


def of_equal(seen: Table) -> Figures:
    """Return the goodput of the station that has one download, divided by an equal share of the
    total goodput. Also return values of the rate C."""
    to_s = WARM_UP_S + MEASURED_S
    each = {name: goodput_bps(seen, name, WARM_UP_S, to_s) for name in seen["bytes"]}
    rates = [c for at_s, c in seen["c"] if at_s >= WARM_UP_S]
    return {
        "share": each["light"] / mean(each.values()),
        "goodput_bps": sum(each.values()),
        "least_bps": min(rates),
        "most_bps": max(rates),
    }


def of_joiner(seen: Table) -> Figures:
    """Return the goodput of the station that joins late, divided by an equal share."""
    window = (JOINS_S + JOINED_S, JOINS_S + SHARED_S)
    each = {name: goodput_bps(seen, name, *window) for name in seen["bytes"]}
    return {"share": each["light"] / mean(each.values()), "goodput_bps": sum(each.values())}


def of_own(seen: Table) -> Figures:
    """Return the median round-trip time of stations with downloads, minus that of the station
    without downloads."""
    added = {
        f"{kind}_{name}_s": rtts[name]["rtt_median_s"] - rtts["idle"]["rtt_median_s"]
        for kind, rtts in seen["rtts"].items()
        for name in ("heavy", "light")
    }
    return {**added, "idle_s": seen["rtts"]["ping"]["idle"]["rtt_median_s"]}


def others_bps(seen: Table, left_out: Sequence[str]) -> float:
    """Return the total goodput of all stations that are not in `left_out`. [bit/s]"""
    names = [name for name in seen["bytes"] if name not in left_out]
    return sum(goodput_bps(seen, name, WARM_UP_S, WARM_UP_S + MEASURED_S) for name in names)


def named(seen: Table, late: Sequence[str]) -> Figures:
    """Return the number of late stations about which the gateway has warned, and the number of
    other stations about which it has warned."""
    rows = {row["name"]: row for row in seen["stations"]}
    named_stations = {
        name
        for name, row in rows.items()
        if row["silent"] or any(f": {name} " in line for line in seen["said"])
    }
    return {"named": len(named_stations & set(late)), "wrongly": len(named_stations - set(late))}


# -- runs ---------------------------------------------------------------------------------------


def carried_out(case: Case) -> Table:
    """Run a case in user-mode Linux, and return the observations to store."""
    settings = json.dumps(asdict(case.scene))
    seen = uml.answer(INSIDE, settings, memory_mb=MEMORY_MB)
    rows = seen.pop("status")["stations"]
    keys = ("name", "silent", "late_s", "dropped_packets")
    seen["stations"] = [{key: row.get(key) for key in keys} for row in rows]
    return dict(seen)


def run(claims: Sequence[str], seeds: int, jobs: int) -> None:
    """Make the runs of these claims that are not stored yet, and store them."""
    if (reason := uml.missing()) is not None:
        print(f"scenes: left out: {reason}")
        return
    done = RUNS.known()
    plan = [each for each in cases(claims, range(1, seeds + 1)) if each.key not in done]
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(carried_out, case): case for case in plan}
        for done_one in as_completed(running):
            case = running[done_one]
            try:
                seen = done_one.result()
            except uml.UmlError as error:
                print(f"{case.key}: {error}", flush=True)
                continue
            RUNS.add(case.key, seen)
            print(case.key, flush=True)


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description="scenes with real TCP on a wire of known rate")
    parser.add_argument("claim", nargs="*", help=f"one of {', '.join(SCENES)}; all")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--table", action="store_true", help="write the page from what was run")
    options = parser.parse_args()
    if options.table:
        import scenes_page

        scenes_page.write()
    else:
        run(options.claim or tuple(SCENES), options.seeds, options.jobs)
