"""Writes the page of the runs of `scenes.py`: docs/reference/gateway-measured.md."""

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
MAX_SEEDS = 10

Runs = Mapping[str, Sequence[Table]]
"""Observations of the runs of a claim, by label of the case."""


def write() -> None:
    """Write the page from all stored runs."""
    PAGE.write_text("\n".join(page(by_claim())) + "\n")


def by_claim() -> dict[str, dict[str, list[Table]]]:
    """Return the stored runs by claim and label, in the order of their seeds."""
    done = scenes.RUNS.known()
    runs: dict[str, dict[str, list[Table]]] = defaultdict(lambda: defaultdict(list))
    for case in scenes.cases(tuple(scenes.SCENES), range(1, MAX_SEEDS + 1)):
        if case.key in done:
            runs[case.claim][case.label].append(done[case.key])
    return runs


def page(runs: Mapping[str, Runs]) -> Iterator[str]:
    """Yield the lines of the page from the runs."""
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
    """Return the median of the values as text, with the smallest and the largest value if there are
    several."""
    shown = [f"{value / unit:.{digits}f}" for value in (median(values), min(values), max(values))]
    return shown[0] if len(values) == 1 else f"{shown[0]} ({shown[1]} to {shown[2]})"


def share_of_runs(values: Sequence[float], holds: Callable[[float], bool]) -> str:
    """Return the number of runs in which a claim is true, as text such as "3 of 5"."""
    return f"{sum(map(holds, values))} of {len(values)}"


def leaf_queues(label: str) -> str:
    """Return the queue discipline of the station queues (leaves) that a label such as "leaves of
    pfifo" contains. The label is the key of the stored runs."""
    return label.removeprefix("leaves of ")


def column(of: Callable[[Table], Figures], runs: Sequence[Table], key: str) -> list[float]:
    """Return the value `key` for each run. `of` computes the values of a run."""
    return [of(seen)[key] for seen in runs]


def fall(runs: Runs) -> Iterator[str]:
    """Yield the table of the rate C when the rate of the wire is reduced and restored."""
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
        *("FIFO downstream of the gateway", "runs", "least C [Mbit/s]"),
        *("time until C is at 6 Mbit/s [s]", "largest deviation from 6 Mbit/s [%]"),
        *("time until C is at 20 Mbit/s [s]", "largest deviation from 20 Mbit/s [%]"),
        "median ping time after the fall [ms]",
    )
    yield from table(head, rows())


def equal(runs: Runs) -> Iterator[str]:
    """Yield the table of the station with one download."""
    yield from EQUAL.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for label, same in sorted(runs.items()):
            shares = column(scenes.of_equal, same, "share")
            goodput = column(scenes.of_equal, same, "goodput_bps")
            within = share_of_runs(shares, lambda share: abs(share - 1) <= 0.05)
            yield leaf_queues(label), spread(shares, 3), within, spread(goodput, 1, 1e6)

    head = (
        *("leaf queues", "goodput of the single download / equal share [-]"),
        *("runs within 5 % of the equal share", "goodput of all stations [Mbit/s]"),
    )
    yield from table(head, rows())


def joiner(runs: Runs) -> Iterator[str]:
    """Yield the table of the station that joins late."""
    yield from JOINER.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for label, same in sorted(runs.items()):
            shares = column(scenes.of_joiner, same, "share")
            yield (
                leaf_queues(label),
                spread(shares, 2),
                share_of_runs(shares, lambda share: share >= 0.9),
            )

    head = (
        *("leaf queues", "goodput of the fourth station / equal share [-]"),
        "runs with at least 90 % of the equal share",
    )
    yield from table(head, rows())


def own(runs: Runs) -> Iterator[str]:
    """Yield the table of delays of stations with downloads of their own."""
    yield from OWN.splitlines()
    keys = [f"{kind}_{name}_s" for kind in ("echo", "ping") for name in ("heavy", "light")]

    def rows() -> Iterator[Sequence[str]]:
        for label, same in sorted(runs.items()):
            each = [column(scenes.of_own, same, key) for key in keys]
            worst = [max(values) for values in zip(*each, strict=True)]
            added = [spread(values, 1, 1e-3) for values in each]
            yield leaf_queues(label), *added, share_of_runs(worst, lambda late_s: late_s <= 0.02)

    counts = ("four downloads", "one download")
    kinds = [f"{kind}, station with {of}" for kind in ("UDP", "ping") for of in counts]
    head = ("leaf queues", *(f"{kind} [ms]" for kind in kinds), "runs with all values below 20 ms")
    yield from table(head, rows())


