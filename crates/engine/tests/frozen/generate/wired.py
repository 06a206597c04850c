"""Random wired networks, with or without a cell in front."""

from collections.abc import Sequence
from itertools import pairwise

from cells import hot_spot
from dice import Dice, Table, Value, ms
from parts import head, queue, tcp


def hosts(d: Dice, part: float) -> Table:
    """Draw settings of flows between wired nodes."""
    table = d.some(
        part,
        {
            "access": lambda: d.one(("unlimited", "2 Mbps", "10 Mbps")),
            "access_spread": lambda: d.number(0, 0.3),
            "jitter": lambda: d.one(("packet", ms(d, 0, 2))),
            "rtt": lambda: ms(d, 60, 120),
            "rtt_spread": lambda: ms(d, 0, 30),
            "start_spread": lambda: ms(d, 0, 300),
        },
    )
    if table.get("access", "unlimited") == "unlimited":
        table.pop("access_spread", None)
    return table


def web(d: Dice) -> Value:
    """Draw web traffic."""
    if d.chance(0.25):
        return d.whole(2, 40)
    return {"connections": d.whole(2, 60)} | d.some(
        0.6,
        {
            "arrivals": lambda: d.one(("packmime", "poisson", "constant")),
            "request": lambda: d.one(("packmime", f"{d.whole(1, 3000)} B")),
            "response": lambda: d.one(("packmime", f"{d.whole(1, 60000)} B")),
            "server_delay": lambda: d.one(("packmime", ms(d, 0, 50))),
        },
    )


def wired_flow(d: Dice, ends: Table, web_part: float) -> Table:
    """Draw a class of flows between wired nodes."""
    table: Table = dict(ends) | hosts(d, 0.35)
    start = d.whole(0, 300)
    table |= d.some(0.2, {"start": lambda: f"{start} ms", "stop": lambda: f"{start + 700} ms"})
    if d.chance(web_part):
        table |= {"web": web(d)} | tcp(d, 0.1)
        for key in ("rtt_spread", "access_spread", "start_spread"):
            table.pop(key, None)
    elif d.chance(0.25):
        udp: Value = f"{d.whole(100, 3000)} kbps"
        if d.flag():
            udp = {"rate": udp} | d.some(
                0.5,
                {
                    "arrivals": lambda: d.one(("constant", "poisson")),
                    "packet": lambda: f"{d.whole(20, 1472)} B",
                    "header": lambda: f"{d.whole(0, 40)} B",
                },
            )
        table["udp"] = udp
        table |= d.some(0.3, {"count": lambda: d.whole(1, 4)})
    else:
        table |= tcp(d, 0.2)
        table |= d.some(0.4, {"count": lambda: d.whole(2, 6), "segments": lambda: d.whole(1, 300)})
    if table.get("count", 1) == 1:
        table.pop("rtt_spread", None)
        table.pop("access_spread", None)
    return table


def wired(d: Dice, web_part: float = 0.15) -> Table:
    """Draw a wired network."""
    table = head(d, 600, 1500)
    if d.chance(0.6):
        table["tcp"] = tcp(d) or {"window": 60}
    rate = f"{d.number(2, 12):g} Mbps"
    shape: Table = {"bottleneck": rate, **hosts(d, 0.4)}
    if d.chance(0.5):
        shape["delay"] = ms(d, 0, 8)
    classes: Table = {}
    kind = d.one(("dumbbell", "parking_lot", "links"))
    match kind:
        case "dumbbell":
            table["dumbbell"] = shape | {"flows": d.whole(1, 12)}
            if d.flag():
                classes = {"more": wired_flow(d, {}, web_part)}
                if d.flag():
                    classes["back"] = wired_flow(d, {"from": "right", "to": "left"}, web_part)
            if d.chance(0.8):
                table["queue"] = queue(d)
        case "parking_lot":
            hops = d.whole(1, 4)
            table["parking_lot"] = shape | {
                "hops": hops,
                "flows": d.whole(0, 5),
                "cross": d.whole(1, 4),
            }
            if d.flag():
                ends: Table = {"from": f"r{hops - 1}", "to": f"r{hops}"}
                classes = {"some": wired_flow(d, ends, web_part)}
            if d.chance(0.8):
                table["queue"] = queue(d)
        case _:
            table["link"] = links(d, ("a", "b", "c", "d"))
            classes = {
                "one": wired_flow(d, {"from": "a", "to": "d"}, web_part),
                "two": wired_flow(d, {"from": "d", "to": "b"}, web_part),
            }
    if classes:
        table["flow"] = classes
    return table


def links(d: Dice, nodes: Sequence[str]) -> Table:
    """Draw wired links that form a chain."""
    made: Table = {}
    for source, sink in pairwise(nodes):
        made[f"{source}-{sink}"] = link = {"from": source, "to": sink} | d.some(
            0.6,
            {
                "rate": lambda: d.one(("unlimited", "2 Mbps", "6 Mbps", "20 Mbps")),
                "delay": lambda: ms(d, 0, 10),
                "queue": lambda: queue(d),
                "back_queue": lambda: queue(d),
                "loss": lambda: d.number(0, 0.05),
            },
        )
        if link.get("rate", "unlimited") == "unlimited":
            link.pop("queue", None)
            link.pop("back_queue", None)
    return made


FLOWS = ("upload", "download", "udp_up", "udp_down", "sensor_up", "sensor_down")


def attached(d: Dice) -> Table:
    """Draw a cell whose wire ends at a node of a wired network."""
    table = hot_spot(d, 0.1)
    table["cell"]["node"] = "b"
    table["link"] = links(d, ("b", "c", "d"))
    if d.chance(0.7):
        table["flow"] = {"beside": wired_flow(d, {"from": "d", "to": "b"}, 0.2)}
    inner = table["station"]
    assert isinstance(inner, dict)
    for flows in inner.values():
        assert isinstance(flows, dict)
        for key, flow in flows.items():
            if key in FLOWS and isinstance(flow, dict) and d.chance(0.7):
                flow["server"] = d.one(("c", "d"))
    if d.chance(0.3):
        table["vsb"] = {"fairness": d.one(("flow", "station"))}
    return table
