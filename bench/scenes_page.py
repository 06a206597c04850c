"""The page of what `scenes.py` has run: docs/reference/gateway-measured.md."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import quic
import scenes
from pages import table
from scene_inside import LATENESS
from scenes import Case, Figures, Table

PAGE = Path(__file__).parent.parent / "docs/reference/gateway-measured.md"
MOST_SEEDS = 10

Runs = Mapping[str, Sequence[Table]]
"""What was seen, by label."""


def write() -> None:
    """Write the page from all runs that are there."""
    PAGE.write_text("\n".join(page(by_claim())) + "\n")


def by_claim() -> dict[str, dict[str, list[Table]]]:
    """Runs by claim and label, in the order of the seeds."""
    done = scenes.RUNS.known()
    found: dict[str, dict[str, list[Table]]] = defaultdict(lambda: defaultdict(list))
    for case in scenes.cases(tuple(scenes.SCENES), range(1, MOST_SEEDS + 1)):
        if case.key in done:
            found[case.claim][case.label].append(done[case.key])
    return found


def page(runs: Mapping[str, Runs]) -> Iterator[str]:
    """Its lines."""
    yield from HEAD.splitlines()
    for claim, lines in SECTIONS.items():
        if runs.get(claim):
            yield ""
            yield from lines(runs[claim])
    if quic.RUNS_FILE.exists():
        yield ""
        yield from uplink_udp(json.loads(quic.RUNS_FILE.read_text()))
    yield ""
    yield from FLOOD.splitlines()


def spread(values: Sequence[float], digits: int, unit: float = 1) -> str:
    """Median, and least to greatest of several."""
    shown = [f"{value / unit:.{digits}f}" for value in (median(values), min(values), max(values))]
    return shown[0] if len(values) == 1 else f"{shown[0]} ({shown[1]} to {shown[2]})"


def kept(values: Sequence[float], holds: Callable[[float], bool]) -> str:
    """In how many runs a claim holds."""
    return f"{sum(map(holds, values))} of {len(values)}"


def column(of: Callable[[Table], Figures], runs: Sequence[Table], key: str) -> list[float]:
    """A figure of every run."""
    return [of(seen)[key] for seen in runs]


def fall(runs: Runs) -> Iterator[str]:
    """C as the rate falls and rises."""
    yield from FALL.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for label, same in runs.items():
            yield (
                label,
                str(len(same)),
                spread(column(scenes.of_fall, same, "least_bps"), 1, 1e6),
                spread(column(scenes.of_fall, same, "settled_6_s"), 1),
                spread(column(scenes.of_fall, same, "off_6"), 1, 0.01),
                spread(column(scenes.of_fall, same, "settled_20_s"), 1),
                spread(column(scenes.of_fall, same, "off_20"), 1, 0.01),
                spread(column(scenes.of_fall, same, "ping_s"), 0, 1e-3),
            )

    head = (
        *("FIFO", "runs", "least C [Mbit/s]", "at 6 after [s]", "off from 4 s on, most [%]"),
        *("at 20 after [s]", "off from 6 s on, most [%]", "ping, median of 5 s [ms]"),
    )
    yield from table(head, rows())


def equal(runs: Runs) -> Iterator[str]:
    """The single download."""
    yield from EQUAL.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for label, same in sorted(runs.items()):
            shares = column(scenes.of_equal, same, "share")
            goodput = column(scenes.of_equal, same, "goodput_bps")
            within = kept(shares, lambda share: abs(share - 1) <= 0.05)
            yield label, spread(shares, 3), within, spread(goodput, 1, 1e6)

    head = ("", "its part of an equal share [-]", "within 5 %", "goodput of all [Mbit/s]")
    yield from table(head, rows())


def joiner(runs: Runs) -> Iterator[str]:
    """The late joiner."""
    yield from JOINER.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for label, same in sorted(runs.items()):
            shares = column(scenes.of_joiner, same, "share")
            yield label, spread(shares, 2), kept(shares, lambda share: share >= 0.9)

    yield from table(("", "its part of an equal share [-]", "90 % and more"), rows())


def own(runs: Runs) -> Iterator[str]:
    """Beside own downloads."""
    yield from OWN.splitlines()
    keys = [f"{kind}_{name}_s" for kind in ("echo", "ping") for name in ("heavy", "light")]

    def rows() -> Iterator[Sequence[str]]:
        for label, same in sorted(runs.items()):
            each = [column(scenes.of_own, same, key) for key in keys]
            worst = [max(values) for values in zip(*each, strict=True)]
            added = [spread(values, 1, 1e-3) for values in each]
            yield label, *added, kept(worst, lambda late_s: late_s <= 0.02)

    head = ("", "UDP, four", "UDP, one", "ping, four", "ping, one", "all within 20 ms")
    yield from table(head, rows())


def late(runs: Runs) -> Iterator[str]:
    """Stations that answer late."""
    yield from LATE.splitlines()
    honest = runs[scenes.HONEST]

    def cell(count: int, word: str) -> str:
        label = f"{count}: {word}"
        same = runs.get(label, [])
        if not same:
            return "-"
        names = case_of(label).scene.late
        parts = [
            scenes.others_bps(seen, names) / scenes.others_bps(all_honest, names)
            for seen, all_honest in zip(same, honest, strict=False)
        ]
        told = [scenes.named(seen, names) for seen in same]
        said = "/".join(f"{each['named']:g}" for each in told)
        wrongly = sum(each["wrongly"] for each in told)
        shown = "/".join(f"{100 * part:.0f}" for part in parts)
        return f"{shown} % ({said}{f', wrongly {wrongly:g}' if wrongly else ''})"

    def rows() -> Iterator[Sequence[str]]:
        for word in (*LATENESS, '300 ms, wce.rule = "paper"'):
            shown = word.replace("wce", "`wce").replace('"paper"', '"paper"`')
            yield shown, *(cell(count, word) for count in sorted(scenes.LATE_STATIONS))

    head = ("", *(f"{count} of 20" for count in sorted(scenes.LATE_STATIONS)))
    yield from table(head, rows())


def case_of(label: str) -> Case:
    """The run of late stations with this label."""
    found = dict(scenes.late_ones(1))
    return Case("late", label, found[label])


def queues(runs: Runs) -> Iterator[str]:
    """Own queues."""
    yield from QUEUES.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for label, same in runs.items():
            others = [scenes.others_bps(seen, ["phone"]) for seen in same]
            least = [min(c for at_s, c in seen["c"] if at_s > scenes.WARM_UP_S) for seen in same]
            yield label, str(len(same)), spread(others, 1, 1e6), spread(least, 1, 1e6)

    yield from table(("", "runs", "the three others [Mbit/s]", "least C [Mbit/s]"), rows())


def uplink_udp(runs: Sequence[Table]) -> Iterator[str]:
    """Uplink UDP shaped and not."""
    yield from QUIC.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for case in quic.CASES:
            same = [run for run in runs if run["case"] == case]
            both = [
                spread([run[key] for run in same], 1, 1e6) if same else "-"
                for key in ("downloads_bps", "upload_bps")
            ]
            yield f"`{case}`" if "=" in case else case, str(len(same)), *both

    yield from table(("", "runs", "three downloads", "the upload"), rows())


SECTIONS: Mapping[str, Callable[[Runs], Iterator[str]]] = {
    "fall": fall,
    "equal": equal,
    "joiner": joiner,
    "own": own,
    "late": late,
    "queues": queues,
}

HEAD = """\
# The gateway, measured

