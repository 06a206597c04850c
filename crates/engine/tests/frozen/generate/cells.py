"""Random cells with nodes, stations and flows, some with shares of the queue or a shared
bottleneck.
"""

from dice import Dice, Table, Value, ms
from parts import estimator, head, queue, tcp

CATEGORIES = ("best-effort", "background", "video", "voice")


PHYS = {
    "802.11b": ("1 Mbps", "2 Mbps", "5.5 Mbps", "11 Mbps"),
    "802.11g": ("6 Mbps", "12 Mbps", "24 Mbps", "36 Mbps", "54 Mbps"),
    "802.11g-long": ("9 Mbps", "18 Mbps", "36 Mbps", "48 Mbps"),
}


BASIC = {
    "802.11b": ("1 Mbps", "2 Mbps", "11 Mbps"),
    "802.11g": ("6 Mbps", "12 Mbps", "24 Mbps"),
    "802.11g-long": ("1 Mbps", "5.5 Mbps", "24 Mbps"),
}


def window(d: Dice) -> Table:
    """Draw CWmin and a CWmax that is not smaller."""
    least = d.one((0, 1, 3, 7, 15, 31, d.whole(2, 63)))
    return {"cwmin": least, "cwmax": least + d.one((0, 100, 1023 - least))}


def access(d: Dice, part: float, *, ap: bool = False) -> Table:
    """Draw EDCA parameters of best effort; each key occurs with probability `part`."""
    table = d.some(
        part,
        {
            "aifsn": lambda: d.whole(1 if ap else 2, 7),
            "txop_packets": lambda: d.whole(1, 8),
            "txop_limit": lambda: d.one(("none", ms(d, 1, 30))),
        },
    )
    return table | (window(d) if d.chance(part) else {})


def categories(d: Dice, part: float, *, ap: bool = False) -> Table:
    """Draw tables for the access categories other than best effort."""
    names = ("voice", "video", "background")
    return {name: access(d, 0.5, ap=ap) or {"aifsn": 3} for name in names if d.chance(part)}


def node(d: Dice, phy: str, part: float, *, ap: bool = False) -> Table:
    """Draw the settings that a cell, an access point and a station have in common."""
    table = access(d, part, ap=ap) | categories(d, part, ap=ap)
    return table | d.some(
        part,
        {
            "control_rate": lambda: d.one(BASIC[phy]),
            "attempts_short": lambda: d.whole(1, 8),
            "attempts_long": lambda: d.whole(1, 8),
        },
    )


def channel(d: Dice, part: float) -> Table:
    """Draw channel errors: a signal-to-noise ratio, or frame error rates."""
    if d.chance(part / 2):
        return {"snr": f"{d.number(4, 25):g} dB"}
    error = lambda: d.number(0, 0.5)  # noqa: E731
    keys = ["error", "error_up", "error_down", "ack_error", "ack_error_up", "ack_error_down"]
    return d.some(part / 2, dict.fromkeys(keys, error))


def when(d: Dice) -> Table:
    """Draw start and stop of a flow."""
    start = d.whole(0, 300)
    table: Table = {"start": f"{start} ms"} if d.chance(0.3) else {}
    if d.chance(0.2):
        table["stop"] = f"{start + d.whole(100, 800)} ms"
    if d.chance(0.3):
        table["category"] = d.one(CATEGORIES)
    return table


def connections(d: Dice) -> Value:
    """Draw the TCP connections of a station in one direction."""
    if d.chance(0.4):
        return d.whole(1, 3)
    table = {"connections": d.whole(1, 3), **when(d), **tcp(d, 0.15)}
    if d.chance(0.25):
        table["segments"] = d.whole(1, 60)
    return table


