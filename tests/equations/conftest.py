import copy
import re
from collections.abc import Callable
from math import dist
from typing import Any

import pytest

from lasthop.models import ModelError, predict
from lasthop.models.access import Access
from lasthop.models.acsma.errors import NetworkError
from lasthop.models.acsma.graph import ConflictGraph, from_edges
from lasthop.models.edca.cell import Cell, Connection, Packet, StationTraffic

Scenario = dict[str, Any]
ACCESS = {"aifsn": 2, "cwmin": 31, "cwmax": 1023, "txop_packets": 1, "txop_limit_s": None}
NODE = {
    "control_rate_bps": 2_000_000,
    **ACCESS,
    "attempts_short": 7,
    "attempts_long": 4,
    "queue_packets": 1000,
    "queue": {"discipline": "drop_tail"},
    "voice": ACCESS,
    "video": ACCESS,
    "background": ACCESS,
}
TCP = {
    "congestion": "reno",
    "compound": {"alpha": 0.125, "beta": 0.5, "k": 0.75, "gamma_packets": 30.0, "zeta": 1.0},
    "dctcp": {"l4s": False},
    "prague": {"virtual_rtt_s": 0.025, "transition_rounds": 500},
    "hystart": False,
    "byte_counting": False,
    "ecn": False,
    "sack": False,
    "rack": False,
    "prr": False,
    "undo": False,
    "window_packets": 42,
    "initial_cwnd_packets": 2,
    "delayed_ack": True,
    "ack_delay_s": 0.1,
    "ack_processing_s": 0.0,
    "mss_bytes": 1460,
    "header_bytes": 40,
    "min_rto_s": 0.2,
    "initial_rto_s": 1.0,
    "segments": None,
}


def _flow(station: str, direction: str, number: int) -> Scenario:
    return {
        "name": f"{station}/{direction}/{number}",
        "class": station,
        "station": station,
        "direction": direction,
        "forward": [],
        "back": [],
        "category": "best-effort",
        "start_s": 0.0,
        "start_spread_s": 0.0,
        "stop_s": None,
        "tcp": dict(TCP),
    }


@pytest.fixture
def hotspot() -> Callable[..., Scenario]:
    """Return a function that builds an 802.11b hot-spot scenario with all settings. The arguments
    of the function are one pair per station: its number of uploads and its number of downloads.
    """

    def build(*connections: tuple[int, int]) -> Scenario:
        names = [f"sta-{number}" for number in range(1, len(connections) + 1)]
        return {
            "name": "hot-spot",
            "duration_s": 180.0,
            "warmup_s": 20.0,
            "replications": 5,
            "seed": 1,
            "cell": {
                "phy": "802.11b",
                "slot_s": 20e-6,
                "sifs_s": 10e-6,
                "preamble_s": 192e-6,
                "eifs_rate_bps": 1_000_000,
                "mac_header_bytes": 28,
                "llc_bytes": 8,
                "rts_threshold_bytes": None,
                "ack_timeout_s": None,
                "countdown": "dcf",
                "cf_end": False,
                "rate_control": "fixed",
                "ap": {**copy.deepcopy(NODE), "queue_packets": 75, "queue_order": "fifo"},
            },
            "wire": {"rate_bps": None, "delay_s": 0.0, "queue_packets": 1000, "loss": 0.0},
            "vsb": None,
            "links": [],
            "stations": [
                {
                    "name": name,
                    "group": name,
                    "rate_bps": 11_000_000,
                    "downlink_rate_bps": 11_000_000,
                    "uplink_rts_rate_bps": 2e6,
                    "uplink_response_rate_bps": 2e6,
                    "downlink_rts_rate_bps": 2e6,
                    "downlink_response_rate_bps": 2e6,
                    "error_up": 0.0,
                    "error_down": 0.0,
                    "ack_error_up": 0.0,
                    "ack_error_down": 0.0,
                    "snr_db": None,
                    **copy.deepcopy(NODE),
                }
                for name in names
            ],
            "flows": [
                _flow(name, direction, number)
                for name, counts in zip(names, connections, strict=True)
                for direction, count in zip(("up", "down"), counts, strict=True)
                for number in range(1, count + 1)
            ],
            "record": {"series_interval_s": None, "frames": None, "from_s": 0.0},
        }

    return build


@pytest.fixture
def refused() -> Callable[[Scenario, str, str], None]:
    """Return a function that checks that the hot-spot model refuses a scenario. The refusal must
    name the given assumption and contain the given message.
    """

    def check(scenario: Scenario, assumption: str, words: str) -> None:
        with pytest.raises(ModelError, match=re.escape(words)) as caught:
            predict(scenario)
        assert caught.value.assumption == assumption

    return check


