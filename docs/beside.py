"""Run the studies for those tables on the papers' pages that belong to no claim, and store the
results.

``python docs/beside.py`` takes some minutes of CPU time. It writes ``reference/beside.json``,
from which `make docs-pages` makes the tables of the pages. Finished runs are stored in
``out/beside``.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from lasthop._core import VERSION
from lasthop.cli.progress import progress_bar
from lasthop.studies import kept
from lasthop.studies.acsma import network
from lasthop.studies.red import router
from lasthop.studies.runner import Plan
from lasthop.studies.study import Quantity, Read, Run, Runs, Study
from lasthop.studies.sweep import Sweep
from lasthop.studies.vbs import cell

DOCS = Path(__file__).resolve().parent
KEPT = DOCS / "reference" / "beside.json"
OUT = DOCS.parent / "out" / "beside"

Tree = Mapping[str, Any]

# studies for the page acsma: channel errors together with interference


def _with_errors(topology: str, error: float, rule: str) -> dict[str, Any]:
    tree = network.scenario(
        f"topology {topology}, errors {error:.0%}, {rule}",
        topology,
        tcp={"ecn": True},
        service_rate=network.THEORY_PPS,
        attempts=1,
        connections=rule,
    )
    links = {name: {**link, "error": error} for name, link in tree["csma"]["link"].items()}
    csma = {**tree["csma"], "link": links}
    return {**tree, "csma": csma, "replications": 10}


WITH_ERRORS = Sweep(
    "{topology}-{error}-{rule}",
    _with_errors,
    {"topology": tuple("abcd"), "error": (0.0, 0.01, 0.03, 0.1), "rule": ("rtt", "marks")},
)


def _measure_errors(runs: Runs) -> dict[str, Quantity]:
    values: dict[str, Quantity] = {}
    for place, run in zip(WITH_ERRORS.places(), WITH_ERRORS.runs(runs), strict=True):
        point = WITH_ERRORS.point(place).replace("-", "_")
        values[f"total_{point}"] = Quantity(network.total(run).samples)
        values[f"gap_{point}"] = Quantity(network.gap(run, place["topology"]).samples)
        for user, name in enumerate(run.items("flows"), 1):
            number = run.quantity("flows", name, "connections")
            values[f"connections_{point}_{user}"] = Quantity(number.samples)
            values[f"rate_{point}_{user}"] = Quantity(network.rate(run, name).samples)
    return values


# studies for the page vbs: target shares that differ from the classes' fractions of connections

UNEQUAL = (
    *((5, 5, share, 0.0) for share in (0.1, 0.2, 0.35, 0.8)),
    (7, 5, 0.526, 0.0),
    (8, 2, 0.5, 0.0),
    (8, 2, 0.2, 0.0),
    (20, 20, 0.2, 0.0),
    (5, 5, 0.2, 0.3),
    (8, 2, 0.5, 0.3),
)
"""Cases: number of users of class 1, number of users of class 2, target share of class 1, and
channel error rate of class 2.
"""


def _unequal(case: tuple[int, int, float, float], law: str) -> dict[str, Any]:
    high, low, share, error = case
    stations: dict[str, dict[str, Any]] = {
        "high": {"count": high, "download": 1},
        "low": {"count": low, "download": 1, "error_down": error},
    }
    return cell.scenario(
        f"{high}:{low}, share {share:g}, p_w {error:g}, {law}",
        stations,
        queue=cell.shares(share, **cell.ALGORITHMS[law]),
        attempts=cell.ATTEMPTS if error else cell.STATED_ATTEMPTS,
    )


TARGETS = Sweep("{law}-{case}", _unequal, {"case": UNEQUAL, "law": tuple(cell.ALGORITHMS)})


def _queue_share(run: Run) -> Quantity:
    """Return the fraction of the queue's packets that belongs to class 1. [-]"""
    return Quantity(run.quantity("classes", "high", "queue_share").samples)


def of_target(law: str, case: tuple[int, int, float, float]) -> str:
    """Return the name of a measured value: the queue share of class 1 in a case."""
    return f"share_{TARGETS.point({'law': law, 'case': case}).replace('-', '_')}"


def _measure_targets(runs: Runs) -> dict[str, Quantity]:
    pairs = zip(TARGETS.places(), TARGETS.read(runs, _queue_share), strict=True)
    return {of_target(**place): share for place, share in pairs}


# studies for the page red: several senders through RED and through a threshold queue

