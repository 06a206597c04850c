"""`lasthop relay`: the multi-connection layer between programs and TCP."""

import ipaddress
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lasthop.cli.boundary import note, warn
from lasthop.cli.options import JSON, cost, file_name, flag, preset, unset, whole_number
from lasthop.errors import UserError
from lasthop.extras import need

if TYPE_CHECKING:
    from lasthop.relay.settings import (
        Address,
        Bounds,
        ClientSettings,
        Forward,
        ServerSettings,
        Target,
    )

MAX_PORT = 65_535
MAX_STREAMS = 8192
MAX_HOLD = 100
MEMORIES = ((1.0, "B"), (2.0**10, "KiB"), (2.0**20, "MiB"), (2.0**30, "GiB"))
MIN_MEMORY_BYTES = 1 << 20
MAX_MEMORY_BYTES = 1 << 34
TIMES = ((1e-3, "ms"), (1.0, "s"), (60.0, "min"))
ECN = Path("/proc/sys/net/ipv4/tcp_ecn")
MAX_HOST = 255
FORMS = "HOST:PORT, with an IPv6 address in brackets"


def port(text: str, option: str) -> int:
    """Return the port number from a part of an option's value."""
    try:
        return whole_number(text, 0, MAX_PORT, "a port")
    except typer.BadParameter:
        raise UserError(f'{option} "{text}": expected a port from 0 to {MAX_PORT}') from None


def address(text: str, option: str) -> "Address":
    """Return the address from a text HOST:PORT."""
    from lasthop.relay.settings import Address

    match = re.fullmatch(r"(?:\[([^\]]+)\]|([^:\[\]]+)):(\d+)", text.strip())
    if not match:
        raise UserError(f'{option} "{text}": expected {FORMS}')
    host = match[1] or match[2]
    if len(host) > MAX_HOST:
        raise UserError(
            f"{option} {host[:20]}...: expected a host of at most {MAX_HOST} characters"
        )
    return Address(host, port(match[3], option))


def own_address(text: str, option: str) -> "Address":
    """Return a numeric address of this machine from a text HOST:PORT."""
    at = address(text, option)
    return at._replace(host=own_host(at.host, option))


def own_host(text: str, option: str) -> str:
    """Return a numeric address of this machine from a text without a port."""
    host = "127.0.0.1" if text == "localhost" else text
    try:
        if "%" in host:
            raise ValueError("a zone")
        ipaddress.ip_address(host)
    except ValueError:
        raise UserError(
            f'{option} "{text}": expected an IP address',
            "give an address such as 127.0.0.1, or 0.0.0.0 for all",
        ) from None
    return host


def forward(text: str) -> "Forward":
    """Return the forwarding rule from a text [ADDRESS:]PORT:HOST:PORT."""
    from lasthop.relay.settings import LOOPBACK, Forward

    host = r"(?:\[[^\]]+\]|[^:\[\]]+)"
    match = re.fullmatch(rf"(?:({host}):)?(\d+):({host}:\d+)", text.strip())
    if not match:
        raise UserError(
            f'--forward "{text}": expected [ADDRESS:]PORT:HOST:PORT',
            "give a forward such as 5432:db.example:5432",
        )
    listen = own_address(f"{match[1] or LOOPBACK}:{match[2]}", "--forward")
    return Forward(listen, address(match[3], "--forward"))


def target(text: str) -> "Target":
    """Return the permitted target from a text HOST:PORT; * means any host or any port."""
    from lasthop.relay.settings import Target

    host, colon, number = text.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host:
        raise UserError(
            f'--to "{text}": expected HOST:PORT',
            "give a target such as 10.0.0.0/8:22, db.example:* or *:443",
        )
    if "/" in host:
        try:
            ipaddress.ip_network(host)
        except ValueError as error:
            raise UserError(f'--to "{text}": {error}', within(host)) from None
    elif "%" in host or host.count(":") == 1 or (":" in host and not text.strip().startswith("[")):
        raise UserError(f'--to "{text}": expected {FORMS}')
    any_port = number == "*"
    return Target(None if host == "*" else host, None if any_port else port(number, "--to"))


def within(host: str) -> str | None:
    """Return a hint that names the network of `host`, if `host` is an address with a prefix length;
    else None.
    """
    try:
        return f"give the network {ipaddress.ip_interface(host).network}"
    except ValueError:
        return None


