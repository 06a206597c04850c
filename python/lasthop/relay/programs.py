"""The way through a relay for programs that ask for it themselves (paper 001, section 5.2)."""

import errno
import socket
from typing import TYPE_CHECKING, Any

from lasthop.relay.settings import LOOPBACK, SOCKS_PORT

if TYPE_CHECKING:
    import asyncio  # it takes memory, which relays have little of

VIA = (LOOPBACK, SOCKS_PORT)
"""Where ``lasthop relay connect`` listens."""
TIMEOUT_S = 30.0
ERRORS = {
    2: errno.EACCES,
    3: errno.ENETUNREACH,
    4: errno.EHOSTUNREACH,
    5: errno.ECONNREFUSED,
    6: errno.ETIMEDOUT,
}
"""What a relay's code means (RFC 1928, section 6)."""


def connect(
    host: str, port: int, *, via: tuple[str, int] = VIA, timeout_s: float | None = TIMEOUT_S
) -> socket.socket:
    """Connect to a host through the relay on this machine.

    Parameters
    ----------
    host : str
        A name, which is looked up where the server is, or an address.
    port : int
    via : tuple of str and int
        Where the client relay speaks SOCKS 5.
    timeout_s : float, optional
        Longest time until it is connected; the socket has none afterwards. None: no bound.

    Returns
    -------
    socket.socket
        A stream, cut over all connections of the relay.

    Raises
    ------
    OSError
        If there is no relay, or the target cannot be reached; ``errno`` says why.
    """
    from python_socks import ProxyError, ProxyTimeoutError
    from python_socks.sync import Proxy

    proxy = Proxy.from_url(f"socks5://{bracketed(via[0])}:{via[1]}")
    try:
        stream: socket.socket = proxy.connect(host, port, timeout=timeout_s)
    except ProxyTimeoutError:
        raise too_late(host, port, timeout_s) from None
    except ProxyError as error:
        raise refused(error, host, port) from None
    stream.settimeout(None)
    return stream


async def open_connection(
    host: str, port: int, *, via: tuple[str, int] = VIA, timeout_s: float | None = TIMEOUT_S
) -> "tuple[asyncio.StreamReader, asyncio.StreamWriter]":
    """Connect to a host through the relay on this machine, as `asyncio.open_connection` does.

    Parameters, errors: as `connect`.
    """
    import asyncio

    from python_socks import ProxyError, ProxyTimeoutError
    from python_socks.async_.asyncio import Proxy

    proxy = Proxy.from_url(f"socks5://{bracketed(via[0])}:{via[1]}")
    try:
        stream = await proxy.connect(host, port, timeout=timeout_s)
    except ProxyTimeoutError:
        raise too_late(host, port, timeout_s) from None
    except ProxyError as error:
        raise refused(error, host, port) from None
    return await asyncio.open_connection(sock=stream)


def bracketed(host: str) -> str:
    """A host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


def too_late(host: str, port: int, timeout_s: float | None) -> TimeoutError:
    """No relay has answered in time."""
    return TimeoutError(errno.ETIMEDOUT, f"{host}:{port}: no answer within {timeout_s} s")


def refused(error: Any, host: str, port: int) -> OSError:
    """What a relay has answered, as the kernel would say it."""
    code = ERRORS.get(error.error_code or 0, errno.ECONNABORTED)
    return OSError(code, f"{host}:{port}: {error}")
