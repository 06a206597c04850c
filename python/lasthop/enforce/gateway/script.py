"""A gateway as one POSIX shell script, for a router that has no Python.

The script runs exactly the commands that `plan` prints. Commands for stations that join or leave
are generated from the requests of the layout, with shell variables instead of addresses and
numbers. A configuration with a setting that the script does not support is refused.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from math import ceil
from shlex import quote

from lasthop.enforce.gateway.config import AccessPoint, Gateway, KnownStation
from lasthop.enforce.gateway.layout import MAJOR, Layout, blocks_of, ifb_name
from lasthop.enforce.gateway.shaper import plan
from lasthop.enforce.gateway.tables import Classes
from lasthop.errors import UserError
from lasthop.linux import leaf_queue, tc
from lasthop.linux.changes import mac_of

ASKED = 5
"""Largest number of stations per access point that the script pings each second. [-]"""
GROW, RISE = 1.04, 1.01
"""Factors by which C grows per second. The first factor is used if the queueing delay is at most
the lowest threshold of the estimator. The second factor is used if the queueing delay is between
the lowest and the middle threshold. [-]"""
FALL, FALL_AT_ONCE = 0.95, 0.7
"""Factors that reduce C once per second. If the queueing delay exceeds the middle threshold of the
estimator, C is multiplied by the first factor. If it exceeds the highest threshold, C becomes the
measured throughput multiplied by the second factor. [-]

C changes once per second, after a reply to a recent ping. A growth of 4 % builds a queueing delay
of at most 40 ms, the default threshold, before the script detects it.
"""
IDLE_S = 60
"""Pause of the script's loop if no rate is estimated and no stations are searched for. [s]"""
RUN = "/var/run"
"""Parent of the script's state directory. On OpenWrt this directory is in memory."""

EXAMPLE = "02:00:5e:12:34:99"
"""MAC address in the requests from which the script is generated. In the script, a shell variable
replaces this MAC address."""
TRIED_CLASS = tc.classid(1, 1)
EXAMPLE_BPS = 87_654_321 * 8
EXAMPLE_QUANTUM = 7_654_321
EXAMPLE_LEAF = 0xABCD


def script(gateway: Gateway) -> str:
    """Return the text of the shell script for a gateway.

    Raises
    ------
    UserError
        If a setting needs `lasthop gateway` itself.
    """
    refuse_what_needs_python(gateway)
    text = (files("lasthop.enforce.gateway") / "share" / "gateway.sh").read_text(encoding="utf-8")
    places = {
        "@PACKAGES@": packages(gateway),
        "@ASKED@": str(ASKED),
        "@GROWTH@": percent(GROW),
        "@INCREASE@": percent(RISE),
        "@DECREASE@": percent(FALL),
        "@BACK_OFF@": f"{FALL_AT_ONCE * 100:.0f} %",
        "@GROW@": str(GROW),
        "@RISE@": str(RISE),
        "@FALL@": str(FALL),
        "@FALL_AT_ONCE@": str(FALL_AT_ONCE),
    }
    for place, value in places.items():
        text = text.replace(place, value)
    text = text.replace("#@settings\n", "\n".join(settings(gateway)) + "\n")
    return text.replace("#@commands\n", "\n\n".join(functions(gateway)) + "\n")


def percent(factor: float) -> str:
    """Return the relative change that a factor causes, in percent and without sign: ``5 %`` for the
    factor 0.95."""
    return f"{abs(factor - 1) * 100:.0f} %"


def refuse_what_needs_python(gateway: Gateway) -> None:
    """Raise `UserError` for the first setting that a script does not support."""
    neighbours = gateway.discovery.neighbours
    for ap in gateway.aps:
        where = f"`gateway.ap.{ap.name}.snmp`"
        if ap.snmp is not None:
            raise UserError(f"{where}: a script cannot ask an access point")
        if ap.station_rates:
            raise UserError(
                f"`gateway.ap.{ap.name}.station_rates`: a script cannot read rates of stations",
                "give `gateway.station.NAME.rate`",
            )
        if ap.rate_bps is None and ap.wce.rule != "agreement":
            raise UserError(
                f'`gateway.wce.rule`: a script has no "{ap.wce.rule}"; possible is "agreement"'
            )
    if gateway.discovery.leases is not None:
        raise UserError(
            "`gateway.discover.leases`: a script finds stations only in the table of neighbours",
            "gateway.discover.neighbours = true finds every device with an address at `lan`",
        )
    if gateway.groups:
        raise UserError(
            f"`gateway.group.{gateway.groups[0].name}`: a script does not support groups",
            "run the commands of `lasthop gateway plan`, which set up groups",
        )
    if len({ap.udp for ap in gateway.aps}) > 1:
        raise UserError(
            "`gateway.ap.NAME.udp`: a script treats UDP equally at all access points",
            "set `gateway.udp`, and no `udp` of an access point",
        )
    shared = [lan for lan in gateway.lans if sum(ap.interface == lan for ap in gateway.aps) > 1]
    by_mac = any(station.mac for station in gateway.stations)
    if shared and (neighbours or by_mac):
        raise UserError(
            f"interface {shared[0]}: a script cannot determine the access point of a station that "
            "it finds",
            "give each access point an interface, or each station `ap` and `address`",
        )


