"""The tables that `make bench` prints."""

from dumbbell import TRANSMISSIONS, Measure
from dumbbell import Compared as Router
from edca import Compared
from measure import Cost
from ours import ColdStart

from lasthop.answers.estimates import Estimate

MSS_BITS = 8 * 1460
#: Number of transmissions over the air per delivered segment: the segment and its ACK.
CELL_TRANSMISSIONS = 2


def peers_head(title: str) -> None:
    """Print the heading of the table of simulators."""
    print(f"\n{title}")
    print("  CPU time per delivered data segment is the slope between a short and a long run")
    print(
        f"{'':30}{'us/segment':>11}{'packets/s':>11}{'ratio':>8}{'aim':>7}"
        f"{'Mb/s':>8}{'peak MB':>9}  {'slope between'}"
    )


def peer_row(name: str, cost: Cost, ratio: float | None = None, aim: float | None = None) -> None:
    """Print the row of one simulator. Equal throughputs show that all simulators simulate the same
    cell."""
    times = "" if ratio is None else f"{ratio:.{0 if ratio >= 10 else 2}f}"
    shown_aim = "" if aim is None else f"{aim:.0f}"
    packets_per_s = cost.transmissions_per_s(CELL_TRANSMISSIONS)
    throughput = cost.segments_per_s * MSS_BITS / 1e6
    print(
        f"{name:30}{cost.us_per_segment:11.3f}{packets_per_s:11.3g}{times:>8}{shown_aim:>7}{throughput:8.3f}"
        f"{cost.peak_rss_mb:9.1f}  {cost.short_s:g} s and {cost.long_s:g} s",
        flush=True,
    )


def alone_head(title: str) -> None:
    """Print the heading of the table of larger cells."""
    print(f"\n{title}")
    print(f"{'':32}{'us/segment':>11}{'segments/s':>12}{'CPU':>20}{'peak MB':>9}")


def alone_row(name: str, cost: Cost) -> None:
    """Print the row of one scenario with its CPU time and memory."""
    cpu = f"{cost.long_cpu_s:.2f} s for {cost.long_s:g} s"
    print(
        f"{name:32}{cost.us_per_segment:11.3f}{cost.segments_per_s:12.0f}{cpu:>20}"
        f"{cost.peak_rss_mb:9.1f}",
        flush=True,
    )


def starts_head(title: str) -> None:
    """Print the heading of the table of cold starts."""
    print(f"\n{title}")
    print(f"{'':24}{'wall ms':>11}{'CPU ms':>8}  without numpy, pandas, ...")


def start_row(start: ColdStart) -> None:
    """Print the row of one command's cold start."""
    loads = f"no: {', '.join(start.heavy)}" if start.heavy else "yes"
    print(f"{start.command:24}{start.wall_s * 1e3:11.0f}{start.cpu_s * 1e3:8.0f}  {loads}")


def edca(compared: list[Compared]) -> None:
    """Print goodputs and costs of lasthop and ns-3 with the EDCA parameters of 802.11e."""
    print("\nseven downloads, window 4, access parameters AP / stations (paper 003)")
    print("  [Mb/s], ± half of the 95 % interval; in brackets how far ns-3 is from it")
    print(
        f"{'':14}{'ns-3':>15}{'lasthop':>24}{'one switch':>24}{'rules of ns-3':>24}"
        f"{'us/segment':>11}{'ns-3':>6}{'ratio':>7}  verdict"
    )
    for row in compared:
        columns = [
            f"{mbps(ours)} ({row.over(ours).part:+6.2%})"
            for ours in (row.ours, row.switched, row.all_rules)
        ]
        print(
            f"{row.case.name:14}{mbps(row.peer):>15}{''.join(f'{text:>24}' for text in columns)}"
            f"{row.our_cost.us_per_segment:11.3f}{row.peer_cost.us_per_segment:6.0f}"
            f"{row.ratio:7.0f}  {row.verdict}"
        )


def mbps(goodput: Estimate) -> str:
    """Return a goodput with its confidence interval as text. [Mbit/s]"""
    return f"{goodput.mean / 1e6:.3f} ± {(goodput.ci95 or 0.0) / 1e6:.3f}"


def dumbbells_head() -> None:
    """Print the heading of the table of routers."""
    print("\nsixty NewReno flows through a router of 100 Mb/s, beside ns-3 with SACK")
    print(
        "  [us/segment], packets over links a second and core; "
        "in brackets how far the peer is from it"
    )
    print(
        f"{'':26}{'peer':>5}{'utilisation [%]':>25}{'mean queue [packets]':>25}{'drops [%]':>25}"
        f"{'lasthop':>9}{'peer':>8}{'packets/s':>11}{'peer':>10}{'ratio':>7}"
        "  least to greatest of the rounds"
    )


def dumbbell(router: Router) -> None:
    """Print the results of one router, and the cost per segment in lasthop and in another
    simulator."""
    columns = []
    formats: tuple[tuple[Measure, int, int], ...] = (
        ("utilisation", 100, 2),
        ("queue", 1, 2),
        ("drops", 100, 3),
    )
    for measure, factor, digits in formats:
        ours = router.ours[measure]
        value = f"{factor * ours.mean:.{digits}f} ± {factor * (ours.ci95 or 0.0):.{digits}f}"
        columns.append(f"{value} ({router.apart(measure):+.1%})")
    print(
        f"{router.case.name:26}{router.peer.name:>5}{''.join(f'{text:>25}' for text in columns)}"
        f"{router.our_cost.us_per_segment:9.3f}{router.peer_cost.us_per_segment:8.2f}"
        f"{router.our_cost.transmissions_per_s(TRANSMISSIONS):11.3g}"
        f"{router.peer_cost.transmissions_per_s(TRANSMISSIONS):10.3g}{router.cost.ratio:7.3g}"
        f"  {router.spread}",
        flush=True,
    )
