"""Figures 16 and 17, and sections II-B and II-C: five uploads and five downloads.

The buffer of the access point drops segments of downloads, but only ACKs of uploads. Therefore
losses at the buffer favour uploads. The channel loses segments in both directions. The channel
loses segments of uploads more often, because stations also collide with the access point. Therefore
losses on the channel favour downloads.
"""

from functools import partial

from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.study import Quantity, Run, Runs, Study, about, listed, require
from lasthop.studies.sweep import Sweep
from lasthop.studies.vbs import cell

LARGE = 450
"""Size of the "large AP buffer" of figure 16, which the paper does not give. The buffer has room
for the windows of the five downloads, and for one ACK per packet of the five uploads' windows, so
that no packet is dropped. [packets]
"""

BUFFERS = (50, 100, 150)
"""Buffer sizes of figure 17. [packets]"""

ALL_BUFFERS = (*BUFFERS, 225, 300, LARGE)
"""Buffer sizes of figure 17, two larger sizes, and the size of figure 16. [packets]"""

LIMITS = {"four": cell.ATTEMPTS, "eight": cell.STATED_ATTEMPTS}
"""Number of attempts per frame, by its text in the names of points."""

ERRORS = cell.ERRORS[1:]


def _scenario(algorithm: str, error: float, buffer: int, attempts: int) -> dict[str, object]:
    """Return the cell with one queue of the access point.

    Most algorithms divide the departures from the queue between uploads and downloads. They do not
    divide the length of the queue, because queued packets of uploads are ACKs. Only the partition
    divides the length.
    """
    station = {"count": 5, "error": error, "ack_error": 0.0}
    queue: object = buffer
    if algorithm != "plain":
        share_of = "queue" if algorithm == "partition" else "service"
        vbs = {"by": "direction", "share_of": share_of, **cell.ALGORITHMS[algorithm]}
        queue = {"limit": buffer, "vbs": vbs}
    return cell.scenario(
        f"uploads and downloads, {cell.WORDS[algorithm]}, p_w {error:g}, {buffer} packets, "
        f"{attempts} attempts",
        {"up": {**station, "upload": 1}, "down": {**station, "download": 1}},
        queue=queue,
        attempts=attempts,
    )


BY_ERROR = Sweep(
    "{algorithm}-{attempts}-{error}",
    lambda algorithm, attempts, error: _scenario(algorithm, error, LARGE, LIMITS[attempts]),
    {"algorithm": tuple(cell.WORDS), "attempts": tuple(LIMITS), "error": cell.ERRORS},
    words=cell.WORDS,
)
BY_BUFFER = Sweep(
    "{algorithm}-{buffer}",
    lambda algorithm, buffer: _scenario(algorithm, 0.2, buffer, cell.STATED_ATTEMPTS),
    {"algorithm": tuple(cell.WORDS), "buffer": BUFFERS},
    words=cell.WORDS,
)
BALANCE = Sweep(
    "{attempts}-{error}-{buffer}",
    lambda attempts, error, buffer: _scenario("plain", error, buffer, LIMITS[attempts]),
    {"attempts": tuple(LIMITS), "error": (0.0, 0.2), "buffer": ALL_BUFFERS},
)
"""Runs with a drop-tail queue, with and without channel errors."""

UP, DOWN = cell.goodput("up"), cell.goodput("down")

ratio = UP / DOWN
"""Ratio of the goodput of uploads to that of downloads. [-]"""


def drops(run: Run) -> float:
    """Return the largest fraction of packets that the access point drops in any replication. [-]"""
    return float(cell.buffer_loss(run).samples.max())


def measure_errors(runs: Runs) -> dict[str, Quantity]:
    """Return goodputs and their ratio without shares, and the ratio with Algorithm 1."""
    plain = BY_ERROR.at(algorithm="plain")
    vbs = BY_ERROR.at(algorithm="vbs", error=ERRORS)
    ending = "{attempts}_{error}"
    readings = {f"up_{ending}": UP, f"down_{ending}": DOWN, f"updown_{ending}": ratio}
    ratios = {f"ratio_vbs_{ending}": ratio, f"gap_vbs_{ending}": ratio - 1.0}
    return plain.values(runs, readings) | vbs.values(runs, ratios)


def other_algorithms(sweep: Sweep, setting: str, runs: Runs) -> dict[str, Quantity]:
    """Return the goodput ratio with the regulator and with the partition."""
    others = sweep.at(algorithm=("regulated", "partition"))
    return others.values(runs, {f"ratio_{{algorithm}}_{setting}": ratio})


def lossless(runs: Runs) -> None:
    """Raise an error if the large buffer drops packets in runs without shares."""
    for run in BY_ERROR.at(algorithm="plain").runs(runs):
        require(drops(run) == 0.0, f"{LARGE} packets are no large buffer: some are dropped")


def finding_errors(runs: Runs) -> str:
    """Return a text on the goodput ratio for both numbers of attempts, and on why Algorithm 1 does
    not make goodputs equal.
    """
    plain = BY_ERROR.at(algorithm="plain")
    held = BY_ERROR.at(algorithm="regulated", attempts="eight", error=ERRORS)
    parts = BY_ERROR.at(algorithm="partition", attempts="eight", error=ERRORS)
    four, eight = (listed(plain.at(attempts=limit).read(runs, ratio)) for limit in LIMITS)
    return (
        "without shares, and without drops at the buffer, up over down at p_w = "
        f"{cell.ERRORS_STATED} is {four} with {cell.ATTEMPTS} attempts and {eight} with "
        f"{cell.STATED_ATTEMPTS}. Algorithm 1 blocks only while the queue holds c B packets. An "
        "upload needs only a few of its ACKs, and enough of them pass while the queue is below c "
        "B. The regulator blocks with a probability that does not depend on the queue length. With "
        f"it and {cell.STATED_ATTEMPTS} attempts, up over down is "
        f"{listed(held.read(runs, ratio))}. A partition, which counts ACKs as packets, gives "
        f"{listed(parts.read(runs, ratio))}"
    )