def packages(gateway: Gateway) -> str:
    """Return the names of the OpenWrt packages that the script needs."""
    names = ["ip-tiny", "tc-tiny", "kmod-sched-core", "kmod-ifb"]
    if of_the_file(gateway).hashing_aps():
        names.append("kmod-sched-bpf")
    if gateway.discipline in ("sfq", "codel"):
        names.append("kmod-sched")
    if gateway.discipline == "cake":
        names.append("kmod-sched-cake")
    return ", ".join(names)


# -- settings ------------------------------------------------------------------------------------


def settings(gateway: Gateway) -> Iterator[str]:
    """Yield the shell variables that configure the script."""
    ifb = ifb_name(gateway)
    to_block, from_block = blocks_of(gateway.lan)
    layout = Layout(gateway, tc.Device(ifb, 0))
    trial = zlib.crc32(ifb.encode())
    finds = gateway.discovery.neighbours or any(station.mac for station in gateway.stations)
    interval = max(1, ceil(gateway.discovery.interval_s))
    is_estimated = any(ap.rate_bps is None for ap in gateway.aps)
    values = {
        "DIR": f"{RUN}/lasthop-{gateway.lan}",
        "IFB": ifb,
        "IFB_MAC": mac_of(ifb).hex(":"),
        "FROM_BLOCK": str(from_block.number),
        "TRY": f"lh-try-{trial:08x}",
        "TRY_MAC": mac_of(f"try {ifb}").hex(":"),
        "TRY_BLOCK": str(to_block.number ^ 0x80000000),
        "LEAF": layout.discipline,
        "DISCOVER": str(interval) if finds else "",
        "ABSENCE": str(ceil(gateway.discovery.absence_s)),
        "FIRST_LEAF": str(layout.next_leaf),
        "ESTIMATES": "yes" if is_estimated else "",
        "PAUSE": str(1 if is_estimated else interval if finds else IDLE_S),
        "ASKED": str(ASKED),
    }
    for name, value in values.items():
        yield f"{name}={quote(value)}"


# -- functions -----------------------------------------------------------------------------------


def functions(gateway: Gateway) -> Iterator[str]:
    """Yield the shell functions that depend on the configuration."""
    layout = of_the_file(gateway)
    names = dict.fromkeys((gateway.wan, *gateway.lans))
    yield function("check_interfaces", [f"is_there {quote(name)}" for name in names])
    yield function(
        "set_up",
        [
            tried(line)
            for line in plan(gateway, by_mac=False)
            if line[0] != "#" and "gso_max_segs" not in line
        ],
    )
    yield function(f"can_{layout.discipline}", [try_leaf(layout)])
    yield function("set_rate", [set_rate(layout)])
    yield function("add_leaf", cases(layout))
    yield function("remove_leaf", [remove_leaf(layout)])
    add, remove = entries(gateway)
    yield function("add_mac", [" &&\n        ".join(add)])
    yield function("remove_mac", [" &&\n        ".join(remove)])
    yield printing("listed", list(listed(layout)))
    yield printing("known", list(known(gateway, layout)))
    yield printing("estimated", list(estimated(layout)))
    aps = {ap.interface: layout.ap_class[ap.name] for ap in gateway.aps}
    lines = [f"heard_at {tc.shown(number)} {quote(name)}" for name, number in aps.items()]
    yield function("neighbours", lines)


def function(name: str, lines: Sequence[str]) -> str:
    """Return the text of a shell function with this name and these lines."""
    return "\n".join([f"{name}() {{", *(f"    {line}" for line in lines), "}"])


