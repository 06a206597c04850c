"""Tables of results for the page on the papers' questions in a cell with aggregation."""

from collections.abc import Iterator

from lasthop.studies.ax import access, bottleneck, cell, shares, slow, updown
from tables.cells import Values, listed, table

AX = Values("ax")


def even() -> Iterator[str]:
    """Yield the table of the ratio of download to upload goodput, by number of stations and
    queue.
    """
    queues = [str(queue) for queue in updown.QUEUES]
    rows = [
        [
            cell.PHY_WORDS[phy],
            updown.WORDS[mix],
            *(AX.simulated(f"updown.even_{phy}_{mix}_{queue}") for queue in queues),
        ]
        for phy in cell.BOTH
        for mix in updown.MIXES
    ]
    heads = ["FIFO of " + queue if queue.isdigit() else "Linux" for queue in queues]
    yield from table(["cell", "stations", *heads], rows)


def anomaly() -> Iterator[str]:
    """Yield the table of the goodputs of two fast stations and one station at MCS 0."""
    rows = [
        [
            cell.PHY_WORDS[phy],
            f"{slow.WORDS[load]}, {slow.WORDS[queue]}",
            *(
                AX.simulated(f"slow.{name}_{phy}_{load}_{queue}", factor)
                for name, factor in (("fast", 1), ("slow", 1), ("total", 1), ("air", 100))
            ),
        ]
        for phy in cell.BOTH
        for load in slow.LOADS
        for queue in slow.QUEUES
    ]
    heads = ["fast station [Mb/s]", "slow station [Mb/s]", "all [Mb/s]", "air time of the slow [%]"]
    yield from table(["cell", "load, queue", *heads], rows)


def shared() -> Iterator[str]:
    """Yield the table of the ratio between the classes and of the mean queue length, by
    algorithm.
    """
    rows = []
    for phy in cell.BOTH:
        for room in shares.ROOMS:
            names = [f"{phy}_{law}_{room}" for law in shares.LAWS]
            rows.append(
                [
                    f"{cell.PHY_WORDS[phy]}, {room} packets",
                    *(AX.simulated(f"shares.ratio_{name}") for name in names),
                    listed(AX.simulated(f"shares.held_{name}", 100) for name in names),
                    listed(AX.simulated(f"shares.total_{name}") for name in names),
                ]
            )
        names = [f"{phy}_{law}_frames" for law in shares.LAWS]
        ratios = (AX.simulated(f"shares.ratio_{name}") for name in names)
        alone = f"{cell.PHY_WORDS[phy]}, single frames, {cell.FRAME_ROOM} packets"
        rows.append([alone, *ratios, "", ""])
    laws = [shares.WORDS[law] for law in shares.LAWS]
    yield from table(["cell, room", *laws, "mean queue [% of room]", "all [Mb/s]"], rows)


def bottlenecks() -> Iterator[str]:
    """Yield the table of fairness and goodput with and without the capacity estimator."""
    words = {"fifo": "no bottleneck, FIFO", "linux": "no bottleneck, Linux queue"}
    words |= {
        str(threshold): f"threshold {threshold} ms, FIFO" for threshold in bottleneck.THRESHOLDS
    }
    words |= {"both": f"threshold {bottleneck.CALM} ms, Linux queue"}
    words |= {"leaf200": "threshold 40 ms, leaves of 200"}
    rows = [
        [
            cell.PHY_WORDS[phy],
            label,
            *(
                AX.simulated(f"bottleneck.{name}_{phy}_{way}_{kind}")
                for way in bottleneck.WAYS
                for name in ("eta", "total")
            ),
            listed(_rate(phy, way, kind) for way in bottleneck.WAYS) if kind.isdigit() else "",
        ]
        for phy in cell.BOTH
        for kind, label in words.items()
    ]
    heads = ["η, four downloads", "all [Mb/s]", "η, four uploads", "all [Mb/s]", "C [Mb/s]"]
    yield from table(["cell", "bottleneck", *heads], rows)


def _rate(phy: str, way: str, threshold: str) -> str:
    return AX.simulated(f"bottleneck.capacity_{phy}_{way}_{threshold}")


def accesses() -> Iterator[str]:
    """Yield the table of the gain from each EDCA parameter, for single frames and for
    aggregates.
    """
    settings = {
        **{f"txop_{{}}_{us}": f"TXOP limit {us / 1000:g} ms" for us in access.LIMITS_US[1:]},
        **{
            f"cwmin_{{}}_{cwmin}": f"CWmin {cwmin}"
            for cwmin in access.CWMINS
            if cwmin != access.CWMIN
        },
        "pifs_{}_0": "PIFS access",
        f"pifs_{{}}_{access.LONG_US}": f"PIFS access, TXOP limit {access.LONG_US / 1000:g} ms",
    }
    cases = [f"{phy}_{size}" for phy in access.PHYS for size in access.SIZES]
    first = [AX.simulated(f"access.total_{case}") for case in cases]
    rows = [["one PPDU, CWmin 15 [Mb/s]", *first]]
    rows += [
        [words, *(AX.simulated(f"access.{name.format(case)}") for case in cases)]
        for name, words in settings.items()
    ]
    roomy = {"roomy_{}": f"one PPDU, FIFO of {access.AMPLE} [Mb/s]"}
    roomy |= {"roomy_{}_txop": f"TXOP limit {access.LONG_US / 1000:g} ms, FIFO of {access.AMPLE}"}
    roomy |= {"roomy_{}_pifs": f"PIFS access, FIFO of {access.AMPLE}"}
    rows += [
        [
            words,
            *(
                "" if size != "full" else AX.simulated(f"access.{name.format(phy)}")
                for phy in access.PHYS
                for size in access.SIZES
            ),
        ]
        for name, words in roomy.items()
    ]
    sizes = {"frames": "single frames", "short": "0.5 ms", "full": "full aggregates"}
    heads = [f"{phy}, {sizes[size]}" for phy in access.PHYS for size in access.SIZES]
    yield from table(["setting (values without unit: ratio to the last row in Mb/s)", *heads], rows)


TABLES = {
    "even": even,
    "anomaly": anomaly,
    "shared": shared,
    "bottlenecks": bottlenecks,
    "accesses": accesses,
}
