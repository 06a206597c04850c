"""Access parameters (paper 003) in a cell with aggregation: TXOPs, CWmin, and PIFS access.

There are seven downloads, as in the paper. Frames are sent one by one as in the paper, in
aggregates of 0.5 ms, or in aggregates of the maximum length.
"""

from typing import Any

from lasthop.studies.ax import cell
from lasthop.studies.picture import Abscissa, Line, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Runs, Study, about, listed, mean_reading, reading
from lasthop.studies.sweep import Sweep, points_of

SIZES: dict[str, dict[str, Any]] = {
    "frames": {"mpdus": 1},
    "short": {"time": "0.5 ms"},
    "full": {},
}
WORDS = {"frames": "frames one by one", "short": "aggregates of 0.5 ms", "full": "full aggregates"}

CWMIN = 15
"""CWmin of the best-effort access category. [slots]"""

CWMINS = (3, 7, CWMIN, 31, 63, 127)
"""Values of CWmin of the access point and the stations. [slots]"""

LIMITS_US = (0, 1504, 2528, 5500)
"""TXOP limits of access point and stations; 0 means one PPDU per access. [us]"""

LONG_US = LIMITS_US[-1]

PIFS = {"aifsn": 1, "cwmin": 0, "cwmax": 0}
"""Access parameters of an access point that sends after PIFS without backoff."""

AMPLE = 4000
"""Limit of a FIFO that can store the packets of a TXOP. [packets]"""

PHYS = tuple(cell.PHYS)
STATIONS = 7


def _limited(limit_us: int) -> dict[str, Any]:
    return {"txop_limit": f"{limit_us} us"} if limit_us else {}


def scenario(
    phy: str, size: str, name: str, access: dict[str, Any], room: int = cell.ROOM
) -> dict[str, Any]:
    """Return the scenario of seven downloads with the given access parameters."""
    return cell.scenario(
        f"{STATIONS} downloads, {WORDS[size]}, {name}",
        phy,
        {"station": {"count": STATIONS, "download": 1}},
        queue=cell.FRAME_ROOM if size == "frames" else room,
        seconds=(4, 10),
        cell={"aggregation": SIZES[size], **access},
    )


KINDS = {"bare": {}, "txop": _limited(LONG_US), "pifs": {"ap": PIFS}}
"""Access parameters of the runs with a long FIFO: one PPDU per access, the longest TXOPs, and PIFS
access.
"""

AXES: dict[str, tuple[Any, ...]] = {"phy": PHYS, "size": tuple(SIZES)}
LABELS = {**WORDS, **cell.PHY_WORDS}
BY_LIMIT = Sweep(
    "{phy}-{size}-txop{limit}",
    lambda phy, size, limit: scenario(phy, size, f"opportunities of {limit} us", _limited(limit)),
    {**AXES, "limit": LIMITS_US},
    words=LABELS,
)
BY_CWMIN = Sweep(
    "{phy}-{size}-cwmin{cwmin}",
    lambda phy, size, cwmin: scenario(phy, size, f"CWmin {cwmin}", {"cwmin": cwmin}),
    {**AXES, "cwmin": CWMINS},
    words=LABELS,
)
BY_PIFS = Sweep(
    "{phy}-{size}-pifs{limit}",
    lambda phy, size, limit: scenario(
        phy, size, f"PIFS, opportunities of {limit} us", {"ap": PIFS, **_limited(limit)}
    ),
    {**AXES, "limit": (0, LONG_US)},
)
ROOMY = Sweep(
    "{phy}-full-{kind}-roomy",
    lambda phy, kind: scenario(phy, "full", f"{kind}, room for {AMPLE}", KINDS[kind], AMPLE),
    {"phy": PHYS, "kind": tuple(KINDS)},
)