def printing(name: str, lines: Sequence[str]) -> str:
    """Return the text of a shell function that prints these lines."""
    if not lines:
        return function(name, [":"])
    return function(name, [f"echo {quote(line)}" for line in lines])


def words(text: str) -> list[str]:
    """Split a command of `plan` into its words. Bytecode in quotes is one word."""
    head, bytecode, code = text.partition(" bytecode '")
    return head.split(" ") + (["bytecode", code.removesuffix("'")] if bytecode else [])


def quoted(text: str, variables: Mapping[str, str] | None = None) -> str:
    """Return a command of `plan`, quoted for the shell. Words in `variables` are replaced by shell
    variables."""
    places = variables or {}
    return " ".join(places.get(word) or quote(word) for word in words(text))


def tried(text: str) -> str:
    """Return the shell command that runs a command of `plan` and stops the script if it fails."""
    command = words(text)
    if command[0] == "ethtool":
        return f"no_gro {quote(command[2])}"
    return f"try {quoted(text)}"


def of_the_file(gateway: Gateway) -> Layout:
    """Return the layout with the stations of the configuration file, as in `plan`."""
    layout = Layout(gateway, tc.Device(ifb_name(gateway), 0))
    for station in gateway.stations:
        if station.can_be_placed:
            layout.join(station)
    return layout


def try_leaf(layout: Layout) -> str:
    """Return the shell command that tests on another interface whether the kernel supports the
    queue of leaves."""
    device, queue = tc.Device("TRY", 0), layout.queues[layout.gateway.aps[0].name, None]
    return quoted(leaf_queue.add(device, TRIED_CLASS, queue).command, {"TRY": '"$TRY"'})


def set_rate(layout: Layout) -> str:
    """Return the shell command that sets the rate ($2) and burst ($3) of a class ($1). [bit/s,
    bytes]"""
    ap = layout.gateway.aps[0]
    text = layout.rate(ap, EXAMPLE_BPS).command
    command = words(text)
    burst = command[command.index("burst") + 1]
    number = tc.shown(layout.ap_class[ap.name])
    places = {number: '"$1"', f"{EXAMPLE_BPS}bit": '"${2}bit"', burst: '"${3}b"'}
    return quoted(text, places)


def cases(layout: Layout) -> list[str]:
    """Return the lines of a shell `case` statement, which add a leaf ($2) with a quantum ($3, in
    bytes) to an access point ($1)."""
    lines = ['case "$1" in']
    for ap in layout.gateway.aps:
        leaf = tc.classid(MAJOR, EXAMPLE_LEAF)
        places = {tc.shown(leaf): '"$2"', str(EXAMPLE_QUANTUM): '"$3"'}
        texts = [request.command for request in layout.add_leaf(ap, leaf, EXAMPLE_QUANTUM)]
        lines.append(f"{tc.shown(layout.ap_class[ap.name])})")
        lines.append("    " + " &&\n            ".join(quoted(each, places) for each in texts))
        lines.append("    ;;")
    return [*lines, "esac"]


def remove_leaf(layout: Layout) -> str:
    """Return the shell command that removes a leaf ($1)."""
    leaf = tc.classid(MAJOR, EXAMPLE_LEAF)
    return quoted(tc.del_class(layout.ifb, leaf).command, {tc.shown(leaf): '"$1"'})


def entries(gateway: Gateway) -> tuple[list[str], list[str]]:
    """Return the shell commands that add a MAC address to the u32 tables, and those that remove it.

    The commands that add have these arguments: the MAC address ($1); its last byte ($2); its 32-bit
    words as source ($3, $4) and as destination ($5, $6); its entry number in the hash bucket ($7);
    the HTB classes to and from the station ($8, $9). The commands that remove have two arguments:
    the hash bucket ($1) and the entry number in the bucket ($2).
    """
    layout = Layout(gateway, tc.Device(ifb_name(gateway), 0))
    assert layout.tables is not None
    leaf, uplink = (tc.classid(MAJOR, EXAMPLE_LEAF - k) for k in (0, 1))
    add = layout.tables.place("example", Classes(leaf, uplink), [EXAMPLE])
    remove = layout.tables.leave("example")
    last = f"{tc.mac_bytes(EXAMPLE)[-1]:x}"
    words_of = [
        f"0x{each.value:08x}" for way in (True, False) for each in tc.mac_matches(EXAMPLE, way)
    ]
    variables = dict(zip(words_of, ('"$3"', '"$4"', '"$5"', '"$6"'), strict=True))
    variables |= {tc.shown(leaf): '"$8"', tc.shown(uplink): '"$9"'}

    def places(text: str, bucket: int, node: int) -> dict[str, str]:
        results = dict(variables)
        for word in words(text):
            table, *rest = word.split(":")
            if rest == [last, "1"]:
                results[word] = f'"{table}:${bucket}:${node}"'
            elif rest == [last, ""]:
                results[word] = f'"{table}:${bucket}:"'
        return results

    return (
        [quoted(each.command, places(each.command, 2, 7)) for each in add],
        [quoted(each.command, places(each.command, 1, 2)) for each in remove],
    )


