"""Relays that run beside the program that holds them."""

import json
import resource
import socket
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from lasthop._core import Relay
from lasthop.errors import UserError
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
    """Start a relay; `UserError` if its settings make no sense or its addresses are taken."""
    raise_descriptors()
    try:
        return Relay(json.dumps(settings.as_json()))
    except ValueError as error:
        raise UserError(f"relay: {error}") from None
    except OSError as error:
        raise UserError(f"relay: {error}") from None


def raise_descriptors() -> None:
    """Let this process have as many descriptors as it may: each stream is one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Running:
    """A relay, until its ``with`` block ends."""

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
        """End it; streams break off."""
        self.relay.stop()

    def metrics(self) -> dict[str, Any]:
        """What it tells of itself; empty once it has ended."""
        found: dict[str, Any] = json.loads(self.relay.metrics() or "{}")
        return found


class Server(Running):
    """The relay near the targets.

    Parameters
    ----------
    key : str
        What `new_key` gives; clients need the same.
    host, port
        Where it listens; port 0: any that is free.
    allow : sequence of Target
        Where clients may connect to; anywhere if there is none.
    patience_s : float
        Time for a handshake. [s]
    bounds : Bounds

    Raises
    ------
    UserError
        If it cannot listen there, or the key is none.
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
        """Where it listens."""
        return self.relay.addresses()[0]


class Client(Running):
    """The relay near the programs.

    Parameters
    ----------
    server : tuple of str and int
        Where the server is.
    key : str
    terms : Terms
        How many connections there are, and of which kind.
    forwards : sequence of Forward
    source : str, optional
        The address of this machine that connections come from.
    patience_s : float
        Time for a connection to be made, and again for its handshake. [s]
    bounds : Bounds
    probe : bool
        Whether the round-trip time T is measured by UDP probes instead of that of the TCP
        connections, as long as the server answers them. `Terms` must not be ``fixed``.

    Raises
    ------
    UserError
        If it cannot listen, or terms make no sense.
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
        """Where it speaks SOCKS 5."""
        return self.relay.addresses()[0]

    def connect(
        self, host: str, port: int, timeout_s: float | None = programs.TIMEOUT_S
    ) -> socket.socket:
        """A stream through it, as `lasthop.relay.connect`."""
        return programs.connect(host, port, via=self.socks, timeout_s=timeout_s)

    async def open_connection(
        self, host: str, port: int, timeout_s: float | None = programs.TIMEOUT_S
    ) -> "tuple[asyncio.StreamReader, asyncio.StreamWriter]":
        """A stream through it, as `lasthop.relay.open_connection`."""
        return await programs.open_connection(host, port, via=self.socks, timeout_s=timeout_s)