def datagrams(d: Dice) -> Value:
    """Draw the UDP traffic of a station in one direction."""
    rate = f"{d.whole(100, 4000)} kbps"
    if d.chance(0.3):
        return d.one((rate, "greedy"))
    table = d.some(
        0.4,
        {
            "packet": lambda: f"{d.whole(20, 1472)} B",
            "header": lambda: f"{d.whole(0, 40)} B",
        },
    )
    match d.one(("constant", "poisson", "greedy", "greedy rate", "")):
        case "greedy":
            table["arrivals"] = "greedy"
        case "greedy rate":
            table["rate"] = "greedy"
        case "":
            table["rate"] = rate
        case arrivals:
            table |= {"rate": rate, "arrivals": arrivals}
    return table | when(d)


def sensor(d: Dice) -> Value:
    """Draw a sensor that sends small reports."""
    every = ms(d, 20, 400)
    if d.chance(0.3):
        return every
    table = d.some(
        0.5,
        {
            "transport": lambda: d.one(("udp", "tcp")),
            "size": lambda: f"{d.whole(1, 400)} B",
            "arrivals": lambda: d.one(("poisson", "constant")),
            "deadline": lambda: ms(d, 1, 100),
        },
    )
    return {"every": every, **table, **when(d)}


def station(d: Dice, phy: str) -> Table:
    """Draw a station with flows."""
    table = d.some(
        0.25,
        {
            "count": lambda: d.whole(1, 3),
            "rate": lambda: d.one(PHYS[phy]),
            "downlink_rate": lambda: d.one(PHYS[phy]),
            "queue": lambda: queue(d),
            "tcp": lambda: tcp(d) or {"window": 20},
        },
    )
    table |= node(d, phy, 0.1) | channel(d, 0.4)
    if d.chance(0.25):
        table["channel"] = {
            f"change-{at}": {"at": f"{at} ms", **channel(d, 0.8)}
            for at in sorted({d.whole(1, 480), d.whole(1, 480)})
        }
    flows = d.some(
        0.3,
        {
            "upload": lambda: connections(d),
            "download": lambda: connections(d),
            "udp_up": lambda: datagrams(d),
            "udp_down": lambda: datagrams(d),
            "sensor_up": lambda: sensor(d),
            "sensor_down": lambda: sensor(d),
        },
    )
    return table | (flows or {"download": connections(d)})


def cell(d: Dice, phy: str, part: float) -> Table:
    """Draw the `[cell]` table."""
    table = node(d, phy, part / 2) | d.some(
        part,
        {
            "rate": lambda: d.one(PHYS[phy]),
            "rate_control": lambda: d.one(("fixed", "arf")),
            "slot": lambda: f"{d.whole(5, 30)} us",
            "sifs": lambda: f"{d.whole(5, 20)} us",
            "preamble": lambda: f"{d.whole(16, 192)} us",
            "eifs_rate": lambda: d.one(("1 Mbps", "6 Mbps")),
            "mac_header": lambda: f"{d.whole(20, 40)} B",
            "llc": lambda: f"{d.whole(0, 8)} B",
            "rts_threshold": lambda: d.one(("never", "0 B", f"{d.whole(60, 1500)} B")),
            "ack_timeout": lambda: d.one(("eifs", f"{d.whole(20, 500)} us")),
            "countdown": lambda: d.one(("dcf", "edca")),
            "cf_end": d.flag,
            "queue": lambda: queue(d),
        },
    )
    ap = d.some(
        part,
        {
            "rate": lambda: d.one(PHYS[phy]),
            "queue_order": lambda: d.one(("fifo", "mixed")),
        },
    ) | node(d, phy, part / 2, ap=True)
    if d.chance(0.7):
        at = d.one(("ap_queue", "ap.queue"))
        if at == "ap_queue":
            table["ap_queue"] = queue(d)
        else:
            ap["queue"] = queue(d)
    if ap:
        table["ap"] = ap
    return {"phy": phy, **table}