def late(runs: Runs) -> Iterator[str]:
    """Yield the table of stations that reply late to pings."""
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
        naming = [scenes.named(seen, names) for seen in same]
        counts = "/".join(f"{each['named']:g}" for each in naming)
        wrongly = sum(each["wrongly"] for each in naming)
        shown = "/".join(f"{100 * part:.0f}" for part in parts)
        return f"{shown} % ({counts}{f', wrongly {wrongly:g}' if wrongly else ''})"

    def rows() -> Iterator[Sequence[str]]:
        for word in (*LATENESS, '300 ms, wce.rule = "paper"'):
            shown = word.replace("wce", "`wce").replace('"paper"', '"paper"`')
            yield shown, *(cell(count, word) for count in sorted(scenes.LATE_STATIONS))

    head = (
        "lateness of answers to pings",
        *(
            f"{count} of 20 stations {'is' if count == 1 else 'are'} late: "
            "goodput of the others (late stations named)"
            for count in sorted(scenes.LATE_STATIONS)
        ),
    )
    yield from table(head, rows())


def case_of(label: str) -> Case:
    """Return the case of late stations that has this label."""
    by_label = dict(scenes.late_ones(1))
    return Case("late", label, by_label[label])


def queues(runs: Runs) -> Iterator[str]:
    """Yield the table of an access point with a queue per station."""
    yield from QUEUES.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for label, same in runs.items():
            others = [scenes.others_bps(seen, ["phone"]) for seen in same]
            least = [min(c for at_s, c in seen["c"] if at_s > scenes.WARM_UP_S) for seen in same]
            rate = "5 Mbit/s" if label == scenes.GOOD else "1 Mbit/s"
            yield rate, str(len(same)), spread(others, 1, 1e6), spread(least, 1, 1e6)

    head = ("rate of the phone", "runs", "goodput of the three others [Mbit/s]", "least C [Mbit/s]")
    yield from table(head, rows())


def uplink_udp(runs: Sequence[Table]) -> Iterator[str]:
    """Yield the table of runs with and without shaping of uplink UDP."""
    yield from QUIC.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for case in quic.CASES:
            same = [run for run in runs if run["case"] == case]
            both = [
                spread([run[key] for run in same], 1, 1e6) if same else "-"
                for key in ("downloads_bps", "upload_bps")
            ]
            yield f"`{case}`" if "=" in case else case, str(len(same)), *both

    head = (
        *("gateway or change", "runs", "goodput of the three downloads [Mbit/s]"),
        "goodput of the upload [Mbit/s]",
    )
    yield from table(head, rows())


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

This page has measurements of `lasthop gateway` with the kernel's own TCP (CUBIC), in network
namespaces of user-mode Linux. The clock of user-mode Linux advances only while every process
sleeps, so the load of the machine affects no run. The gateway's file sets `wce.max = "24 Mbps"` and
lists the stations. The gateway's queue for each station (its leaf queue) is fq_codel, unless a row
names another queue.

Downstream of the gateway is a wire of 20 Mbit/s, in the place of a Wi-Fi cell. The wire carries one
frame at a time, in either direction, so its capacity is known exactly. C is the gateway's estimate
of this capacity. Runs of the same setup differ only by their seed. The seed determines when
connections begin. It also determines when, and in which order, the estimator pings the stations.
Values are medians of the runs, with the minimum and the maximum in brackets.

`python bench/scenes.py` makes all runs, and its option `--table` writes this page. The kernel tests
run each scenario of this page once (`make test-long PART=kernel`)."""

FALL = """\
## The wire carries 20, 6 and 20 Mbit/s

Three stations download. Two of these stations have four connections each, and the third station has
one connection. The round-trip time of the Internet path is 20 ms. The rate of the wire is 20 Mbit/s
at first, 6 Mbit/s from 25 s on, and 20 Mbit/s again from 45 s on.

