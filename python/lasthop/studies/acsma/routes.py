"""Figures 6.14 and 6.15: routes of several wireless links, and of wired and wireless links, with
n-ACK.

The paper does not give the conflict graphs of topologies d and e. ``docs/papers/acsma.md``
describes the graphs that this study uses.
"""

from collections.abc import Callable

from lasthop.studies.acsma import network
from lasthop.studies.acsma.network import VARIANTS, WORDS
from lasthop.studies.picture import Abscissa, Line, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Run, Runs, Study, about, listed, mean_of

SHOWN = ("lcsma", "hack", "nack")

RULES = network.BESIDE
"""Settings of `csma` for links that share nodes, so that they decode each other's frames."""

VARIANTED = tuple(name for name in VARIANTS if name not in ("slots", "silences"))
"""Names of the variants that are simulated in topologies d and e. The variants of the slots and of
the idle times are omitted.
"""

SMOOTHING = 0.9
"""Weight of the previous value in the smoothed number of connections n_s. [-]"""


def _points(topology: str) -> dict[str, dict[str, object]]:
    points: dict[str, dict[str, object]] = {
        scheme: network.scenario(f"topology {topology}, {WORDS[scheme]}", topology, **RULES[scheme])
        for scheme in SHOWN
    }
    for scheme in SHOWN[1:]:
        points[f"{scheme}-smoother"] = network.scenario(
            f"topology {topology}, {WORDS[scheme]}, smoothed",
            topology,
            **RULES[scheme],
            smoothing=SMOOTHING,
        )
    for name in VARIANTED:
        base = None if name == "theory" else RULES
        points[f"nack-{name}"] = network.variant("nack", name, topology, base)
    return points


def _varied(runs: Runs, reading: Callable[[Run], Quantity]) -> str:
    """Return the values of a quantity with n-ACK under each variant, as text."""
    each = (f"{VARIANTS[name].words}: {reading(runs[f'nack-{name}'])}" for name in VARIANTED)
    return "; ".join(each)


def _picture(topology: str) -> Picture:
    """Return a picture with the throughput of every flow under each scheme and at the optimum."""
    flows = network.flows_of(topology)
    lines = [
        Line(
            WORDS[scheme],
            flows,
            lambda runs, scheme=scheme: [  # type: ignore[misc]
                Quantity(rate.samples) for rate in network.rates(runs[scheme])
            ],
        )
        for scheme in SHOWN
    ]
    return Picture(
        Abscissa("flow", evenly(flows), flows),
        [
            Panel(
                "throughput [packets/s]",
                [*lines, network.optimal(topology, flows)],
                f"topology {topology}",
            )
        ],
        panel_mm=60.0,
    )


def _middle(run: Run) -> Quantity:
    return network.rate(run, "middle")


def _measure_hops(runs: Runs) -> dict[str, Quantity]:
    lcsma, scheme = runs["lcsma"], runs["nack"]
    names = scheme.items("flows")
    optimal = network.best("d")[names.index("middle")]
    others = [network.rate(lcsma, name) for name in names if name != "middle"]
    return {
        "lcsma_middle": _middle(lcsma),
        "lcsma_others": mean_of(others),
        "scheme_middle": _middle(scheme),
        "distance_middle": network.known(1.0) - _middle(scheme) / optimal,
    }


def _hop_finding(runs: Runs) -> str:
    lcsma, hack, nack = (runs[scheme] for scheme in SHOWN)
    with_entropy = network.best("d", network.BETA)[nack.items("flows").index("middle")]
    smooth = [_middle(runs[f"{scheme}-smoother"]) for scheme in SHOWN[1:]]
    interval_s = nack.scenario["csma"]["connections_interval_s"]
    return (
        f"the middle flow gets {_middle(lcsma)} packets/s over L-CSMA, {_middle(hack)} with h-ACK "
        f"and {_middle(nack)} with n-ACK. The optimum at C = {network.C_PPS:g} is "
        f"{network.best('d')[1]:.4g}, and {with_entropy:.4g} with the entropy. Its round-trip "
        f"times are longer than the interval of {interval_s:g} s after which connections are "
        "opened and closed, so most connections are young. If n_s is smoothed with a weight of "
        f"{SMOOTHING} for the past, the flow gets {listed(smooth)} with h-ACK and n-ACK. Variants: "
        f"{_varied(runs, _middle)}"
    )


FIG6_14 = Study(
    key="acsma-fig6_14",
    title="Figure 6.14: three flows of two hops, topology d",
    points=_points("d"),
    measure=_measure_hops,
    findings=about("acsma-14", _hop_finding),
    draw=_picture("d").draw,
)


def _measure_wires(runs: Runs) -> dict[str, Quantity]:
    lcsma, _, nack = (runs[scheme] for scheme in SHOWN)
    return {
        "gap_scheme": network.gap(nack, "e"),
        "gap_lcsma": network.gap(lcsma, "e"),
        **{
            f"lcsma_{flow.replace('-', '_')}": network.rate(lcsma, flow)
            for flow in lcsma.items("flows")
        },
    }


FLOWS_OF_E = network.flows_of("e")


def _wire_findings(runs: Runs) -> dict[str, str]:
    lcsma, hack, nack = (listed(network.rates(runs[scheme])) for scheme in SHOWN)
    optimal = ", ".join(f"{value:.4g}" for value in network.best("e"))
    smooth, hack_gap, light_gap, lcsma_delayed, delayed = (
        network.gap(runs[name], "e")
        for name in ("nack-smoother", "hack", "light", "lcsma-delayed", "nack-delayed")
    )
    return {
        "acsma-23": (
            f"the entropy causes {network.entropy_gap('e'):.2f} of the scheme's gap. With h-ACK "
            f"the gap is {hack_gap}, and with ACKs as short as their bytes {light_gap}. With "
            f"delayed ACKs it is {delayed}, and that of L-CSMA is {lcsma_delayed}"
        ),
        "acsma-15": (
            f"the throughputs of {', '.join(FLOWS_OF_E)} are {lcsma} packets/s over L-CSMA. With "
            f"h-ACK they are {hack}, with a gap of {hack_gap}. With n-ACK they are {nack}, and the "
            f"gap with smoothed n_s is {smooth}. The optimum is {optimal}. The conflicts of e are "
            f"our choice. Variants: {_varied(runs, lambda run: network.gap(run, 'e'))}"
        ),
    }


OTHERS_OF_E = {
    "light": network.scenario(
        "topology e, n-ACK, short ACKs",
        "e",
        **{key: network.LIGHT_ACKS[key] for key in ("service_rate", "acks", "slotted", "difs")},
    ),
    "lcsma-delayed": network.scenario(
        "topology e, L-CSMA, delayed ACKs", "e", tcp={"delayed_ack": True}, **RULES["lcsma"]
    ),
}
"""Runs that isolate the causes of the utility gaps in topology e."""

FIG6_15 = Study(
    key="acsma-fig6_15",
    title="Figure 6.15: wireless links and wired links, topology e",
    points={**_points("e"), **OTHERS_OF_E},
    measure=_measure_wires,
    findings=_wire_findings,
    draw=_picture("e").draw,
)
