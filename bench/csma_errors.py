"""Errors and interference at once: users of topologies a to d whose links lose packets.

    .venv/bin/python bench/csma_errors.py

prints the table of docs/papers/acsma.md: with connections by round-trip time alone and by marks as
well, links that lose a part of their packets (one attempt each), 30 replications of 500 s.
"""

from pathlib import Path
from typing import Any

from lasthop.studies.acsma import network
from lasthop.studies.runner import Plan
from lasthop.studies.study import Quantity, Study
from lasthop.studies.sweep import Sweep

KEPT = Path(__file__).parent / "out" / "csma-errors"


def scenario(topology: str, error: float, rule: str) -> dict[str, Any]:
    """One of them."""
    tree = network.scenario(
        f"topology {topology}, errors {error:.0%}, {rule}",
        topology,
        tcp={"ecn": True},
        service_rate=network.THEORY_PPS,
        attempts=1,
        connections=rule,
    )
    links = {name: {**link, "error": error} for name, link in tree["csma"]["link"].items()}
    return {**tree, "csma": {**tree["csma"], "link": links}}


SWEEP = Sweep(
    "{topology}-{error}-{rule}",
    scenario,
    {"topology": tuple("abcd"), "error": (0.0, 0.01, 0.03, 0.1), "rule": ("rtt", "marks")},
)
STUDY = Study(
    key="acsma-errors",
    title="Errors and interference",
    points=SWEEP.points(),
    measure=lambda _: {},
)


def means(each: list[Quantity], digits: int) -> str:
    """Their means, for a cell of the table."""
    return ", ".join(f"{one.samples.mean():.{digits}f}" for one in each)


def main() -> None:
    """Print the table."""
    runs = Plan([STUDY]).run(KEPT)[STUDY.key]
    print("| topology | errors | connections | n | packets/s | total | gap |")
    print("|---|---|---|---|---|---|---|")
    for place, run in zip(SWEEP.places(), SWEEP.runs(runs), strict=True):
        topology = place["topology"]
        number = [run.quantity("flows", name, "connections") for name in run.items("flows")]
        print(
            f"| {topology} | {place['error']:.0%} | `{place['rule']}` | {means(number, 1)} "
            f"| {means(network.rates(run), 0)} | {network.total(run)} "
            f"| {network.gap(run, topology)} |"
        )


if __name__ == "__main__":
    main()