# Packets of the 802.11e paper, section 6 and table 2: 192 us of preamble per frame, and MAC ACKs at
# 2 Mb/s.
DATA = Packet(192e-6 + 8 * 1538 / 11e6, 450e-6 + 8 * 1538 / 11e6, 1460)
ACK = Packet(192e-6 + 8 * 78 / 11e6, 450e-6 + 8 * 78 / 11e6, 0)


@pytest.fixture
def cell() -> Callable[..., Cell]:
    """Return a function that builds the 802.11e paper's cell. Its first arguments are the number of
    stations, the receive window, the CWmin of the AP and the CWmin of the stations.
    """

    def build(
        stations: int = 7,
        window: int = 4,
        ap: int | Access = 31,
        station: int | Access = 31,
        *,
        uploads: int = 0,
        ap_txop: int = 1,
        station_txop: int = 1,
    ) -> Cell:
        download = StationTraffic((Connection(window, up=ACK, down=DATA),))
        upload = StationTraffic((Connection(window, up=DATA, down=ACK),))
        access = [
            node if isinstance(node, Access) else Access(cwmin=node, txop_packets=txop)
            for node, txop in ((station, station_txop), (ap, ap_txop))
        ]
        return Cell(
            stations=(upload,) * uploads + (download,) * (stations - uploads),
            station_access=access[0],
            ap_access=access[1],
            slot_s=20e-6,
            sifs_s=10e-6,
            eifs_lead_s=10e-6 + 192e-6 + 8 * 14 / 1e6,
        )

    return build


@pytest.fixture
def seven(hotspot: Callable[..., Scenario]) -> Callable[..., Scenario]:
    """Return a function that builds the 802.11e paper's cell as a normalised scenario.

    The arguments are (uploads, downloads) of each station.
    """

    def build(*connections: tuple[int, int]) -> Scenario:
        scenario = hotspot(*(connections or ((0, 1),) * 7))
        scenario["name"] = "seven"
        scenario["cell"]["mac_header_bytes"] = 30
        scenario["cell"]["ap"]["queue_packets"] = 1000
        for flow in scenario["flows"]:
            flow["tcp"].update(congestion="newreno", window_packets=4, delayed_ack=False)
        return scenario

    return build


def _from_positions(
    nodes: dict[str, tuple[float, float]],
    links: dict[str, tuple[str, str]],
    transmission_range_m: float,
    sensing_range_m: float,
) -> ConflictGraph:
    """Return a conflict graph from the positions of the nodes.

    Two links conflict if their transmitters are within carrier-sensing range of each other. They
    also conflict if they share a node, since a node cannot send and receive simultaneously.

    Parameters
    ----------
    nodes : mapping of str to (float, float)
        Positions of the nodes. [m]
    links : mapping of str to (str, str)
        Transmitter and receiver of each link.
    transmission_range_m, sensing_range_m : float
        Largest distance at which a frame is received, and largest distance at which a frame is
        sensed. [m]

    Raises
    ------
    NetworkError
        If a link names an unknown node, has the same node at both ends, or is longer than the
        transmission range; or if a range is not positive.
    """
    for name, reach in (("transmission", transmission_range_m), ("sensing", sensing_range_m)):
        if not reach > 0.0:
            raise NetworkError(f"{name} range = {reach:g} m is not positive")
    for name, ends in links.items():
        for node in ends:
            if node not in nodes:
                raise NetworkError(f"link {name}: there is no node {node}")
        if ends[0] == ends[1]:
            raise NetworkError(f"link {name}: node {ends[0]} is at both of its ends")
        length = dist(nodes[ends[0]], nodes[ends[1]])
        if length > transmission_range_m:
            raise NetworkError(
                f"link {name} is {length:g} m long, beyond the transmission range of "
                f"{transmission_range_m:g} m"
            )
    names = list(links)
    conflicts = [
        (link, second)
        for number, link in enumerate(names)
        for second in names[:number]
        if set(links[link]) & set(links[second])
        or dist(nodes[links[link][0]], nodes[links[second][0]]) <= sensing_range_m
    ]
    return from_edges(names, conflicts)


@pytest.fixture
def from_positions() -> Callable[..., ConflictGraph]:
    """Return a function that builds conflict graphs from positions. `csma.node` must give the same
    graphs.
    """
    return _from_positions
