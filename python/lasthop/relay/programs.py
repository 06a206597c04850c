"""Connections through a relay for Python programs (paper 001, section 5.2)."""

import errno
import socket
from typing import TYPE_CHECKING, Any

from lasthop.relay.settings import LOOPBACK, SOCKS_PORT

if TYPE_CHECKING:
    import asyncio  # imported in the function, since it uses memory that relays do not need

VIA = (LOOPBACK, SOCKS_PORT)
"""Default address at which ``lasthop relay connect`` serves SOCKS 5."""
TIMEOUT_S = 30.0
ERRORS = {
    2: errno.EACCES,
    3: errno.ENETUNREACH,
    4: errno.EHOSTUNREACH,
    5: errno.ECONNREFUSED,
    6: errno.ETIMEDOUT,
}
"""Reply codes of a relay (RFC 1928, section 6), each with the corresponding error number of the
kernel (``errno``).
"""


def connect(
    host: str, port: int, *, via: tuple[str, int] = VIA, timeout_s: float | None = TIMEOUT_S
) -> socket.socket:
    """Connect to a host through the relay on this machine.

    Parameters
    ----------
    host : str
        Name or address of the host. The server relay resolves a name.
    port : int
        Port.
    via : tuple of str and int
        Address at which the client relay serves SOCKS 5.
    timeout_s : float, optional
        Longest time of connecting; None means no limit. The socket itself has no timeout. [s]

    Returns
    -------
    socket.socket
        Stream that is split over all connections of the relay.

    Raises
    ------
    OSError
        If there is no relay, or the target cannot be reached; ``errno`` has the reason.
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

    Parameters and errors are those of `connect`.
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
    """Return a host in the notation of a URL."""
    return f"[{host}]" if ":" in host else host


def too_late(host: str, port: int, timeout_s: float | None) -> TimeoutError:
    """Return the error for a relay that has not replied within `timeout_s`."""
    return TimeoutError(errno.ETIMEDOUT, f"{host}:{port}: no answer within {timeout_s} s")


def refused(error: Any, host: str, port: int) -> OSError:
    """Return the kernel's error that corresponds to an error of a relay."""
    code = ERRORS.get(error.error_code or 0, errno.ECONNABORTED)
    return OSError(code, f"{host}:{port}: {error}")