<!-- written by `bench/scenes.py --table` -->

These measurements use the kernel's own TCP (CUBIC) in network namespaces of user-mode Linux. Its
clock advances only while every process sleeps, so the load of the machine affects no run. The
gateway's file sets `wce.max = "24 Mbps"` and lists the stations. Leaves have fq_codel unless a row
names another queue.

Downstream of the gateway is a wire of 20 Mbit/s. Frames of both directions share it one at a time,
so the correct value of C is known exactly. Runs of a setup differ by their seed. The seed
determines when connections begin, and when the estimator asks which station. Figures are medians,
with the minimum and the maximum in brackets.

`python bench/scenes.py` runs everything, and `--table` writes this page. The kernel tests run each
scene once (`make test-long PART=kernel`)."""

FALL = """\
## The wire carries 20, 6 and 20 Mbit/s

Three stations download. Two of them have four connections, and one has a single connection. The
round-trip time of the Internet path is 20 ms. The wire first carries 20 Mbit/s. It carries 6 Mbit/s
from 25 s on, and 20 Mbit/s again from 45 s on.

C is read ten times a second. It is "at" a rate when it is within 10 % of the rate and stays there.
The columns "off" show the largest deviation of C from the rate, from 4 s or 6 s after the change.
The ping is that of the station with one connection, in the first 5 s after the fall. It includes
the 20 ms of the Internet path."""

EQUAL = """\
## One download against stations with twelve

