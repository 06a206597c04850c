"""Every kind of flow is combined with every kind of element on its path. Each element must have an
effect on the flow.

The lists of flows and elements come from the schema. A test fails if a new kind of flow, a new
table, or a new key of a path has no entry in this file.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import pytest

import lasthop as lh

SCHEMA = lh.schema()
DEFS = SCHEMA["$defs"]
Tree = dict[str, Any]

RUN = {"duration": "1.5 s", "warmup": "500 ms", "replications": 1, "seed": 5}
TCP = {
    "congestion": "newreno",
    "sack": False,
    "initial_window": 2,
    "window": 12,
    "mss": "500 B",
    "min_rto": "100 ms",
}
UDP = {"packet": "500 B"}
OFFERED = "2 Mbps"
PING = {"every": "2 ms", "size": "500 B", "deadline": "400 ms"}
PING_BPS = 2e6
"""Payload of the requests. [bit/s]"""
APPLICATION = {"on": "200 ms", "off": "20 ms", "after_idle": "linux"}
"""An application that writes to TCP as fast as the path permits, with short pauses."""
BBR3 = {"congestion": "bbr3", "sack": True, "rack": True, "pacing": True}
"""BBR v3, which sets its rate by measurements of the path."""
PAGES = {
    "connections": 60,
    "arrivals": "constant",
    "request": "400 B",
    "response": "4 kB",
    "server_delay": "0 s",
}
VIDEO = {"bitrates": ["4 Mbps"], "chunk": "100 ms", "buffer": "100 s", "after_idle": "linux"}
"""A video that a player fetches as fast as the path permits."""

# ---------------------------------------------------------------------------------------- flows


@dataclass(frozen=True)
class Kind:
    """A kind of flow: whether its path is that of a station or of wires, its settings, and the
    direction of its data.
    """

    place: str
    table: str
    tree: str
    way: str = "forth"
    acks: bool = False
    greedy: bool = False
    has_call: bool = False

    def __str__(self) -> str:
        return f"{self.table} {self.tree}".strip("{} ")


def tables_in(schema: Any) -> set[str]:
    """Return the names of the tables that are accepted as the value of a key."""
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    inner = (set(), *(tables_in(branch) for branch in schema.get("oneOf", ())))
    return set().union({name} - {""}, *inner)


def words(table: str, key: str) -> list[str]:
    return DEFS[table]["properties"][key]["enum"]


STATION_FLOWS: Mapping[str, Callable[[], Iterator[tuple[Tree, bool, bool]]]] = {
    "connections": lambda: iter(
        [({}, True, False), (APPLICATION, True, False), (BBR3, True, False)]
    ),
    "datagrams": lambda: (
        (
            {"arrivals": word} | ({} if word == "greedy" else {"rate": OFFERED}),
            False,
            word == "greedy",
        )
        for word in words("datagrams", "arrivals")
    ),
    "reports": lambda: (
        ({"every": "2 ms", "size": "500 B", "transport": word}, word == "tcp", False)
        for word in words("reports", "transport")
    ),
    "call": lambda: iter([({"calls": 1}, False, False)]),
    "station_ping": lambda: iter([(PING, True, False)]),
    "station_web": lambda: iter([(PAGES, True, False)]),
    "station_stream": lambda: iter([(VIDEO, True, False)]),
}
"""Functions that yield flows of a station, by the name of the table in the schema. For each flow,
the three values are its settings, whether it has ACKs, and whether it is greedy.
"""

WIRED_FLOWS: Mapping[str, Callable[[], Iterator[tuple[Tree, bool]]]] = {
    "source": lambda: (
        ({"udp": {"rate": OFFERED, "arrivals": gaps}}, False)
        for gaps in words("source", "arrivals")
    ),
    "web": lambda: iter([({"web": PAGES}, True)]),
    "wired_call": lambda: iter([({"call": {"calls": 1}}, False)]),
    "wired_ping": lambda: iter([({"ping": PING}, True)]),
}  # fmt: skip
"""Functions that yield wired flows other than bulk TCP, by the name of the table in the schema. For
each flow, the two values are its settings, and whether it has ACKs.
"""


def station_kinds() -> Iterator[Kind]:
    makers = {name for name, table in DEFS.items() if "server" in table.get("properties", {})}
    assert makers == set(STATION_FLOWS)
    for key, schema in DEFS["station"]["properties"].items():
        for maker in tables_in(schema) & makers:
            for tree, acks, greedy in STATION_FLOWS[maker]():
                way = "forth" if key in ("upload", "udp_up", "sensor_up", "ping") else "back"
                for each in ("forth", "back") if maker == "call" else (way,):
                    own = json.dumps(tree)
                    yield Kind("station", key, own, each, acks, greedy, maker == "call")


def wired_kinds() -> Iterator[Kind]:
    carriers = {
        name
        for key, schema in DEFS["flow"]["properties"].items()
        for name in tables_in(schema)
        if key not in DEFS["tcp"]["properties"]
    }
    assert carriers == set(WIRED_FLOWS)
    yield Kind("wires", "flow", "{}", acks=True)
    yield Kind("wires", "flow", json.dumps(APPLICATION), acks=True)
    yield Kind("wires", "flow", json.dumps(BBR3), acks=True)
    for carrier in sorted(carriers):
        for tree, acks in WIRED_FLOWS[carrier]():
            kind = Kind("wires", "flow", json.dumps(tree), acks=acks, has_call="call" in tree)
            yield kind
            if kind.has_call:
                yield replace(kind, way="back")


def air_kinds() -> Iterator[Kind]:
    for kind in wired_kinds():
        # not supported over the air
        refused = ("web", "call", "ping", '"on"')
        if not any(word in kind.tree for word in refused):
            yield replace(kind, place="air")
    assert "greedy" in DEFS["source"]["properties"]["rate"]["pattern"]
    yield Kind("air", "flow", json.dumps({"udp": {"rate": "greedy"}}), greedy=True)


# ------------------------------------------------------------------------------------- elements

Measures = Mapping[str, float]
Effect = Callable[[Measures, Measures], bool]
"""Function that compares the measured values of a flow without an element and with the element. It
returns whether the element has the expected effect.
"""


@dataclass(frozen=True)
class Element:
    """A setting on the path of a flow.

    Attributes
    ----------
    tree : dict
        The setting: values by dotted key.
    effect : callable
        Function that returns whether the element has its effect on a flow, from measured values
        without and with the element. It is called only for flows whose data cross the element.
    way : str
        Packets on which the element acts: packets in the up direction or along a route ("forth"),
        packets in the opposite direction ("back"), or all packets ("both").
    on : str
        Content of the packets on which the element acts: "data", "acks", or "all".
    acks : dict
        Setting for flows of which only the ACKs cross the element; if empty, `tree` is used. The
        expected effect on such a flow is later ACKs or a lower goodput.
    base : dict
        Settings that the element requires. The runs with and without the element both have these
        settings.
    spares : str
        Kind of flow on which the element does not act, because such a flow has this setting in its
        own table.
    refused : str
        Part of the error message that is expected if a greedy source sends to the station through
        the element. If empty, no error is expected.
    """

    tree: Tree
    effect: Effect
    way: str = "both"
    on: str = "all"
    acks: Tree = field(default_factory=dict)
    base: Tree = field(default_factory=dict)
    spares: str = "-"
    refused: str = ""

    def acts_on(self, kind: Kind) -> str:
        """Return the packets of a flow on which the element acts: "data", "acks", or an empty
        text.
        """
        if self.spares in json.loads(kind.tree):
            return ""
        if self.on != "acks" and self.way in (kind.way, "both"):
            return "data"
        if self.on != "data" and kind.acks and self.way != kind.way:
            return "acks"
        return ""


def slower(before: Measures, after: Measures) -> bool:
    return after["goodput"] < 0.9 * before["goodput"] or after["latency"] > 1.1 * before["latency"]


def shorter(before: Measures, after: Measures) -> bool:
    return after["latency"] < 0.8 * before["latency"]


def lossy(before: Measures, after: Measures) -> bool:
    """Return whether a tenth of the packets is lost with the element."""
    return 0.8 < (1 - after["loss"]) / (1 - before["loss"]) < 0.95


def later(seconds: float) -> Effect:
    return lambda before, after: after["latency"] - before["latency"] > seconds


def limited(before: Measures, after: Measures) -> bool:
    """Return whether the goodput is reduced by a slow link: by a link of 500 kb/s on the path of
    the data, or by a slower link on the path of the ACKs. Pings that overload the link all miss
    their deadline, because its queue is long.
    """
    is_limited = 50e3 < after["goodput"] <= 500e3 or after["late_pings"] == 1.0
    return slower(before, after) and is_limited


SLOW, SLOW_ACKS = "500 kbps", "30 kbps"


def rate(key: str, way: str, other: str = "") -> Element:
    """Return the element that sets a rate. The rate of the other direction remains unlimited."""
    free = {other: "unlimited"} if other else {}
    return Element({key: SLOW} | free, limited, way, acks={key: SLOW_ACKS} | free)


def queue(key: str, needs: str, way: str) -> Element:
    """Return the element that shortens a queue from 40 to 2 packets. The setting `needs` is the key
    of the rate, which is set to a slow link so that packets wait in the queue.
    """
    return Element(
        {key: 2}, shorter, way, "data", base={key: 40} | ({needs: SLOW} if needs else {})
    )


def of_link(place: str, forth: str, back: str) -> dict[str, Element]:
    """Return the elements that a wire and a link have in common. The arguments `forth` and `back`
    are the keys of the rates.
    """
    return {
        forth: rate(f"{place}.{forth}", "forth", f"{place}.{back}"),
        back: rate(f"{place}.{back}", "back", f"{place}.{forth}"),
        "delay": Element({f"{place}.delay": "40 ms"}, later(0.02)),
        "loss": Element({f"{place}.loss": {"every": 10}}, lossy, on="data"),
    }


LINK = {
    **of_link("link.far", "rate", "back_rate"),
    "queue": queue("link.far.queue", "link.far.rate", "forth"),
    "back_queue": queue("link.far.back_queue", "link.far.back_rate", "back"),
}
WIRE = {
    **of_link("wire", "back_rate", "rate"),
    "queue": queue("wire.queue", "wire.rate", "both"),
    "back_queue": queue("wire.back_queue", "wire.back_rate", "forth"),
}
SHARED = {"vsb.rate": SLOW, "vsb.queue": 40}
VSB = {
    "rate": Element({"vsb.rate": SLOW}, limited),
    # pages of eight packets lose half of them in a queue of two packets, and are not faster
    "queue": Element({"vsb.queue": 2}, shorter, on="data", base=SHARED, spares="response"),
    "group": Element(
        {"vsb.group.one": {"stations": "a", "max": SLOW}}, limited, base={"vsb.rate": "20 Mbps"}
    ),
    "start": Element({"vsb.start": "2 s"}, lambda _, after: after["goodput"] > 600e3, base=SHARED),
}
SLOW_AIR = {"station.a.rate": "1 Mbps"}
STATION = {
    "rate": Element(SLOW_AIR, slower),
    "downlink_rate": Element({"station.a.downlink_rate": "1 Mbps"}, slower, "back"),
    "queue": Element(
        {"station.a.queue": 2}, shorter, "forth", "data", base={"station.a.queue": 40, **SLOW_AIR}
    ),
    "error": Element({"station.a.error": 0.5}, slower),
    "error_up": Element({"station.a.error_up": 0.5}, slower, "forth"),
    "error_down": Element({"station.a.error_down": 0.5}, slower, "back"),
    "ack_error": Element({"station.a.ack_error": 0.5}, slower, on="acks"),
    "ack_error_up": Element({"station.a.ack_error_up": 0.5}, slower, "forth", "acks"),
    "ack_error_down": Element({"station.a.ack_error_down": 0.5}, slower, "back", "acks"),
    "snr": Element({"station.a.snr": "5 dB"}, slower),
    "channel": Element({"station.a.channel.bad": {"at": "100 ms", "error": 0.5}}, slower),
    "power_save": Element(
        {"station.a.power_save": "0 s"},
        later(0.005),
        "back",
        base={"wire.delay": "30 ms"},
        refused="would never sleep",
    ),
}
RATES = {
    "constant": Element({"wire.rate.constant": SLOW}, limited),
    "trace": Element({"wire.rate.trace": [24]}, limited, acks={"wire.rate.trace": [200]}),
}
LOSSES = {
    "probability": Element({"wire.loss.probability": 0.1}, lossy, on="data"),
    "every": Element({"wire.loss.every": 10}, lossy, on="data"),
}
DISCIPLINES = {
    "red": {"min_th": 2, "max_th": 6},
    "proportional": {"slope": 0.02},
    "codel": {},
    "pi": {"target": 3, "a": 0.01, "b": 0.009},
    "pie": {},
    "fq_codel": {},
    "cake": {},
    "dualpi2": {},
}


def managed(key: str, base: Tree) -> dict[str, Element]:
    """Return elements for a limit, a threshold, and each queue discipline. Greedy sources fill only
    a plain queue.
    """
    plain = {
        word: Element(
            {f"{key}.{word}": 2}, shorter, "back", "data", base=base | {f"{key}.{word}": 40}
        )
        for word in ("limit", "threshold")
    }
    others = {
        word: Element(
            {f"{key}.{word}": own, f"{key}.limit": 40},
            lambda before, after: before != after,
            "back",
            "data",
            base=base,
            refused="does not allow",
        )
        for word, own in DISCIPLINES.items()
    }
    return plain | others


QUEUES = managed("wire.queue", {"wire.rate": SLOW, "wire.back_rate": "unlimited"})
CELL = {
    "ap_queue": Element(
        {"cell.ap_queue": 2},
        shorter,
        "back",
        "data",
        base={"cell.ap_queue": 40, **SLOW_AIR},
        spares="response",  # pages, as at the shared bottleneck
    )
}


def shape(name: str) -> dict[str, Element]:
    """Return the elements that a dumbbell and a parking lot have in common."""
    return {
        "bottleneck": rate(f"{name}.bottleneck", "both"),
        "delay": Element({f"{name}.delay": "40 ms"}, later(0.02)),
        "access": Element({f"{name}.access": SLOW}, limited, spares="web"),
        "rtt": Element({f"{name}.rtt": "100 ms"}, later(0.03)),
        "jitter": Element({f"{name}.jitter": "10 ms"}, later(0.003)),
    }


FLOW = {
    "access": Element({"flow.x.access": SLOW}, limited),
    "rtt": Element({"flow.x.rtt": "100 ms"}, later(0.03)),
    "jitter": Element({"flow.x.jitter": "10 ms"}, later(0.003)),
}
ON_AIR = {
    "error": Element({"csma.link.one.error": 0.5}, slower, on="data"),
    "conflicts": Element({"csma.link.two.conflicts": ["one"]}, slower, on="data"),
}
CSMA = {
    "queue": Element(
        {"csma.queue": 2}, shorter, on="data", base={"csma.queue": 40, "csma.service_rate": 150}
    )
}

PATHS: Mapping[str, Mapping[str, Mapping[str, Element]]] = {
    "station": {
        "wire": WIRE,
        "rate": RATES,
        "loss": LOSSES,
        "queue": QUEUES,
        "link": LINK,
        "vsb": VSB,
        "station": STATION,
        "cell": CELL,
    },
    "wires": {"link": LINK, "flow": FLOW},
    "dumbbell": {"dumbbell": shape("dumbbell")},
    "parking_lot": {"parking_lot": shape("parking_lot")},
    "air": {"link": LINK, "csma.link": ON_AIR, "csma": CSMA},
}
"""Elements of a path, by the `place` of the flow's kind and then by the table that contains the
key.
"""

ACCESS = """phy mcs streams control_rate aifsn cwmin cwmax txop_packets txop_limit attempts_short
    attempts_long voice video background aggregation"""
OTHERS: Mapping[str, str] = {
    "wire": "",
    "rate": "trace_file",
    "loss": "",
    "queue": "",
    "link": "from to",
    "vsb": "fairness udp wce ping udp_aware",
    "station": f"count tcp ping_delay ping_loss pings {ACCESS}",
    "cell": f"""{ACCESS} slot sifs preamble eifs_rate rate mac_header llc rts_threshold ack_timeout
        collider_wait countdown cf_end rate_control band width guard_interval ltf packet_padding
        coding durations eifs edca rts_longer_than beacon_interval power_save_queue queue node
        ap""",
    "flow": """from to count route weight marginal_utility access_spread rtt_spread start_spread
        start stop rate size every on off arrivals from_host to_host from_nat to_nat dscp""",
    "dumbbell": "flows access_spread rtt_spread start_spread",
    "parking_lot": "hops flows cross rate_spread access_spread rtt_spread start_spread",
    "csma.link": "disturbs r from to",
    "csma": """link node transmission_range sensing_range interference_range connected access
        service_rate overhead transmission backoff attempts slotted slot difs eifs cwmin cwmax dummy
        acks access_intensity beta r_per_packet queue_unit r_interval r_max aqm connections k
        connections_interval rounding smoothing fairness marginal_utility""",
}
"""Keys that add no element to a path, by table. They describe participants, the sharing of a
medium, or senders.
"""

NO_PATH = "format tcp udp programs record gateway interface queue"
"""Tables and keys at the top of the file that add no element to a path. The key `queue` is only a
default for other keys.
"""


def elements() -> Iterator[tuple[str, str, str]]:
    for place, tables in PATHS.items():
        for table, keys in tables.items():
            for key in keys:
                yield place, table, key


def test_each_key_of_a_table_on_a_path_is_an_element_or_is_excluded():
    flows = {"station": {key for key in DEFS["station"]["properties"] if made_by(key, "station")}}
    flows["flow"] = {"udp", "web", "call", "ping", *DEFS["connections"]["properties"]} & set(
        DEFS["flow"]["properties"]
    )
    for table in {table for tables in PATHS.values() for table in tables}:
        known = {key for tables in PATHS.values() for key in tables.get(table, ())}
        others = set(OTHERS[table].split()) | flows.get(table, set())
        assert set(DEFS[table]["properties"]) == known | others, table
        assert not known & set(OTHERS[table].split()), table


def test_each_table_of_the_file_is_on_a_path_or_is_excluded():
    single = {"name", "duration", "warmup", "replications", "seed", "stagger"}
    on_paths = {table.partition(".")[0] for tables in PATHS.values() for table in tables}
    file = set(SCHEMA["properties"])
    assert file == single | on_paths & file | set(NO_PATH.split())
    assert on_paths <= file | set(DEFS)


def made_by(key: str, table: str) -> set[str]:
    return tables_in(DEFS[table]["properties"][key]) & set(STATION_FLOWS)


# ------------------------------------------------------------------------------------- runs


def kinds_at(place: str) -> Iterator[Kind]:
    match place:
        case "station":
            yield from station_kinds()
        case "air":
            yield from air_kinds()
        case _:
            yield from (replace(kind, place=place) for kind in wired_kinds())


def scenario(kind: Kind) -> Tree:
    """Return a scenario with one flow of this kind, over a path with only the required elements."""
    tree: Tree = {**RUN, "tcp": dict(TCP), "udp": dict(UDP)}
    own = json.loads(kind.tree)
    if kind.place in ("station", "wires", "air"):
        delay = {"delay": "1 ms"} if kind.place == "wires" else {}
        tree["link"] = {"far": {"from": "near", "to": "far", **delay}}
    match kind.place:
        case "station":
            tree["cell"] = {"phy": "802.11b", "node": "near", "ap_queue": 40, "queue": 40}
            tree["station"] = {"a": {kind.table: {**own, "server": "far"}}}
        case "wires":
            tree["flow"] = {"x": {"from": "near", "to": "far", **own}}
        case "air":
            tree["csma"] = {"service_rate": 600, "aqm": False, "r_max": 8, "queue": 20}
            tree["csma"]["link"] = {"one": {}, "two": {}}
            rival = {"route": ["two"], "udp": {"rate": "1500 kbps"}}
            tree["flow"] = {"x": {"route": ["one", "far"], **own}, "y": rival}
        case shape:
            tree[shape] = {"bottleneck": "20 Mbps", "delay": "1 ms", "flows": 0}
            tree["flow"] = {"x": own}
    return tree


@cache
def measured(kind: Kind, settings: str) -> Measures:
    result = lh.simulate(scenario(kind), settings=json.loads(settings)).to_dict()
    flow = next(iter(result["flows"] or result["classes"]))
    if kind.has_call:
        name = "video-up" if kind.way == "forth" else "video-down"
        [flow] = [each for each in result["flows"] if each["name"].endswith(f"/{name}/1")]
    latencies = ("report_delay_s", "one_way_delay_s", "rtt_s", "completion_s")
    latency = next((flow[key] for key in latencies if key in flow), {"mean": float("inf")})
    loss = flow["loss_probability"]["mean"]
    is_ping = "goodput_bps" not in flow
    return {
        "goodput": PING_BPS * (1 - loss) if is_ping else flow["goodput_bps"]["mean"],
        "latency": latency["mean"],
        "loss": loss,
        "late_pings": loss if is_ping else 0.0,
    }


@pytest.mark.parametrize(("place", "table", "key"), list(elements()))
def test_each_element_has_its_effect_on_each_kind_of_flow(place, table, key):
    element = PATHS[place][table][key]
    without = []
    for kind in kinds_at(place):
        acts = element.acts_on(kind)
        own = element.acks if acts == "acks" and element.acks else element.tree
        after = json.dumps(element.base | own)
        if element.refused and kind.greedy and kind.way == "back":
            with pytest.raises(lh.ScenarioError, match=element.refused):
                measured(kind, after)
            continue
        before = measured(kind, json.dumps(element.base))
        if acts == "data":
            fine = element.effect(before, measured(kind, after))
        elif acts == "acks":
            fine = slower(before, measured(kind, after))
        else:
            # An element in the other direction also affects a call, because both share the air.
            is_shared = kind.acks or (kind.has_call and kind.place == "station")
            fine = is_shared or before == measured(kind, after)
        if not fine:
            without.append(f"{kind}: {before} {measured(kind, after)}")
    assert without == []
