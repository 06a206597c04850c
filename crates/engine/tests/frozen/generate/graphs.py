"""Random networks of wireless links with a conflict graph."""

from dice import Dice, Table, ms
from parts import head, tcp


def conflict_graph(d: Dice) -> Table:
    """Draw wireless links and the conflicts between them."""
    kind = d.one(("adaptive", "adaptive", "legacy", "dcf"))
    csma = d.some(
        0.3,
        {
            "service_rate": lambda: d.number(200, 1000),
            "overhead": lambda: f"{d.whole(0, 400)} us",
            "transmission": lambda: d.one(("exponential", "uniform", "constant")),
            "attempts": lambda: d.whole(1, 7),
            "queue": lambda: d.whole(5, 200),
        },
    )
    if kind != "adaptive" or d.flag():
        csma["access"] = kind
    if kind != "dcf" and d.chance(0.4):
        csma["backoff"] = d.one(("exponential", "uniform", "constant"))
    if kind == "dcf":
        csma |= d.some(
            0.5,
            {
                "slot": lambda: f"{d.whole(9, 30)} us",
                "difs": lambda: f"{d.whole(20, 60)} us",
                "eifs": lambda: f"{d.whole(60, 400)} us",
                "cwmin": lambda: d.one((7, 15, 31)),
                "cwmax": lambda: d.one((63, 1023)),
            },
        )
    if kind == "legacy" and d.flag():
        csma["access_intensity"] = d.number(0.5, 10)
    udp_only = d.chance(0.25)
    if kind == "adaptive":
        csma |= d.some(
            0.35,
            {
                "beta": lambda: d.number(50, 400),
                "r_per_packet": lambda: d.one((3e-05, 1e-4, 0.001)),
                "queue_unit": lambda: d.one(("packets", "bytes")),
                "r_interval": lambda: ms(d, 20, 400),
                "r_max": lambda: d.one((0.01, 0.5, "unlimited")),
                "dummy": d.flag,
            },
        )
        if d.chance(0.2):
            csma["aqm"] = d.flag()
            if csma["aqm"] is False:
                csma["r_max"] = 0.02
        if not udp_only:
            connect = d.one(("rtt", "utility", "one"))
            if connect != "rtt" or d.flag():
                csma["connections"] = connect
            if connect != "one":
                csma |= d.some(
                    0.4,
                    {
                        "connections_interval": lambda: ms(d, 100, 500),
                        "rounding": lambda: d.one(("down", "nearest")),
                        "smoothing": lambda: d.number(0, 0.8),
                    },
                )
            if connect == "rtt" and d.flag():
                csma["k"] = d.number(5, 40)
            if connect == "utility" and d.flag():
                if d.flag():
                    csma["fairness"] = d.number(0.5, 3)
                else:
                    csma["marginal_utility"] = [[10, 1], [100, d.number(0.001, 0.1)]]
    if not udp_only and d.chance(0.4):
        csma["acks"] = d.one(("priority", "contend"))
    if d.chance(0.25):
        csma["connected"] = False
    names = [f"l{number}" for number in range(d.whole(2, 5))]
    routes: list[list[str]] = [[name] for name in names]
    if d.chance(0.4):
        spots = [f"n{number}" for number in range(len(names) + 1)]
        csma["node"] = {
            spot: {"x": f"{200 * index + d.whole(0, 40)} m"}
            | d.some(0.5, {"y": lambda: f"{d.whole(0, 100)} m"})
            for index, spot in enumerate(spots)
        }
        csma["link"] = {
            name: {"from": spots[index], "to": spots[index + 1]}
            | d.some(0.2, {"error": lambda: d.number(0, 0.3)})
            for index, name in enumerate(names)
        }
        csma |= d.some(
            0.6,
            {
                "transmission_range": lambda: f"{d.whole(250, 300)} m",
                "sensing_range": lambda: f"{d.whole(300, 700)} m",
                "interference_range": lambda: f"{d.whole(200, 500)} m",
            },
        )
    else:
        made: Table = {}
        for index, name in enumerate(names):
            rest: list[str] = [other for other in names[index + 1 :] if d.chance(0.6)]
            link: Table = {"conflicts": rest} if rest else {}
            hidden: list[str] = [o for o in names[index + 1 :] if o not in rest and d.flag()]
            if hidden and d.flag():
                link["disturbs"] = hidden
            if kind == "adaptive" and d.chance(0.15):
                link["r"] = d.number(0.001, 0.03)
            if d.chance(0.2):
                link["error"] = d.number(0, 0.3)
            made[name] = link
        csma["link"] = made
    if len(names) > 2 and d.flag():
        routes = [routes[0] + routes[1], *routes[2:]]
    flows: Table = {}
    for index, route in enumerate(routes):
        flow: Table = {"route": list(route)} | d.some(
            0.15,
            {
                "start": lambda: ms(d, 0, 300),
                "stop": lambda: ms(d, 900, 1400),
                "start_spread": lambda: ms(d, 0, 300),
            },
        )
        if udp_only or d.chance(0.2):
            flow["udp"] = d.one(
                (
                    f"{d.whole(100, 2000)} kbps",
                    "greedy",
                    {"rate": f"{d.whole(100, 2000)} kbps", "arrivals": "poisson"},
                )
            )
        else:
            flow |= tcp(d, 0.1)
            if csma.get("connections") == "utility":
                flow |= d.some(
                    0.3,
                    {
                        "weight": lambda: d.number(0.5, 3),
                        "marginal_utility": lambda: [[5, 2], [300, 0.01]],
                    },
                )
        flows[f"user-{index}"] = flow
    table = head(d, 1500, 4000)
    if isinstance(recorded := table.get("record"), dict):
        recorded.pop("frames", None)
        if not recorded:
            del table["record"]
    if d.chance(0.6):
        table["tcp"] = {"congestion": "reno", "window": 1000, "delayed_ack": False}
        table["tcp"] |= d.some(
            0.5, {"initial_rto": lambda: "3 s", "mss": lambda: f"{d.whole(400, 1460)} B"}
        )
    if d.chance(0.25):
        table["link"] = {"wire": {"from": "away", "to": "home", "rate": "5 Mbps", "queue": 30}}
    return table | {"csma": csma, "flow": flows}