# -- tables --------------------------------------------------------------------------------------


def listed(layout: Layout) -> Iterator[str]:
    """Yield one line per IP address of the configured stations, in the script's format. A line
    contains the script's short name of the station."""
    for number, name in enumerate_names(layout.gateway):
        member = layout.members.get(name)
        if member is None:
            continue
        ap = tc.shown(layout.ap_class[member.ap.name])
        classes = f"{int(member.has_own_leaf)} {tc.shown(member.leaf)} {tc.shown(member.uplink)}"
        for address in member.addresses:
            yield f"{number} {ap} {classes} {address.version} {address} - - 0 1"


def enumerate_names(gateway: Gateway) -> Iterable[tuple[str, str]]:
    """Yield the short name that the script uses for each station, with the station's name in the
    configuration."""
    return ((f"s{k}", station.name) for k, station in enumerate(gateway.stations, start=1))


def known(gateway: Gateway, layout: Layout) -> Iterator[str]:
    """Yield the lines about access points, MAC addresses, and ignored addresses, in the script's
    format."""
    for ap in gateway.aps:
        number, result = tc.shown(layout.ap_class[ap.name]), int(gateway.discovery.neighbours)
        anybody = KnownStation("anybody", ap.name, ())
        own, leaf, uplink = classes_of(layout, ap)
        yield f"A {number} {own} {leaf} {uplink} {layout.quantum(ap, anybody)} {result}"
    numbers = {name: number for number, name in enumerate_names(gateway)}
    for station in gateway.stations:
        if station.mac is not None:
            ap_is = gateway.ap(station.ap) if station.ap is not None else gateway.aps[0]
            number = tc.shown(layout.ap_class[station.ap]) if station.ap is not None else "-"
            quantum = layout.quantum(ap_is, station)
            place = place_of(layout, station)
            yield f"K {station.mac} {numbers[station.name]} {number} {quantum} {place}"
    for address in sorted(map(str, gateway.discovery.ignore)):
        yield f"I {address}"


def place_of(layout: Layout, station: KnownStation) -> str:
    """Return the hash bucket of a station's MAC address and the address's entry number in the
    bucket, or dashes if the station has no MAC address."""
    assert layout.tables is not None
    _, known = layout.tables.placed.get(station.name, (None, {}))
    node = known.get(station.mac or "")
    return "- -" if node is None else f"{tc.mac_bytes(station.mac or '')[-1]:x} {node:x}"


def classes_of(layout: Layout, ap: AccessPoint) -> tuple[int, str, str]:
    """Return three values for an access point. The first value is 1 if each station has a leaf of
    its own, else 0. The other values are the two classes that all stations share, or dashes if
    stations share no classes.
    """
    fixed = layout.fixed[ap.name]
    match ap.fairness:
        case "flow":
            shared = layout.ap_class[ap.name] if len(fixed) > 1 else fixed[0]
            return 0, tc.shown(shared), tc.shown(shared)
        case "direction":
            return 0, tc.shown(fixed[0]), tc.shown(fixed[1])
        case _:
            return 1, "-", "-"


def estimated(layout: Layout) -> Iterator[str]:
    """Yield a line for each access point with an estimated rate: class, limits of C [bit/s],
    thresholds [ms]."""
    for ap in layout.gateway.aps:
        if ap.rate_bps is None:
            number, most = tc.shown(layout.ap_class[ap.name]), whole_bytes(ap.max_bps)
            least = whole_bytes(ap.wce.min_bps)
            bands = (f"{threshold_s * 1e3:g}" for threshold_s in ap.wce.thresholds_s)
            yield f"E {number} {least} {most} {' '.join(bands)}"


def whole_bytes(rate_bps: int) -> int:
    """Return a rate rounded down to whole bytes per second, as the kernel stores it. [bit/s]"""
    return max(rate_bps // 8, 1) * 8
