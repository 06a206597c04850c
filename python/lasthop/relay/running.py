"""Relays that run inside the process of a Python program."""

import json
import socket
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from lasthop._core import Relay
from lasthop.errors import UserError
from lasthop.linux.descriptors import raise_descriptors
from lasthop.relay import programs
from lasthop.relay.settings import (
    LOOPBACK,
    PATIENCE_S,
    Address,
    Bounds,
    ClientSettings,
    Forward,
    ServerSettings,
    Target,
    Terms,
)

if TYPE_CHECKING:
    import asyncio


def start(settings: ClientSettings | ServerSettings) -> Relay:
    """Start a relay. Raise `UserError` if the relay's settings are invalid or its addresses are in
    use."""
    raise_descriptors()
    try:
        return Relay(json.dumps(settings.as_json()))
    except ValueError as error:
        raise UserError(f"relay: {error}") from None
    except OSError as error:
        raise UserError(f"relay: {error}") from None


class Running:
    """A relay that runs until its ``with`` block ends."""

    def __init__(self, settings: ClientSettings | ServerSettings) -> None:
        self.relay = start(settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop the relay, and abort its streams."""
        self.relay.stop()

    def metrics(self) -> dict[str, Any]:
        """Return the metrics of the relay; empty after the relay has stopped."""
        loads: dict[str, Any] = json.loads(self.relay.metrics() or "{}")
        return loads


class Server(Running):
    """Server relay, which receives streams from client relays and connects each stream to its
    target.

    Parameters
    ----------
    key : str
        Key from `new_key`. Clients need the same key.
    host, port
        Address at which the server listens. With port 0, the system chooses a free port.
    allow : sequence of Target
        Targets to which clients may connect; without targets, clients may connect anywhere.
    patience_s : float
        Longest time of a handshake. [s]
    bounds : Bounds
        Limits of the relay's memory and streams.

    Raises
    ------
    UserError
        If the server cannot listen at the address, or the key is invalid.
    """

    def __init__(
        self,
        key: str,
        host: str = LOOPBACK,
        port: int = 0,
        *,
        allow: tuple[Target, ...] = (),
        patience_s: float = PATIENCE_S,
        bounds: Bounds | None = None,
    ) -> None:
        bounds = bounds or Bounds()
        at = Address(host, port)
        super().__init__(ServerSettings(at, key, allow, patience_s=patience_s, bounds=bounds))

    @property
    def address(self) -> tuple[str, int]:
        """Address at which the relay listens."""
        return self.relay.addresses()[0]


class Client(Running):
    """Client relay. It accepts TCP connections from programs on this machine, and transmits their
    data as streams to a server relay.

    Parameters
    ----------
    server : tuple of str and int
        Address of the server.
    key : str
        Key of the server.
    terms : Terms
        Rules for the number and kind of the TCP connections to the server relay.
    forwards : sequence of Forward
        Ports of this machine that are forwarded to targets.
    source : str, optional
        Address of this machine from which the relay connects to the server relay. By default, the
        system chooses the address.
    patience_s : float
        Longest time of connecting, and of the following handshake. [s]
    bounds : Bounds
        Limits of the relay's memory and streams.
    probe : bool
        Whether the relay measures the round-trip time T by UDP probes while the server answers the
        probes. Otherwise, the TCP connections measure T. The rule of `terms` must not be ``fixed``.

    Raises
    ------
    UserError
        If the client cannot listen at an address, or the terms are invalid.
    """

    def __init__(
        self,
        server: tuple[str, int],
        key: str,
        terms: Terms | None = None,
        *,
        forwards: tuple[Forward, ...] = (),
        source: str | None = None,
        patience_s: float = PATIENCE_S,
        bounds: Bounds | None = None,
        probe: bool = False,
    ) -> None:
        socks = (Address(LOOPBACK, 0),)
        terms, bounds = terms or Terms(), bounds or Bounds()
        server = Address(*server)
        super().__init__(
            ClientSettings(
                server, key, socks, forwards, (), terms, source, patience_s, bounds, probe
            )
        )

    @property
    def socks(self) -> tuple[str, int]:
        """Address at which the relay serves SOCKS 5."""
        return self.relay.addresses()[0]

    def connect(
        self, host: str, port: int, timeout_s: float | None = programs.TIMEOUT_S
    ) -> socket.socket:
        """Connect to a host through this relay, see `lasthop.relay.connect`."""
        return programs.connect(host, port, via=self.socks, timeout_s=timeout_s)

    async def open_connection(
        self, host: str, port: int, timeout_s: float | None = programs.TIMEOUT_S
    ) -> "tuple[asyncio.StreamReader, asyncio.StreamWriter]":
        """Connect to a host through this relay, see `lasthop.relay.open_connection`."""
        return await programs.open_connection(host, port, via=self.socks, timeout_s=timeout_s)