def measure_buffers(runs: Runs) -> dict[str, Quantity]:
    """Return goodputs without shares, the goodput ratio with Algorithm 1, and total goodputs, over
    buffer sizes.
    """
    plain = BY_BUFFER.at(algorithm="plain")
    totals = plain.values(runs, {"{buffer}": cell.total})
    values = plain.values(runs, {"up_{buffer}": UP, "down_{buffer}": DOWN})
    values |= BY_BUFFER.at(algorithm="vbs").values(runs, {"ratio_vbs_{buffer}": ratio})
    return values | {
        f"total_ratio_{buffer}": total / totals["100"] for buffer, total in totals.items()
    }


def finding_buffers(runs: Runs) -> str:
    """Return a text on the goodput ratios with the other algorithms, and on the change of the total
    goodput.
    """
    regulated = BY_BUFFER.at(algorithm="regulated")
    held, totals = (listed(regulated.read(runs, reading)) for reading in (ratio, cell.total))
    parts = listed(BY_BUFFER.at(algorithm="partition").read(runs, ratio))
    lost = listed(BY_BUFFER.at(algorithm="plain").read(runs, cell.buffer_loss))
    return (
        f"with the regulator and buffers of {', '.join(map(str, BUFFERS))} packets, up over down "
        f"is {held}, and the total is {totals} Mb/s. With a partition, up over down is {parts}. "
        f"Without shares the queue drops {lost} of the packets, mostly ACKs of uploads. With fewer "
        "ACKs per segment on the air, the cell carries more. Algorithm 1 blocks only while the "
        "queue holds c B packets"
    )


def dropping(runs: Runs) -> None:
    """Raise an error if the smallest buffer drops no packets, or if the largest buffer drops
    packets.
    """
    small, large = (BALANCE.at(buffer=room).runs(runs) for room in (BUFFERS[0], LARGE))
    require(min(map(drops, small)) > 0.0, f"{BUFFERS[0]} packets are enough: nothing is dropped")
    require(max(map(drops, large)) == 0.0, f"{LARGE} packets are too few: some are dropped")


def findings_balance(runs: Runs) -> dict[str, str]:
    """Return texts on how losses at the buffer and on the channel change the ratio of uploads to
    downloads.
    """
    ratios = "; ".join(
        f"{listed(BALANCE.at(attempts=attempts, error=error).read(runs, ratio))} "
        f"(p_w = {error:g}, {attempts} attempts)"
        for error in BALANCE.settings["error"]
        for attempts in LIMITS
    )
    rooms = ", ".join(map(str, ALL_BUFFERS))
    finding = f"up over down with a buffer of {rooms} packets is {ratios}"
    return dict.fromkeys(("vbs-19", "vbs-20"), finding)


def _goodputs(sweep: Sweep, over: str, abscissa: Abscissa) -> Picture:
    """Return a picture of the goodput in both directions under each algorithm."""
    return Picture(
        abscissa,
        [
            Panel("goodput [Mb/s]", sweep.lines("{algorithm}", over, UP), "five uploads together"),
            Panel(
                "goodput [Mb/s]", sweep.lines("{algorithm}", over, DOWN), "five downloads together"
            ),
        ],
    )


OF_ALL = Abscissa("channel errors $p_w$ of all stations [-]", ticks=cell.ERRORS)

FIG16 = Study(
    key="vbs-fig16",
    title=f"Figure 16: uploads and downloads, buffer of {LARGE} packets",
    points=BY_ERROR.points(),
    measure=measure_errors,
    regime=lossless,
    shown=partial(other_algorithms, BY_ERROR, "{attempts}_{error}"),
    findings=about("vbs-11", finding_errors),
    draw=_goodputs(BY_ERROR.at(attempts="eight"), "error", OF_ALL).draw,
)

FIG17 = Study(
    key="vbs-fig17",
    title="Figure 17: uploads and downloads, p_w 0.2",
    points=BY_BUFFER.points(),
    measure=measure_buffers,
    shown=partial(other_algorithms, BY_BUFFER, "{buffer}"),
    findings=about("vbs-12", finding_buffers),
    draw=_goodputs(BY_BUFFER, "buffer", Abscissa("buffer of the AP [packets]", ticks=BUFFERS)).draw,
)

OPPOSITE = Study(
    key="vbs-opposite",
    title="Sections II-B and II-C: losses at the buffer favour uploads, on the channel downloads",
    points=BALANCE.points(),
    measure=lambda runs: BALANCE.values(runs, {"updown_{attempts}_{error}_{buffer}": ratio}),
    regime=dropping,
    findings=findings_balance,
    draw=Picture(
        Abscissa("buffer of the AP [packets]", ticks=ALL_BUFFERS),
        [
            Panel(
                "uploads over downloads [-]",
                BALANCE.at(attempts=limit).lines("p_w {error}", "buffer", ratio),
                f"{limit} attempts",
                log_from=0.5,
                levels={"equal": 1.0},
            )
            for limit in LIMITS
        ],
    ).draw,
)
