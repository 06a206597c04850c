"""Settings of relays: addresses, key, and number of connections."""

import ipaddress
import os
import stat
from base64 import b64decode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from lasthop._core import new_relay_key
from lasthop.errors import UserError

LOOPBACK = "127.0.0.1"
SERVER_PORT = 4700
SOCKS_PORT = 1080
KEY_MODE = 0o600
KEY_BYTES = 32
MAX_KEY_BYTES = 1024
"""Largest size of a key file that is accepted. [bytes]"""
MIB = 1 << 20
STREAMS = 2048
"""Default limit of simultaneous streams of one client, if the memory is sufficient."""
STREAM_BYTES = 24 << 10
"""Memory of a relay that each stream requires. [bytes]

Two thirds of a relay's memory are for data that was received and not yet read. A quarter of these
two thirds is for new streams, and must be at least 4 KiB per stream.
"""
PATIENCE_S = 10.0
RULES = ("rtt", "utility", "marks")
"""Rules that adapt the number of connections."""
FIXED = "fixed"
"""Rule that keeps the number of connections fixed."""
MAX_CONNECTIONS = 128


class Address(NamedTuple):
    """Host and port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Forward(NamedTuple):
    """Address of this machine, and the target to which connections to this address are forwarded.
    Both are given as `Address` or as a pair of host and port."""

    listen: Address | tuple[str, int]
    target: Address | tuple[str, int]


class Target(NamedTuple):
    """Target to which clients may connect."""

    host: str | None
    """Host name, address or network of the target; None for any host."""
    port: int | None
    """Port of the target; None for any port."""


@dataclass(frozen=True)
class Terms:
    """Rules for the connections between two relays, which the client relay sets."""

    rule: str = "rtt"
    """Rule for the number of connections at the round-trip time T. ``rtt``: k T (paper 001,
    equation 5.1). ``utility``: the number that maximises a utility (equation 5.29). ``marks``: k T
    sqrt(1 + losses / marks) with ECN. ``fixed``: the smallest number in `connections`."""
    k_per_s: float = 10.0
    """Factor k of the rules that adapt the number of connections: number of connections per second
    of round-trip time. [1/s]"""
    fairness: float = 1.0
    """Exponent in the utility x^(1 - fairness) / (1 - fairness) of the rate x. With 1, the utility
    is log x. [-]"""
    weight: float = 1.0
    """Factor by which the utility is multiplied. [-]"""
    connections: tuple[int, int] = (1, 16)
    """Smallest and largest number of connections."""
    interval_s: float = 1.0
    """Time between two changes of the number of connections. [s]"""
    smoothing: float = 0.0
    """Weight of the previous number of connections when the next number is computed. [-]"""
    rounding: Literal["nearest", "down"] = "nearest"
    """Method of rounding the computed number of connections."""
    hold: int = 3
    """Number of successive intervals in which the rule must compute fewer connections than are
    open. Only then are connections closed."""
    congestion: str = "reno"
    """Congestion control of every connection, by the kernel's name."""
    timeout_s: float = 25.0
    """Time without data from the other relay after which the other relay counts as dead and all
    streams fail. [s]"""

    def __post_init__(self) -> None:
        if self.rule not in (*RULES, FIXED):
            raise UserError(f'rule "{self.rule}": expected {", ".join(RULES)} or {FIXED}')
        match self.connections:
            case (int(least), int(most)) if 1 <= least <= most <= MAX_CONNECTIONS:
                pass
            case other:
                raise UserError(
                    f"connections={other}: expected a pair of smallest and largest number, "
                    f"from 1 to {MAX_CONNECTIONS}"
                )

    def as_json(self) -> dict[str, Any]:
        """Return the settings in the JSON form that the engine's relay reads."""
        aim: dict[str, Any] = {"by": self.rule}
        if self.rule != FIXED:
            aim["k"] = self.k_per_s
        if self.rule == "utility":
            aim |= {"fairness": self.fairness, "weight": self.weight}
        rule = {
            "aim": aim,
            "interval_s": self.interval_s,
            "smoothing": self.smoothing,
            "rounding": self.rounding,
            "hold": self.hold,
        }
        return {
            "rule": rule,
            "connections": list(self.connections),
            "congestion": self.congestion,
            "timeout_s": self.timeout_s,
        }

    def __str__(self) -> str:
        least, most = self.connections
        k, every = f"k = {self.k_per_s:g} 1/s", f"updated every {self.interval_s:g} s"
        bounds = f"n from {least} to {most}"
        numbers = {
            "rtt": f"n = k T, {k}, {every}, {bounds}",
            "marks": f"n = k T sqrt(1 + losses / marks), {k}, {every}, {bounds}",
            "utility": f"n = k T sqrt(U'(x) x^2 / 2), {k}, fairness {self.fairness:g}, "
            f"weight {self.weight:g}, {every}, {bounds}",
            FIXED: f"n = {least}",
        }
        return f"{numbers[self.rule]}; congestion control {self.congestion}"