SENDERS: Mapping[str, Tree] = {
    "compound": {},
    "newreno": {"congestion": "newreno"},
    "delayed": {"delayed_ack": True},
    "sack": {"sack": True},
}
"""TCP settings of each sender, as differences from Compound TCP as published."""


def _sender(sender: str, policy: str) -> dict[str, Any]:
    effort = replace(router.FULL, duration_s=200)
    tree = router.dumbbell(200, router.POLICIES[policy], effort=effort)
    return {**tree, "warmup": "100 s", "tcp": {**tree["tcp"], **SENDERS[sender]}}


BY_SENDER = Sweep(
    "{sender}-{policy}", _sender, {"sender": tuple(SENDERS), "policy": tuple(router.POLICIES)}
)


def _measure_senders(runs: Runs) -> dict[str, Quantity]:
    return BY_SENDER.values(runs, {"goodput_{sender}_{policy}": router.goodput})


# studies for the page red: windows from two to twelve packets

RED: Tree = {"limit": 2084, "red": {"min_th": 50, "max_th": 100, "mean_packet": "1500 B"}}

LOADS: Mapping[str, tuple[str, Any, int, tuple[int, ...]]] = {
    "red_240_10": ("RED 50/100", RED, 240, (10,)),
    "red_120_10": ("RED 50/100", RED, 120, (10,)),
    "red_60_10": ("RED 50/100", RED, 60, (10,)),
    "red_60_20": ("RED 50/100", RED, 60, (20,)),
    "red_60_40": ("RED 50/100", RED, 60, (40,)),
    "red_30_40": ("RED 50/100", RED, 30, (40,)),
    "red_60_10_200": ("RED 50/100", RED, 60, (10, 200)),
    **{
        f"tail_{room}_{rtt}": (f"{room} packets", room, 60, (rtt,))
        for room, rtt in ((15, 10), (15, 20), (15, 40), (15, 80), (5, 80), (40, 80))
    },
}
"""For each load: the queue as text and as scenario setting, the number of flows, and the round-trip
times [ms].
"""


def load_of(name: str) -> dict[str, Any]:
    """Return a scenario with the flows and the queue of a load, over a line of 100 Mb/s."""
    words, queue, flows, rtts = LOADS[name]
    many = {f"flow-{rtt}ms": {"count": flows // len(rtts), "rtt": f"{rtt} ms"} for rtt in rtts}
    return {
        "name": f"{flows} flows, {rtts} ms, {words}",
        "duration": "40 s",
        "warmup": "15 s",
        "replications": 5,
        "queue": queue,
        "dumbbell": {"access": "20 Mbps", "access_spread": 0.01, "bottleneck": "100 Mbps"},
        "tcp": {"congestion": "compound", "window": 1000, "delayed_ack": False},
        "flow": many,
    }


def _loss(run: Run) -> Quantity:
    """Return the fraction of packets lost at the bottleneck. [-]"""
    return run.quantity("queues", router.BOTTLENECK, "drop_probability")


def _measure_loads(runs: Runs) -> dict[str, Quantity]:
    table: dict[str, Read] = {"window": router.window, "loss": _loss, "use": router.utilisation}
    return {
        f"{name}_{load}": reading(runs[load]) for load in LOADS for name, reading in table.items()
    }


STUDIES = (
    Study(
        key="acsma-errors",
        title="Errors and interference together",
        points=WITH_ERRORS.points(),
        measure=_measure_errors,
    ),
    Study(
        key="vbs-unequal",
        title="Shares that are not the connections'",
        points=TARGETS.points(),
        measure=_measure_targets,
    ),
    Study(
        key="red-senders",
        title="Senders with RED and with a threshold",
        points=BY_SENDER.points(),
        measure=_measure_senders,
    ),
    Study(
        key="red-loads",
        title="Windows from two packets to a dozen",
        points={name: load_of(name) for name in LOADS},
        measure=_measure_loads,
    ),
)


def read() -> Any:
    """Return the stored runs: version, date, and studies with their points and values."""
    return json.loads(KEPT.read_text("utf-8"))


def main() -> None:
    """Run all studies and store the results."""
    with progress_bar("running") as progress:
        runs = Plan(STUDIES).run(OUT, progress)
    content = kept.keep(STUDIES, runs, ())
    head = {"version": VERSION, "date": date.today().isoformat()}
    text = json.dumps({**head, "studies": content["studies"]}, ensure_ascii=False, indent=1)
    KEPT.write_text(text + "\n", "utf-8")
    print(KEPT)


if __name__ == "__main__":
    main()
