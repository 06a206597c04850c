"""Figures 7 and 10: the cell with station 1 at 2 Mb/s, compared with the cell at 11 Mb/s."""

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import (
    CONNECTIONS,
    LOSSLESS_QUEUE,
    SLOW,
    connections,
    picture,
)
from lasthop.studies.picture import Line, Panel
from lasthop.studies.study import Quantity, Runs, Study, changed, listed
from lasthop.studies.sweep import points_of

TIMERS = (10, 40, 200, 500)
"""Delayed-ACK timers other than the default of 100 ms, with one connection per station. [ms]"""


def study(number: int, direction: str) -> Study:
    """Return the study of figure 7 or 10, whose connections are all in one direction."""
    slow = connections(direction, direction, rate=SLOW, name="slow-{x}")
    fast = connections(direction, direction, name="fast-{x}")

    def ratios(runs: Runs) -> list[Quantity]:
        pairs = zip(slow.read(runs, cell.fairness), fast.read(runs, cell.fairness), strict=True)
        return [s / f for s, f in pairs]

    def measure(runs: Runs) -> dict[str, Quantity]:
        named = zip(CONNECTIONS, ratios(runs), strict=True)
        values = slow.values(runs, {"eta_{x}": cell.fairness})
        return values | {f"eta_ratio_{x}": ratio for x, ratio in named}

    def ratio(runs: Runs, kind: str) -> Quantity:
        return cell.fairness(runs[f"{kind}slow-1"]) / cell.fairness(runs[f"{kind}fast-1"])

    def by_timer(runs: Runs) -> dict[str, Quantity]:
        return {f"eta_ratio_timer_{ms}": ratio(runs, f"timer-{ms}-") for ms in TIMERS}

    def findings(runs: Runs) -> dict[str, str]:
        item, each = ratio(runs, ""), ratio(runs, "each-")
        acknowledged = (
            f"With delayed-ACK timers of {', '.join(map(str, TIMERS))} ms instead of 100 it is "
            f"{listed(by_timer(runs).values())}, and with an ACK for each segment {each}"
        )
        if direction == "download":
            acknowledged += ". So delayed ACKs cause the difference between the rates"
        return {
            "hotspot-6": (
                f"with one {direction} each, eta at 2 Mb/s is {item} of that at 11 Mb/s. "
                f"{acknowledged}. Without losses (AP buffer {LOSSLESS_QUEUE}) eta at 2 Mb/s is "
                f"{cell.fairness(cell.lossless_run(runs))}"
            )
        }

    eta = fast.lines("11 Mb/s", "x", cell.fairness, "11 Mb/s") + slow.lines(
        "2 Mb/s", "x", cell.fairness
    )
    shown = picture(
        f"{direction}s of station 1",
        [
            Panel("fairness level η₁₂", eta, f"station 1 at 2 Mb/s: X {direction}s against 1"),
            Panel(
                "η₁₂ at 2 Mb/s\n/ η₁₂ at 11 Mb/s",
                [Line("2 Mb/s", CONNECTIONS, ratios)],
                from_zero=False,
                stated=[(x, 1.0) for x in CONNECTIONS],
            ),
        ],
    )
    single = points_of(slow.at(x=1), fast.at(x=1))
    each_acknowledged = {
        f"each-{point}": changed(tree, tcp={"delayed_ack": False}) for point, tree in single.items()
    }
    timed = {
        f"timer-{ms}-{point}": changed(tree, tcp={"ack_delay": f"{ms} ms"})
        for point, tree in single.items()
        for ms in TIMERS
    }
    lossless = cell.scenario(
        f"{direction}s, station 1 at {SLOW}, AP buffer {LOSSLESS_QUEUE}",
        {direction: 1, "rate": SLOW},
        {direction: 1},
        ap_queue=LOSSLESS_QUEUE,
    )
    return Study(
        key=f"hotspot-fig{number:02d}",
        title=f"Figure {number}: station 1 at 2 Mb/s, X {direction}s against one",
        points={
            **slow.points(),
            **fast.points(),
            **each_acknowledged,
            **timed,
            "lossless": lossless,
        },
        measure=measure,
        regime=cell.lossless,
        shown=by_timer,
        draw=shown.draw,
        findings=findings,
    )


FIG07 = study(7, "download")
FIG10 = study(10, "upload")
