"""The networks of paper 001, by letter.

Topologies a, b and c carry one flow on each of four links; figures 4.1 and 6.1 show their conflict
graphs. The conflict graphs of d and e are interpretations of the text (``docs/papers/acsma.md``,
Readings).
"""

from collections.abc import Mapping

from lasthop.models.acsma.errors import NetworkError
from lasthop.models.acsma.graph import from_edges
from lasthop.models.acsma.network import Flow, Network
from lasthop.models.acsma.utility import AlphaFair, Utility

PACKET_BITS = 8_000
"""Payload of a packet: 1000 bytes (section 4.1). [bit]"""

# Shape of a topology: wireless links, conflicts, wired links [bit/s], routes.
_Shape = tuple[str, str, Mapping[str, float], Mapping[str, str]]
_SINGLE = {str(number): str(number) for number in range(1, 5)}

TOPOLOGIES: Mapping[str, _Shape] = {
    "a": ("1 2 3 4", "1-2 2-3 2-4 3-4", {}, _SINGLE),
    "b": ("1 2 3 4", "1-2 1-3 1-4", {}, _SINGLE),
    "c": ("1 2 3 4", "1-2 1-3 2-3 2-4 3-4", {}, _SINGLE),
    # Topology d has nine nodes, six links and three flows of two hops. The links of the middle
    # flow, 3 and 4, sense all other links.
    "d": (
        "1 2 3 4 5 6",
        "1-2 3-4 5-6 1-3 1-4 2-3 2-4 3-5 3-6 4-5 4-6",
        {},
        {"upper": "1 2", "middle": "3 4", "lower": "5 6"},
    ),
    # In topology e the access points d and h are wired to node e. Stations a and b belong to access
    # point d, and station i to h. The wired path e-f-g has its bottleneck at f-g.
    "e": (
        "a-d b-d d-c i-h",
        "a-d/b-d a-d/d-c b-d/d-c",
        {"d-e": 20e6, "h-e": 20e6, "e-f": 20e6, "f-g": 2e6},
        {"a-to-g": "a-d d-e e-f f-g", "b-to-c": "b-d d-c", "i-to-g": "i-h h-e e-f f-g"},
    ),
}
"""Networks of paper 001 by letter: links, conflicts, wired links with their rates [bit/s], and
routes.
"""


def topology(name: str, service_rate_pps: float = 1.0, utility: Utility | None = None) -> Network:
    """Return one of the paper's networks.

    Parameters
    ----------
    name : str
        ``"a"`` to ``"e"``.
    service_rate_pps : float
        Rate at which an active wireless link sends packets, :math:`C`. For topology e, whose wired
        links have a rate, it must be in packets/s. For the other topologies, 1 is the normalisation
        of the paper.
    utility : Utility, optional
        Utility of every flow; by default :math:`-1/x`.

    Raises
    ------
    ValueError
        If there is no such topology.
    """
    if name not in TOPOLOGIES:
        raise NetworkError(f'topology "{name}": there are {", ".join(TOPOLOGIES)}')
    links, conflicts, wires, routes = TOPOLOGIES[name]
    worth = utility or AlphaFair()
    between = "/" if "/" in conflicts else "-"
    pairs = [tuple(pair.split(between)) for pair in conflicts.split()]
    return Network(
        from_edges(links.split(), [(first, second) for first, second in pairs]),
        tuple(Flow(flow, tuple(route.split()), worth) for flow, route in routes.items()),
        service_rate_pps,
        {wire: rate / PACKET_BITS for wire, rate in wires.items()},
    )
