"""Figure 8: goodput and fairness over the number of devices, with a delay of 70 ms."""

from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.study import Quantity, Read, Runs, Study, about, changed, listed
from lasthop.studies.sweep import Sweep
from lasthop.studies.vbs import cell

DEVICES = (2, 4, 6, 8, 10)

SMALL_WINDOW = 20
"""Receive window with which two connections do not use the full capacity. The delay of 70 ms
requires 46 packets. [packets]
"""

ERROR = 0.2
"""Probability of channel errors with which two connections do not use the full capacity. [-]"""

WORDS = {"plain": "as stated", "errors": f"p_w {ERROR}", "window": f"window of {SMALL_WINDOW}"}


def scenario(variant: str, count: int) -> dict[str, object]:
    """Return a cell with `count` devices, with the paper's settings or with settings that empty the
    queue.
    """
    error = {"error_down": ERROR} if variant == "errors" else {}
    tree = cell.scenario(
        f"{count} downloads, 70 ms, {WORDS[variant]}",
        {"high": {"count": count, "download": 1, **error}},
        delay_ms=35,
    )
    return changed(tree, tcp={"window": SMALL_WINDOW}) if variant == "window" else tree


SWEEP = Sweep(
    "{variant}-{count}", scenario, {"variant": tuple(WORDS), "count": DEVICES}, words=WORDS
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return aggregate goodput and Jain's index with two and ten devices."""
    ends = SWEEP.at(variant="plain", count=(DEVICES[0], DEVICES[-1]))
    return ends.values(runs, {"aggregate_{count}": cell.total, "jain_{count}": cell.jain})


def finding(runs: Runs) -> str:
    """Return a text on the settings with which the aggregate goodput grows with the number of
    devices.
    """
    queues, totals = [], []
    for variant in WORDS:
        queues.append(listed(SWEEP.at(variant=variant).read(runs, cell.occupancy)))
        first, *_, last = SWEEP.at(variant=variant).read(runs, cell.total)
        totals.append(f"{first} to {last} Mb/s")
    plain, errors, window = queues
    _, with_errors, with_window = totals
    return (
        f"the queue has {plain} packets with {', '.join(map(str, DEVICES))} devices. The access "
        "point always has a frame to send, so no further gain is possible. If two connections "
        "sometimes leave the queue empty, the aggregate grows slightly, and the index falls as in "
        f"the figure. With channel errors of {ERROR} and {cell.ATTEMPTS} attempts the aggregate "
        f"grows from {with_errors} (queue {errors}). With a receive window of {SMALL_WINDOW} "
        f"packets it grows from {with_window} (queue {window}). The channel of a test-bed has "
        "errors"
    )


def panel(y_label: str, reading: Read) -> Panel:
    """Return the panel of a quantity over the number of devices, with a line for each variant."""
    return Panel(y_label, SWEEP.lines("{variant}", "count", reading), from_zero=False)


PICTURE = Picture(
    Abscissa("devices", ticks=DEVICES),
    [
        panel("goodput of all [Mb/s]", cell.total),
        panel("Jain's index", cell.jain),
        panel("queue of the AP [packets]", cell.occupancy),
    ],
)

STUDY = Study(
    key="vbs-fig08",
    title="Figure 8: devices 70 ms away",
    points=SWEEP.points(),
    measure=measure,
    draw=PICTURE.draw,
    findings=about("vbs-4", finding),
)
