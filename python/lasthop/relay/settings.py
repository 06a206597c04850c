"""What relays are told: where, with which key, how many connections."""

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
MOST_KEY_BYTES = 1024
"""No key's file is longer."""
MIB = 1 << 20
STREAMS = 2048
"""Streams at a time, of one client, where the memory is for as many."""
STREAM_BYTES = 24 << 10
"""Memory for each stream that may be open, so that it has room whatever others hold: two thirds are
for what has come and is not read, of which a quarter is for new streams, each 4 KiB. [bytes]"""
PATIENCE_S = 10.0
RULES = ("rtt", "utility", "marks")
"""By what the number of connections goes; a number stands for itself."""
FIXED = "fixed"
"""The rule of a number that stands for itself."""
MOST_CONNECTIONS = 128


class Address(NamedTuple):
    """A host and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Forward(NamedTuple):
    """A port here that leads to a target there; a pair of host and port will do for either."""

    listen: Address | tuple[str, int]
    target: Address | tuple[str, int]


class Target(NamedTuple):
    """Where clients may connect to."""

    host: str | None
    """A name, an address or a network; None: any."""
    port: int | None
    """None: any."""


@dataclass(frozen=True)
class Terms:
    """How both relays behave towards each other; the client says them."""

    rule: str = "rtt"
    """``rtt``: k T connections (paper 001, equation 5.1); ``utility``: (5.29); ``marks``: k T
    sqrt(1 + losses / marks), with ECN; ``fixed``: the fewest."""
    k_per_s: float = 10.0
    fairness: float = 1.0
    """Of the utility x^(1 - fairness) / (1 - fairness); 1: log x."""
    weight: float = 1.0
    """Of the utility."""
    connections: tuple[int, int] = (1, 16)
    """Fewest and most."""
    interval_s: float = 1.0
    """Time between two changes of their number."""
    smoothing: float = 0.0
    """Weight of the number before in the next one."""
    rounding: Literal["nearest", "down"] = "nearest"
    """How the number becomes whole."""
    hold: int = 3
    """Intervals for which fewer must be asked for before connections are closed."""
    congestion: str = "reno"
    """Congestion control of every connection, by the kernel's name."""
    timeout_s: float = 25.0
    """Silence after which the other relay counts as dead, and streams end with an error."""

    def __post_init__(self) -> None:
        if self.rule not in (*RULES, FIXED):
            raise UserError(f'rule: "{self.rule}" is not {", ".join(RULES)} or {FIXED}')
        match self.connections:
            case (int(least), int(most)) if 1 <= least <= most <= MOST_CONNECTIONS:
                pass
            case other:
                raise UserError(
                    f"connections: {other}: must be a pair of fewest and most, "
                    f"from 1 to {MOST_CONNECTIONS}"
                )

    def as_json(self) -> dict[str, Any]:
        """As a relay takes them."""
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
        k, every = f"k = {self.k_per_s:g} 1/s", f"every {self.interval_s:g} s"
        bounds = f"{least} to {most} of them"
        numbers = {
            "rtt": f"n = k T, {k}, {every}, {bounds}",
            "marks": f"n = k T sqrt(1 + losses / marks), {k}, {every}, {bounds}",
            "utility": f"n = k T sqrt(U'(x) x^2 / 2), {k}, fairness {self.fairness:g}, "
            f"weight {self.weight:g}, {every}, {bounds}",
            FIXED: f"n = {least}",
        }
        return f"{numbers[self.rule]}; {self.congestion}"


@dataclass(frozen=True)
class Bounds:
    """What a relay may take of its machine."""

    memory_bytes: int = 48 * MIB
    """For all streams together."""
    window_bytes: int = 4 * MIB
    """What one stream may send ahead of its reader, at most."""
    streams: int | None = None
    """Streams at a time, of one client. Each needs 24 KiB of memory. None: 2048, or as many as the
    memory is for."""

    def __post_init__(self) -> None:
        if self.streams is not None and self.streams > self.most_streams:
            raise UserError(
                f"streams: {self.streams}: memory_bytes = {self.memory_bytes} is for at most "
                f"{self.most_streams}",
                f"memory_bytes = {self.streams * STREAM_BYTES}",
            )

    @property
    def most_streams(self) -> int:
        """Number of streams that the memory is for."""
        return self.memory_bytes // STREAM_BYTES

    def as_json(self) -> dict[str, int]:
        """As a relay takes them."""
        return {
            "bytes": self.memory_bytes,
            "window_bytes": self.window_bytes,
            "streams": self.streams or min(STREAMS, self.most_streams),
        }


@dataclass(frozen=True)
class ClientSettings:
    """The relay near the programs."""

    server: Address
    key: str
    socks: tuple[Address, ...] = ()
    forwards: tuple[Forward, ...] = ()
    transparent: tuple[Address, ...] = ()
    terms: Terms = field(default_factory=Terms)
    source: str | None = None
    """The address of this machine that connections come from; None: the system's choice."""
    patience_s: float = PATIENCE_S
    """Time for a connection to be made, and again for its handshake."""
    bounds: Bounds = field(default_factory=Bounds)
    probe: bool = False
    """Whether the round-trip time T is measured by UDP probes (paper 001, section 5.2), as long as
    the server answers them."""

    def __post_init__(self) -> None:
        if self.probe and self.terms.rule == FIXED:
            raise UserError(f'probe: the rule "{FIXED}" does not depend on the round-trip time')

    def as_json(self) -> dict[str, Any]:
        """As a relay takes them."""
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
    """The relay near the targets."""

    listen: Address
    key: str
    allow: tuple[Target, ...] = ()
    """Where clients may connect to; anywhere if there is none."""
    clients: int = 64
    patience_s: float = PATIENCE_S
    """Time for a handshake."""
    bounds: Bounds = field(default_factory=Bounds)

    def as_json(self) -> dict[str, Any]:
        """As a relay takes them."""
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
    """A host that clients may connect to, as a relay takes it."""
    if host is None:
        return "any"
    try:
        return {"network": str(ipaddress.ip_network(host))}
    except ValueError:
        return {"name": host}


def new_key() -> str:
    """A new key for two relays: 32 random bytes in base 64."""
    return new_relay_key()


def write_key(path: Path) -> None:
    """Write a new key into a new file that only its owner can read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, KEY_MODE)
    except OSError as error:
        hint = "another name; keys are not overwritten" if path.exists() else None
        raise UserError(f"{path}: {os.strerror(error.errno or 0)}", hint) from None
    try:
        with os.fdopen(handle, "w") as file:
            file.write(new_key() + "\n")
    except OSError as error:
        path.unlink(missing_ok=True)
        raise UserError(f"{path}: {os.strerror(error.errno or 0)}") from None


def read_key(path: Path) -> str:
    """The key in a file, which others must not be able to read."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(MOST_KEY_BYTES) if stat.S_ISREG(mode) else b""
    except OSError as error:
        hint = f"lasthop relay key {path} makes one" if not path.exists() else None
        raise UserError(f"{path}: {os.strerror(error.errno or 0)}", hint) from None
    if not stat.S_ISREG(mode):
        raise UserError(f"{path}: is no file")
    if mode & 0o077:
        raise UserError(
            f"{path}: others can read this key (mode {stat.S_IMODE(mode):o})", f"chmod 600 {path}"
        )
    key = text.decode("ascii", "replace").strip()
    try:
        is_key = len(b64decode(key, validate=True)) == KEY_BYTES
    except ValueError:
        is_key = False
    if not is_key:
        raise UserError(
            f"{path}: holds no key: {KEY_BYTES} bytes in base 64", "lasthop relay key makes one"
        )
    return key