C is read ten times a second. The table shows how many seconds after a change of the rate C is
within 10 % of the new rate and stays there. The table also shows the largest deviation of C from
the new rate. This deviation is measured from 4 s after the fall of the rate, and from 6 s after its
rise. The last column is the median ping time to the station with one connection, in the first 5 s
after the fall of the rate. The ping time includes the 20 ms of the Internet path."""

EQUAL = """\
## One download against stations with twelve

Two stations have twelve downloads each, and a third station has a single download. Round-trip times
without queueing are below 1 ms. The table shows the goodput of the single download relative to an
equal share, which is a third of the goodput of all three stations. In rows with "C fixed", the
gateway's file sets C to 19 Mbit/s, so no queue builds up downstream of the gateway."""

JOINER = """\
## A late joiner

Three stations download: two with four connections each, and one with a single connection. After 15
s, a fourth station begins to download with one connection. The round-trip time of the Internet path
is 20 ms. The table shows the goodput of the fourth station relative to an equal share, which is a
quarter of the goodput of all four stations. Goodput is measured from 2 to 5 s after the fourth
station begins."""

OWN = """\
## A call during the station's own downloads

One station has four downloads, a second station has a single download, and a third station has no
download. The server sends UDP packets and pings to each station ten times a second, and the
stations answer. The table shows by how many milliseconds the median round-trip time of a station
with downloads exceeds that of the station without downloads."""

LATE = """\
## Stations that answer pings late

Twenty stations have one download each. After six seconds, some of them begin to answer pings late.
The late stations download in the same way as the other stations. Each cell shows the goodput of the
other stations from 12 to 32 s, in per cent of their goodput in a run in which no station is late. A
cell has one value per run, separated by slashes. The numbers in brackets count, for each run, the
late stations that the gateway's `status` named.

In the first three rows, the answers arrive late by 50 ms, 300 ms or 2 s. "Silent" stations do not
answer. "Flapping" stations alternate between answers that are late by 300 ms and answers in time.
Each of these periods lasts 3 s or 0.5 s. Stations that are "asleep until its beacon" answer only at
multiples of 102.4 ms. Stations with "naps" do not answer for 1 s, then answer for 0.2 s, and so on.
In the last row, the gateway uses the rule of paper 002, which changes C at each answer, instead of
its default rule."""

QUEUES = """\
## An access point with a queue for each station

The access point has a FIFO of 256 packets for each of four stations, and serves them in turn. The
fourth station is a phone. The three other stations together can receive 15 Mbit/s of the wire's 20
Mbit/s. The phone can receive 5 Mbit/s, or only 1 Mbit/s. If the phone can receive only 1 Mbit/s,
its queue at the access point is full for seconds."""

QUIC = """\
## An upload like QUIC's

Three stations download over TCP, and a fourth station uploads UDP datagrams with CUBIC as its
congestion control, as QUIC does. The air rate is 54 Mbit/s as in 802.11g, and the RTT to the server
is 20 ms. Goodput is measured from 20 s to 50 s of each run (`bench/quic.py`). In the rows "the
upload over TCP" and "no upload", the gateway has the setting `udp = "down"`."""

FLOOD = """\
## Machines that one station makes up

Two stations download, with 18.7 Mbit/s in total. Within 10 s a third station pretends to be 1,750
machines. For this, the station asks for the router's address from 1,750 different addresses. It
sends 1,500 ARP requests and 250 IPv6 neighbour solicitations. Then a DHCP leases file adds 250 more
machines. The kernel's limit of 1,024 neighbours was raised for this test.

The two downloading stations had 18.5 Mbit/s during this flood and 18.6 Mbit/s after it. Each of the
2,000 machines had a leaf queue, and the gateway reported no faults. The memory of the gateway's
process grew from 35 to 46 MB, which is 6 kB per machine (`tests/linux/test_flood.py`, one run).

Another test, which does not use the kernel, covers the case that all leaf queues are in use.
Stations that have a leaf queue keep it. Further stations wait for a leaf queue, and `status`
reports the waiting stations."""