def wire(d: Dice) -> Table:
    """Draw the `[wire]` table: the wire between a cell and the server."""
    table = d.some(
        0.6,
        {
            "rate": lambda: d.one(("unlimited", "500 kbps", "5 Mbps", "100 Mbps")),
            "delay": lambda: ms(d, 0, 20),
            "queue": lambda: queue(d),
            "loss": lambda: d.number(0, 0.1),
        },
    )
    if table.get("rate", "unlimited") == "unlimited":
        table.pop("queue", None)
    return table or {"delay": "5 ms"}


def hot_spot(d: Dice, part: float = 0.25) -> Table:
    """Draw a cell with its stations."""
    phy = d.one(tuple(PHYS))
    table = head(d) | {"cell": cell(d, phy, part)}
    if d.chance(0.4):
        table["wire"] = wire(d)
    if d.chance(0.5):
        table["tcp"] = tcp(d) or {"window": 30}
    if d.chance(0.15):
        table["udp"] = {"packet": f"{d.whole(100, 1400)} B", "header": "28 B"}
    names = ("laptop", "phone", "tablet-1", "x")
    table["station"] = {name: station(d, phy) for name in names[: d.whole(1, 4)]}
    return table


def stations(table: Table) -> list[str]:
    """Return the names of the station tables."""
    inner = table["station"]
    assert isinstance(inner, dict)
    return list(inner)


def without_categories(table: Table) -> None:
    """Remove the access categories of all flows."""
    table.pop("category", None)
    for inner in table.values():
        if isinstance(inner, dict):
            without_categories(inner)


def sharing(d: Dice) -> Table:
    """Draw a cell with virtual buffer sharing."""
    table = hot_spot(d, 0.12)
    if d.chance(0.9):
        without_categories(table)
    vbs = d.some(
        0.5,
        {
            "occupancy": lambda: d.number(0.1, 0.9),
            "share_of": lambda: d.one(("queue", "service")),
            "algorithm": lambda: d.one(("corrected", "printed", "regulated")),
            "tol": lambda: d.number(0, 10),
            "update": lambda: d.one(("packet", ms(d, 1, 20))),
        },
    )
    if d.chance(0.4):
        vbs["by"] = d.one(("station", "group", "direction"))
    else:
        classes: Table = {}
        for number in range(d.whole(1, 3)):
            classes[f"class-{number}"] = {"share": d.number(0.05, 0.33)} | d.some(
                0.4,
                {
                    "station": lambda: d.one(stations(table)),
                    "direction": lambda: d.one(("up", "down")),
                    "error_from": lambda: d.number(0, 0.2),
                    "error_below": lambda: d.number(0.2, 1),
                },
            )
        vbs["class"] = classes
    at: Table = {"limit": d.whole(5, 60), "vbs": vbs}
    inner = table["cell"]
    if "ap_queue" not in inner and d.flag():
        ap = inner.setdefault("ap", {})
        assert isinstance(ap, dict)
        ap["queue"] = at
    else:
        inner["ap_queue"] = at
        if isinstance(ap := inner.get("ap"), dict):
            ap.pop("queue", None)
            if not ap:
                del inner["ap"]
    return table


def bottleneck(d: Dice) -> Table:
    """Draw a cell with a virtual shared bottleneck."""
    table = hot_spot(d, 0.12)
    vsb = d.some(
        0.4,
        {
            "queue": lambda: d.whole(1, 60),
            "rate": lambda: d.one(("estimated", f"{d.number(0.5, 10):g} Mbps")),
            "start": lambda: ms(d, 0, 400),
            "ping": lambda: f"{d.whole(28, 1500)} B",
            "udp_aware": d.flag,
        },
    )
    vsb["fairness"] = d.one(("station", "airtime", "rate", "flow", "direction"))
    if vsb.get("rate", "estimated") == "estimated" and d.chance(0.7) and (wce := estimator(d, 0.4)):
        vsb["wce"] = wce
    return table | {"vsb": vsb}
