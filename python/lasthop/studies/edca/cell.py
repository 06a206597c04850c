"""The cell of paper 003 (section 6, table 2), and the quantities of its figures.

Seven stations have 802.11b cards at 11 Mb/s. MAC ACKs are sent at 2 Mb/s. Each frame has 30 bytes
of MAC header and 8 bytes of SNAP header. TCP is NewReno with segments of 1460 bytes, immediate ACKs
and a receive window of 4 packets. Queues never overflow, and the wire has no delay.
"""

from collections.abc import Mapping
from typing import Any

from lasthop.answers.digits import plain
from lasthop.studies.study import Quantity, Run, Runs, mean_reading, reading, require

CWMINS = (3, 7, 15, 31, 63, 127, 255)
"""Values of CWmin in the paper's sweeps. [slots]"""

CWMIN = 31
"""CWmin of 802.11b, used where the paper varies another parameter. [slots]"""

STATIONS = 7

WINDOW = 4
"""Receive window of each TCP connection. [packets]"""

DIRECTIONS = ("down", "up")

MIN_RTO = "1 s"
"""Minimum retransmission timeout, which the paper does not state.

The value is that of RFC 6298. ns-2 and Linux use 200 ms. With 200 ms, senders have spurious
timeouts if many stations contend. This contradicts assumption A4. Studies ``fig05``, ``fig09`` and
``fig12`` show the effect.
"""

REPLICATIONS = 30

PIFS: Mapping[str, Any] = {"aifsn": 1, "cwmin": 0, "cwmax": 0}
"""Access parameters of an access point that sends after PIFS without backoff (section 5.1)."""

Tree = Mapping[str, Any]


def scenario(
    direction: str,
    *,
    ap: int | Tree = CWMIN,
    station: int | Tree = CWMIN,
    stations: int = STATIONS,
    tcp: Tree | None = None,
    wire: Tree | None = None,
) -> dict[str, Any]:
    """Return the cell with one connection per station.

    Parameters
    ----------
    direction : str
        ``"down"`` or ``"up"``.
    ap, station : int or mapping
        CWmin of the access point and of each station [slots], or a table of access parameters in
        the grammar of scenario files.
    stations : int
        Number of stations.
    tcp, wire : mapping, optional
        Settings of these tables that replace those of the paper; by default none is replaced.
    """
    accesses = [{"cwmin": each} if isinstance(each, int) else dict(each) for each in (ap, station)]
    tables = {"AP": accesses[0], "stations": accesses[1], "TCP": tcp or {}, "wire": wire or {}}
    words = [f"{where} {_words(table)}" for where, table in tables.items() if table]
    return {
        "name": f"{stations} {direction}loads: {', '.join(words)}",
        "duration": "200 s",
        "replications": REPLICATIONS,
        "cell": {
            "phy": "802.11b",
            "control_rate": "2 Mbps",
            "mac_header": "30 B",
            "llc": "8 B",
            "ap": {"queue": 1000, **accesses[0]},
        },
        "wire": dict(wire or {}),
        "tcp": {
            "congestion": "newreno",
            "window": WINDOW,
            "delayed_ack": False,
            "handshake": False,
            "min_rto": MIN_RTO,
            **(tcp or {}),
        },
        "station": {"station": {"count": stations, f"{direction}load": 1, **accesses[1]}},
    }


def _words(table: Tree) -> str:
    return " ".join(f"{key} {value}" for key, value in table.items())


throughput = reading("cells", "cell", "goodput_bps") / 1e6
"""Aggregate throughput of the cell. [Mb/s]"""

active = reading("cells", "cell", "active_stations")
"""Mean number of active stations, not counting the access point. [-]"""

ap_loss = reading("queues", "ap", "drop_probability")
"""Fraction of packets that the access point drops. [-]"""

ap_collisions = reading("aps", "ap", "collision_rate")
"""Collision rate of the access point. [-]"""

station_collisions = mean_reading("stations", "", "collision_rate")
"""Collision rate of a station, averaged over the stations. All stations have equal settings. [-]"""


def lossless(runs: Runs) -> None:
    """Raise an error if a queue dropped packets, because the queues of the paper never overflow."""
    for name, run in runs.items():
        require(
            float(ap_loss(run).samples.max()) == 0.0, f"run {name}: the access point drops packets"
        )


def predicted(quantity: Quantity) -> str:
    """Return the predicted value of a quantity as text."""
    return "no value" if quantity.predicted is None else plain(quantity.predicted)


def change(run: Run, reference: Run) -> str:
    """Return as text the relative difference between the throughputs of two runs, such as ``-2.1
    %``.
    """
    ratio = (throughput(run) / throughput(reference)).measured().simulated
    return "no value" if ratio is None else f"{100 * (ratio - 1):+.1f} %"


def difference(simulated: Quantity) -> str:
    """Return as text the relative difference of the simulated value from the model, such as ``-10.6
    %``.
    """
    assert simulated.predicted is not None
    return f"{100 * (float(simulated.samples.mean()) / simulated.predicted - 1):+.1f} %"