def count(text: str, option: str, most: int) -> int:
    """Return the whole number from an option; it must be from 1 to `most`."""
    try:
        return whole_number(text, 1, most, "a number")
    except typer.BadParameter:
        raise UserError(f'{option} "{text}": expected a number from 1 to {most}') from None


def seconds(text: str, option: str, least: float, most: float) -> float:
    """Return the time from an option with a unit. [s]"""
    value = measured(text, TIMES, option, "1s")
    if not least <= value <= most:
        raise UserError(f"{option} {text}: expected a time from {least:g} s to {most:g} s")
    return value


def measured(text: str, units: tuple[tuple[float, str], ...], option: str, example: str) -> float:
    """Return the number from an option with a unit, in the base unit."""
    try:
        return cost(text, units, example)
    except typer.BadParameter as error:
        raise UserError(f"{option} {error.message}") from None


def patience_of(text: str) -> float:
    """Return the longest duration of a handshake, from --patience. [s]"""
    return seconds(text, "--patience", 1.0, 3600.0)


def positive(text: str, option: str) -> float:
    """Return the number from an option; it must exceed 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise UserError(f'{option} "{text}": expected a number above 0')
    return value


def bounds_of(streams: str | None, memory: str) -> "Bounds":
    """Return the limits of a relay: its number of streams and its memory."""
    from lasthop.relay.settings import MIB, STREAM_BYTES, Bounds

    size = round(measured(memory, MEMORIES, "--memory", "48MiB"))
    if not MIN_MEMORY_BYTES <= size <= MAX_MEMORY_BYTES:
        raise UserError(f"--memory {memory}: expected a size from 1MiB to 16GiB")
    most = None if streams is None else count(streams, "--streams", MAX_STREAMS)
    if most is not None and most * STREAM_BYTES > size:
        raise UserError(
            f"--streams {most}: --memory {memory} is sufficient for at most "
            f"{size // STREAM_BYTES} streams of {STREAM_BYTES >> 10} KiB each",
            f"add --memory {-(-most * STREAM_BYTES // MIB)}MiB",
        )
    return Bounds(memory_bytes=size, streams=most)


def connections_of(text: str) -> tuple[int, int]:
    """Return the range of the number of connections, from N or FEWEST..MOST."""
    from lasthop.relay.settings import MAX_CONNECTIONS

    least, dots, most = text.partition("..")
    numbers = (
        count(least, "--connections", MAX_CONNECTIONS),
        count(most if dots else least, "--connections", MAX_CONNECTIONS),
    )
    if numbers[0] > numbers[1]:
        raise UserError(f"--connections {text}: the first number must not be above the second")
    return numbers


Key = Annotated[
    Path,
    typer.Option(
        "--key",
        metavar="FILE",
        help="Read the key of both relays from this file.",
        parser=file_name,
    ),
]
STREAMS = unset(
    "N",
    "Allow at most N streams of one client at a time; each needs 24 KiB of memory. By default "
    "2048, or fewer if --memory is not sufficient.",
)
MEMORY_OPTION = preset("48MiB", "SIZE", "Limit the total memory of all streams.", "--memory")
PATIENCE = preset(
    "10s", "TIME", "Give up a connection or a handshake that is not complete after this time."
)
METRICS_AT = unset("ADDRESS:PORT", "Serve metrics for Prometheus at this address.", "--metrics")


def key(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="New file for the key.", parser=file_name)
    ],
) -> None:
    """Write a new key, which both relays need, into a new file that only its owner can read."""
    from lasthop.relay.settings import write_key

    write_key(file)
    note(f"{file}: a new key; copy it to the other relay, and keep it secret")


def serve(
    key: Key,
    listen: str = preset("127.0.0.1:4700", "ADDRESS:PORT", "Wait for clients at this address."),
    to: list[str] | None = unset(
        "HOST:PORT",
        "Let clients connect only to this target: a name, an address or a network, and a "
        "port. The character * means any host or port. Repeatable; by default clients may "
        "connect to any target.",
    ),
    clients: str = preset("64", "N", "Serve at most N clients."),
    patience: str = PATIENCE,
    streams: str | None = STREAMS,
    memory: str = MEMORY_OPTION,
    metrics: str | None = METRICS_AT,
    as_json: bool = JSON,
) -> None:
    """Run the relay near the targets, until Ctrl-C or SIGTERM.

    By default the relay listens on loopback. The relay answers only clients that have the key.
    """
    from lasthop.relay.settings import ServerSettings, read_key

    settings = ServerSettings(
        own_address(listen, "--listen"),
        read_key(key),
        tuple(target(each) for each in to or []),
        count(clients, "--clients", 1024),
        patience_of(patience),
        bounds_of(streams, memory),
    )
    where = f"clients may connect to {', '.join(to or [])}"
    if not to:
        where = (
            "clients may connect to every address that this machine can reach, including its "
            "loopback; --to restricts them"
        )
    options = named("--listen", [settings.listen])
    listeners = ["waiting for clients at {}"]
    replace_process(
        settings, listeners, [where], {"to": to or []}, options, metrics, as_json=as_json
    )


def connect(
    server: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Address of the other relay.")],
    key: Key,
    socks: list[str] | None = unset(
        "ADDRESS:PORT",
        "Serve SOCKS 5 at this address; repeatable. By default 127.0.0.1:1080, if there is no "
        "--forward and no --tproxy.",
    ),
    forwards: list[str] | None = unset(
        "[ADDRESS:]PORT:HOST:PORT",
        "Forward a port of this machine to a target of the other relay; repeatable.",
        "--forward",
    ),
    transparent: list[str] | None = unset(
        "ADDRESS:PORT",
        "Accept connections that the kernel's TPROXY redirects to this port, to any target; "
        "repeatable; needs root.",
        "--tproxy",
    ),
    rule: str | None = unset(
        "RULE", "Set the rule for the number of connections: rtt, utility or marks. Default: rtt."
    ),
    k: str = preset("10", "K", "Use K connections per second of round-trip time.", "--k"),
    fairness: str | None = unset(
        "X", "Set the fairness parameter of the utility: 1 means log x, 2 means -1/x. Default: 1."
    ),
    weight: str | None = unset("X", "Set the weight of the utility. Default: 1."),
    probe: bool = flag(
        "--probe",
        "Measure the round-trip time by UDP probes to HOST:PORT, which firewalls must let "
        "through. While probes are not answered, measure it from the TCP connections.",
    ),
    connections: str = preset(
        "1..16",
        "N|N..N",
        "Set the smallest and the largest number of connections, or a fixed number.",
    ),
    interval: str = preset("1s", "TIME", "Change the number of connections at this interval."),
    smoothing: str = preset(
        "0", "X", "Smooth the number of connections; X is the weight of the previous number."
    ),
    hold: str = preset(
        "3",
        "N",
        "Close connections only if the rule asks for fewer connections in N successive intervals.",
    ),
    congestion: str = preset("reno", "NAME", "Use this congestion control, by the kernel's name."),
    timeout: str = preset(
        "25s", "TIME", "Consider the other relay as failed if it sends nothing for this time."
    ),
    source: str | None = unset("ADDRESS", "Connect from this address of the machine.", "--from"),
    patience: str = PATIENCE,
    streams: str | None = STREAMS,
    memory: str = MEMORY_OPTION,
    metrics: str | None = METRICS_AT,
    as_json: bool = JSON,
) -> None:
    """Run the relay near the programs, until Ctrl-C or SIGTERM.

    All streams share one pool of TCP connections in both directions; the rule sets the size of the
    pool.
    """
    from lasthop.relay.settings import (
        FIXED,
        LOOPBACK,
        RULES,
        SOCKS_PORT,
        Address,
        ClientSettings,
        Terms,
        read_key,
    )

    present = address(server, "HOST:PORT")
    if present.port == 0:
        raise UserError(f"HOST:PORT {server}: expected a port from 1 to {MAX_PORT}")
    least, most = connections_of(connections)
    if least == most and rule is not None:
        raise UserError(
            f"--rule {rule}: --connections {connections} sets a fixed number of connections: "
            "expected only one of the two options"
        )
    if least == most and probe:
        raise UserError(
            f"--probe: --connections {connections} sets a fixed number of connections, for which "
            "no round-trip time is needed: expected only one of the two options"
        )
    for option, value in (("--fairness", fairness), ("--weight", weight)):
        if value is not None and rule != "utility":
            raise UserError(f"{option} {value}: expected --rule utility as well")
    terms = Terms(
        rule=FIXED if least == most else rule_of(RULES[0] if rule is None else rule),
        k_per_s=positive(k, "--k"),
        fairness=positive("1" if fairness is None else fairness, "--fairness"),
        weight=positive("1" if weight is None else weight, "--weight"),
        connections=(least, most),
        interval_s=seconds(interval, "--interval", 0.1, 1000.0),
        smoothing=part(smoothing, "--smoothing"),
        hold=count(hold, "--hold", MAX_HOLD),
        congestion=congestion,
        timeout_s=seconds(timeout, "--timeout", 1.0, 86_400.0),
    )
    if not socks and not forwards and not transparent:
        socks = [f"{LOOPBACK}:{SOCKS_PORT}"]
    settings = ClientSettings(
        present,
        read_key(key),
        tuple(own_address(each, "--socks") for each in socks or []),
        tuple(forward(each) for each in forwards or []),
        tuple(own_address(each, "--tproxy") for each in transparent or []),
        terms,
        None if source is None else own_host(source, "--from"),
        patience_of(patience),
        bounds_of(streams, memory),
        probe,
    )
    warn(*warnings_for(settings))
    listeners = ["{} serves SOCKS 5" for _ in settings.socks]
    listeners += [f"{{}} forwards to {item.target}" for item in settings.forwards]
    listeners += ["{} accepts connections from TPROXY" for _ in settings.transparent]
    notes = [f"connections to {settings.server}: {terms}"]
    if probe:
        notes.append(f"the round-trip time T is measured by UDP probes to {settings.server}")
    options = {"congestion": "--congestion", "from": "--from"}
    options |= named("--socks", settings.socks) | named("--tproxy", settings.transparent)
    options |= named("--forward", (Address(*item.listen) for item in settings.forwards))
    fields = {"terms": terms.as_json(), "probe": probe}
    replace_process(settings, listeners, notes, fields, options, metrics, as_json=as_json)


def warnings_for(settings: "ClientSettings") -> Iterator[str]:
    """Yield warnings about settings that are valid but may be unintended."""
    for at in settings.socks:
        if not ipaddress.ip_address(at.host).is_loopback:
            yield (
                f"--socks {at}: every host that reaches this port can connect to the targets of "
                "the other relay"
            )
    if settings.terms.rule == "marks" and ECN.exists() and ECN.read_text().strip() != "1":
        yield (
            "--rule marks: the connections of this machine do not request ECN, so that each loss "
            "counts as a channel error; run `sysctl -w net.ipv4.tcp_ecn=1`"
        )


def rule_of(text: str) -> str:
    """Check the value of --rule, the rule that sets the number of connections."""
    from lasthop.relay.settings import RULES

    if text not in RULES:
        raise UserError(f'--rule "{text}": expected {", ".join(RULES[:-1])} or {RULES[-1]}')
    return text


def part(text: str, option: str) -> float:
    """Return the number from an option; it must be at least 0 and below 1."""
    try:
        value = float(text)
    except ValueError:
        value = 1.0
    if not 0.0 <= value < 1.0:
        raise UserError(f'{option} "{text}": expected a number from 0 to below 1')
    return value


def named(option: str, addresses: "Iterable[Address]") -> dict[str, str]:
    """Return the beginning of error messages for each address: the option and the address."""
    return {str(at): f"{option} {at}" for at in addresses}


def replace_process(
    settings: "ClientSettings | ServerSettings",
    listeners: list[str],
    notes: list[str],
    fields: dict[str, Any],
    options: dict[str, str],
    metrics: str | None,
    *,
    as_json: bool,
) -> None:
    """Replace this process by the relay (exec). The process ID does not change, and most memory is
    freed.
    """
    from lasthop import _core
    from lasthop.linux.descriptors import raise_descriptors
    from lasthop.relay import process
    from lasthop.relay.exposed import opened

    at = None if metrics is None else own_address(metrics, "--metrics")
    if at is not None:
        need("metrics of relays")
        if at.port != 0 and str(at) in options:
            raise UserError(f"--metrics {at}: {options[str(at)]} has the same address")
        opened(at).close()  # Refuse an unusable address now, with a one-line error.
    todo = {
        "relay": settings.as_json(),
        "listeners": listeners,
        "notes": notes,
        "fields": fields,
        "options": options,
        "metrics": at,
        "json": as_json,
    }
    descriptor = os.memfd_create("relay", 0)
    os.write(descriptor, json.dumps(todo).encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    raise_descriptors()
    sys.stdout.flush()
    # Without metrics, Python starts without installed packages, which saves memory.
    isolation = [] if at else ["-S", "-E"]
    script = [process.__file__, _core.__file__, str(descriptor)]
    os.execv(sys.executable, [sys.executable, *isolation, *script])


COMMANDS: dict[Callable[..., None], str] = {
    serve: "Run the relay near the targets.",
    connect: "Run the relay near the programs.",
    key: "Make a key for both relays.",
}
"""Functions of the group's commands, with one-line descriptions."""