@dataclass(frozen=True)
class Bounds:
    """Limits of the memory and the streams of a relay."""

    memory_bytes: int = 48 * MIB
    """Limit of the total memory of all streams. [bytes]"""
    window_bytes: int = 4 * MIB
    """Largest amount of a stream's data that was sent and that the receiver has not yet read.
    [bytes]"""
    streams: int | None = None
    """Largest number of simultaneous streams of one client. Each stream needs 24 KiB of memory.
    None means 2048, or fewer if the memory is not sufficient for 2048 streams."""

    def __post_init__(self) -> None:
        if self.streams is not None and self.streams > self.most_streams:
            raise UserError(
                f"streams: {self.streams}: memory_bytes = {self.memory_bytes} is sufficient for "
                f"at most {self.most_streams}",
                f"set memory_bytes = {self.streams * STREAM_BYTES}",
            )

    @property
    def most_streams(self) -> int:
        """Largest number of streams for which the memory is sufficient."""
        return self.memory_bytes // STREAM_BYTES

    def as_json(self) -> dict[str, int]:
        """Return the limits in the JSON form that the engine's relay reads."""
        return {
            "bytes": self.memory_bytes,
            "window_bytes": self.window_bytes,
            "streams": self.streams or min(STREAMS, self.most_streams),
        }


@dataclass(frozen=True)
class ClientSettings:
    """Settings of the client relay, which is near the programs."""

    server: Address
    key: str
    socks: tuple[Address, ...] = ()
    forwards: tuple[Forward, ...] = ()
    transparent: tuple[Address, ...] = ()
    terms: Terms = field(default_factory=Terms)
    source: str | None = None
    """Address of this machine from which connections are made; None if the system chooses the
    address."""
    patience_s: float = PATIENCE_S
    """Time limit for connecting, and for the handshake that follows. [s]"""
    bounds: Bounds = field(default_factory=Bounds)
    probe: bool = False
    """Whether the relay measures the round-trip time T by UDP probes (paper 001, section 5.2) while
    the server answers the probes."""

    def __post_init__(self) -> None:
        if self.probe and self.terms.rule == FIXED:
            raise UserError(f'probe: the rule "{FIXED}" does not depend on the round-trip time')

    def as_json(self) -> dict[str, Any]:
        """Return the settings in the JSON form that the engine's relay reads."""
        return {
            "role": "client",
            "server": list(self.server),
            "from": self.source,
            "patience_s": self.patience_s,
            "key": self.key,
            "socks": [str(each) for each in self.socks],
            "forwards": [
                {"listen": str(Address(*listen)), "host": target[0], "port": target[1]}
                for listen, target in self.forwards
            ],
            "transparent": [str(each) for each in self.transparent],
            "probe": self.probe,
            "terms": self.terms.as_json(),
            "memory": self.bounds.as_json(),
        }


@dataclass(frozen=True)
class ServerSettings:
    """Settings of the server relay, which is near the targets."""

    listen: Address
    key: str
    allow: tuple[Target, ...] = ()
    """Targets to which clients may connect; without targets, clients may connect anywhere."""
    clients: int = 64
    """Largest number of simultaneous clients."""
    patience_s: float = PATIENCE_S
    """Time limit for a handshake. [s]"""
    bounds: Bounds = field(default_factory=Bounds)

    def as_json(self) -> dict[str, Any]:
        """Return the settings in the JSON form that the engine's relay reads."""
        return {
            "role": "server",
            "listen": str(self.listen),
            "key": self.key,
            "allow": [{"host": host_as_json(host), "port": port} for host, port in self.allow],
            "patience_s": self.patience_s,
            "sessions": self.clients,
            "memory": self.bounds.as_json(),
        }


def host_as_json(host: str | None) -> Any:
    """Return a host to which clients may connect, in the JSON form that the engine's relay
    reads."""
    if host is None:
        return "any"
    try:
        return {"network": str(ipaddress.ip_network(host))}
    except ValueError:
        return {"name": host}


def new_key() -> str:
    """Return a new key that two relays share: 32 random bytes in base 64."""
    return new_relay_key()


def write_key(path: Path) -> None:
    """Create a file with a new key. Only the file's owner can read it."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, KEY_MODE)
    except OSError as error:
        hint = "choose another name: keys are not overwritten" if path.exists() else None
        raise UserError(f"{path}: {os.strerror(error.errno or 0)}", hint) from None
    try:
        with os.fdopen(handle, "w") as file:
            file.write(new_key() + "\n")
    except OSError as error:
        path.unlink(missing_ok=True)
        raise UserError(f"{path}: {os.strerror(error.errno or 0)}") from None


def read_key(path: Path) -> str:
    """Return the key in a file. Raise an error if other users can read the file."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(MAX_KEY_BYTES) if stat.S_ISREG(mode) else b""
    except OSError as error:
        hint = f"run `lasthop relay key {path}` to make one" if not path.exists() else None
        raise UserError(f"{path}: {os.strerror(error.errno or 0)}", hint) from None
    if not stat.S_ISREG(mode):
        raise UserError(f"{path}: is not a file")
    if mode & 0o077:
        raise UserError(
            f"{path}: other users can read this key (mode {stat.S_IMODE(mode):o})",
            f"run chmod 600 {path}",
        )
    key = text.decode("ascii", "replace").strip()
    try:
        is_key = len(b64decode(key, validate=True)) == KEY_BYTES
    except ValueError:
        is_key = False
    if not is_key:
        raise UserError(
            f"{path}: contains no key: expected {KEY_BYTES} bytes in base 64",
            "run `lasthop relay key` to make one",
        )
    return key