Two stations have twelve downloads each, and a third station has a single one. Round-trip times
without queues are below 1 ms. The table shows the goodput of the single download as a part of an
equal share. In rows with "C fixed", C is 19 Mbit/s, so no queue builds up downstream of the
gateway."""

JOINER = """\
## A late joiner

Three stations have been downloading for 15 s, with four, four and one connections. Then a fourth
station begins with one connection. The round-trip time of the Internet path is 20 ms. The table
compares the fourth station with an equal share, which is a quarter of the goodput of all four. It
uses the goodput from 2 to 5 s after the fourth station began."""

OWN = """\
## A call during the station's own downloads

One station has four downloads, one has a single download, and one has none. The server sends UDP
packets and pings to each of them ten times a second. The table shows by how much the median
round-trip time of the stations with downloads exceeds that of the station without. [ms]"""

LATE = """\
## Stations that answer pings late

Twenty stations have one download each. After six seconds, some of them begin to answer pings late.
Their downloads are the same as those of the other stations. Each cell shows the goodput of the
other stations from 12 to 32 s, relative to their goodput when no station is late. Several values
are several runs. The numbers in brackets count the late stations that the gateway's `status` named.

Stations in the rows "flapping" are late by 300 ms in every other period of 3 s or 0.5 s. Stations
that are "asleep until its beacon" answer at multiples of 102.4 ms. The "naps" last 1 s, with 0.2 s
between them."""

QUEUES = """\
## An access point with a queue for each station

The access point has a FIFO of 256 packets for each of four stations, and serves them in turn. The
fourth station is a phone. The three other stations together can have 15 of the 20 Mbit/s. The phone
can have 5 Mbit/s ("all good"), or only 1 Mbit/s. With 1 Mbit/s its own queue is full for
seconds."""

QUIC = """\
## An upload like QUIC's

Three stations download, and a fourth uploads UDP datagrams with CUBIC as its congestion control, as
QUIC does. The air has 54 Mbit/s as in 802.11g, and the server is 20 ms away (`bench/quic.py`). Runs
have a warm-up of 20 s, and then 30 s count. [Mbit/s]"""

FLOOD = """\
## Machines that one station makes up

Two stations download, with 18.7 Mbit/s in total. Within 10 s a third station pretends to be 1,750
machines. It asks for the router as 1,500 of them by ARP, and as 250 by neighbour solicitation. Then
a leases file adds 250 more. The kernel's own limit of 1,024 neighbours was raised for this test.

The two stations had 18.5 Mbit/s during the flood and 18.6 Mbit/s after it. All 2,000 machines had a
leaf, and there were no faults. The memory of the gateway's process grew from 35 to 46 MB, which is
6 kB per machine (`tests/linux/test_flood.py`, one run).

A test without a kernel covers the case that all leaves are in use. Stations that have a leaf keep
it, the others wait, and `status` reports this."""
