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

The kernel's own TCP (CUBIC) in namespaces of user-mode Linux, whose time passes only while every
process sleeps, so that no run depends on how busy a machine is. The gateway's file says `wce.max
= "24 Mbps"` and lists the stations; leaves are those of fq_codel where nothing else is said.
Behind it lies a wire of 20 Mbit/s which frames of both directions share one at a time, so that
what C should be is known exactly. Several runs differ by their seed: when connections begin, and
whom the estimator asks when. Figures are medians, in brackets the least and the greatest.
`python bench/scenes.py` runs all, `--table` writes this page; the kernel tests (`make test-long
PART=kernel`) run each once."""

FALL = """\
## The wire carries 20, 6 and 20 Mbit/s

Three stations download, two of them with four connections, one with one; the Internet's
round-trip time is 20 ms. At 25 s the wire carries 6 Mbit/s, at 45 s 20 Mbit/s again. C is looked
at ten times a second, and is "at" a rate when it is within a tenth and stays there. The ping is
the station's with one connection, the Internet's 20 ms included."""

EQUAL = """\
## One download against stations with twelve

Three stations, two with twelve downloads and one with a single one; round-trip times without
queues are below 1 ms. "C fixed" is at 19 Mbit/s, so that no queue stands behind the gateway."""

JOINER = """\
## A late joiner

Three stations have been downloading for 15 s (four connections, four, one) when a fourth begins
with one connection; the Internet's round-trip time is 20 ms. What counts is its goodput from 2
to 5 s after that, over that of all four by four."""

OWN = """\
## A call beside own downloads

What a UDP round trip and a ping from the server take longer to a station with four downloads,
and to one with one, than to one with none: medians of ten a second. [ms]"""

LATE = """\
## Stations that answer pings late

Twenty stations have a download each. From the sixth second on some answer pings late; their
downloads are as everybody's. What counts is the goodput of the others from 12 to 32 s, as a part
of what the same had when all were honest. In brackets: how many of the late ones the gateway's
`status` has named. "Flapping" is late by 300 ms in every other 3 s, or 0.5 s; who is "asleep
until its beacon" answers at multiples of 102.4 ms; "naps" are 1 s long with 0.2 s between."""

QUEUES = """\
## An access point with a queue for each station

The access point has a FIFO of 256 packets for each of four stations and serves them in turn. One
of them, the phone, has a bad rate: of 20 Mbit/s the three others can have 15, and the phone 5
or, badly, 1, so that its own queue stands at its limit for seconds."""

QUIC = """\
## An upload like QUIC's

Three stations download beside one whose upload is CUBIC in datagrams, over an air of 54 Mbit/s as
in 802.11g with 20 ms to the server (`bench/quic.py`): 20 s of warm-up, 30 s that count. [Mbit/s]"""

FLOOD = """\
## Machines that one station makes up

Two stations download (18.7 Mbit/s in all) when a third begins to ask for the router as 1,500
machines by ARP and as 250 by neighbour solicitation, within 10 s, after which a leases file has
250 more. The kernel's own limit of 1,024 neighbours was raised for it. The others had 18.5
Mbit/s meanwhile and 18.6 Mbit/s after it; all 2,000 had a leaf, nothing was a fault, and the
gateway's process took 46 MB for 35 MB, 6 kB a machine (`tests/linux/test_flood.py`, one run).
All leaves asked for is a test without a kernel: those who are there keep their places,
the others wait, and `status` says so."""