def gains(runs: Runs, sweep: Sweep, phy: str, size: str) -> list[Quantity]:
    """Return the goodputs of a sweep, divided by the goodput with CWmin 15 and one PPDU per access.
    [-]
    """
    reference = cell.total(BY_LIMIT.run(runs, phy=phy, size=size, limit=0))
    return [each / reference for each in sweep.at(phy=phy, size=size).read(runs, cell.total)]


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the gain of each setting compared with CWmin 15 and one PPDU per access."""
    values: dict[str, Quantity] = {}
    for phy in PHYS:
        for size in SIZES:
            for sweep, word, axis in (
                (BY_LIMIT, "txop", LIMITS_US[1:]),
                (BY_CWMIN, "cwmin", CWMINS),
                (BY_PIFS, "pifs", (0, LONG_US)),
            ):
                read = gains(runs, sweep, phy, size)[-len(axis) :]
                named = zip(axis, read, strict=True)
                values |= {f"{word}_{phy}_{size}_{value}": gain for value, gain in named}
    return values | BY_LIMIT.at(limit=0).values(runs, {"total_{phy}_{size}": cell.total})


acks = mean_reading("stations", "station", "mpdus_per_ppdu")
"""Mean length of a station's aggregates. [MPDUs]"""

busy = reading("cells", "cell", "busy_fraction")
"""Fraction of time in which the medium is busy. [-]"""


def shown(runs: Runs) -> dict[str, Quantity]:
    """Return aggregate lengths and busy time under each TXOP limit and with PIFS access, and
    goodputs with a long FIFO.
    """
    readings = {"aggregate": cell.aggregate, "acks": acks, "busy": busy}
    limits = {f"{name}_{{phy}}_{{size}}_{{limit}}": read for name, read in readings.items()}
    pifs = {f"{name}_{{phy}}_{{size}}_pifs{{limit}}": read for name, read in readings.items()}
    values = BY_LIMIT.values(runs, limits) | BY_PIFS.values(runs, pifs)
    for phy in PHYS:
        bare, *others = ROOMY.at(phy=phy).read(runs, cell.total)
        values[f"roomy_{phy}"] = bare
        named = zip(list(KINDS)[1:], others, strict=True)
        values |= {f"roomy_{phy}_{kind}": other / bare for kind, other in named}
    return values


def finding(runs: Runs) -> str:
    """Return a text on the length of aggregates under a TXOP limit, and on the effect of PIFS
    access with a FIFO.
    """
    lengths = listed(BY_LIMIT.at(phy="ax", size="full").read(runs, cell.aggregate))
    bare, pifs = (sweep.run(runs, phy="ax", size="full", limit=0) for sweep in (BY_LIMIT, BY_PIFS))
    roomy = ROOMY.at(phy="ax").read(runs, cell.total)
    return (
        f"full aggregates in 802.11ax have {lengths} MPDUs with limits of "
        f"{', '.join(map(str, LIMITS_US))} us. A limit cuts what would fit into one PPDU, and a "
        "sufficiently long opportunity sends packets before they can gather into an aggregate. "
        f"With PIFS access the medium is busy for a fraction {busy(pifs)} of the time instead of "
        f"{busy(bare)}. The queue is sent as soon as ACKs have refilled it. ACKs come in bursts, "
        f"and the bursts of segments that they release overflow the FIFO of {cell.ROOM} packets, "
        f"so that windows shrink simultaneously. With a FIFO of {AMPLE} packets, which like the "
        f"paper's queues never overflows, the cell carries {roomy[0]} Mb/s with one PPDU per "
        f"access. It carries {roomy[1]} with opportunities of {LONG_US} us and {roomy[2]} with "
        "PIFS access"
    )


def _line(size: str, phy: str) -> Line:
    return Line(WORDS[size], LIMITS_US, lambda runs: gains(runs, BY_LIMIT, phy, size))


PICTURE = Picture(
    Abscissa(
        "limit of opportunities [ms]",
        places=evenly(LIMITS_US),
        ticks={limit: f"{limit / 1000:g}" if limit else "one PPDU" for limit in LIMITS_US},
    ),
    [
        Panel(
            "goodput [-]",
            [_line(size, phy) for size in SIZES],
            f"relative to one PPDU, {cell.PHY_WORDS[phy]}",
            levels={"as with one PPDU": 1.0},
        )
        for phy in PHYS
    ],
)

STUDY = Study(
    key="ax-access",
    title="Access parameters against aggregation",
    points=points_of(BY_LIMIT, BY_CWMIN, BY_PIFS, ROOMY),
    measure=measure,
    shown=shown,
    findings=about("ax-5", finding),
    draw=PICTURE.draw,
)
