"""Options and state of the kernel's TCP sockets."""

import fcntl
import socket
import struct
import termios
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lasthop.errors import UserError

TIMESTAMPS = "/proc/sys/net/ipv4/tcp_timestamps"
PREFERRED = Path("/proc/sys/net/ipv4/tcp_congestion_control")
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")

NOTSENT_LOWAT = 25
"""Number of the socket option TCP_NOTSENT_LOWAT (linux/tcp.h)."""

RECEIVE_BUFFER_FORCE = 33
"""Number of the socket option SO_RCVBUFFORCE (asm-generic/socket.h)."""

TIMESTAMPING = 37
"""Number of the socket option SO_TIMESTAMPING (asm-generic/socket.h)."""

TELL_ACKNOWLEDGED = 1 << 4 | 1 << 9 | 1 << 11
"""Flags SOF_TIMESTAMPING_SOFTWARE, _TX_ACK and _OPT_TSONLY (linux/net_tstamp.h), which report when
data is acknowledged."""

TCP_INFO = struct.Struct("=68xI8xI16xI")
"""Layout of the fields tcpi_rtt, tcpi_snd_cwnd and tcpi_total_retrans in struct tcp_info
(linux/tcp.h)."""


class TcpInfo(NamedTuple):
    """State of a TCP connection in the kernel."""

    rtt_s: float
    """Smoothed round-trip time. [s]"""
    cwnd_packets: int
    retransmissions: int


def set_congestion(connection: socket.socket, name: str) -> None:
    """Set the congestion control of a connection. The error message lists the kernel's congestion
    controls."""
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    except OSError as error:
        known = ", ".join(available_congestion())
        raise UserError(
            f"congestion control {name}: {error.strerror}", f"this kernel has {known}"
        ) from None


def prefer_congestion(name: str) -> bool:
    """Set the default congestion control of the calling thread's namespace. Return whether the
    kernel permitted the change.

    Only the first namespace may have a default congestion control that is restricted to root.
    """
    try:
        PREFERRED.write_text(name)
    except OSError:
        return False
    return True


def available_congestion() -> list[str]:
    """Return the congestion controls that are now registered in the kernel."""
    try:
        return AVAILABLE.read_text().split()
    except OSError as error:
        raise UserError(f"{AVAILABLE}: {error.strerror}", "needs Linux") from None


def has_congestion(name: str) -> bool:
    """Return whether the kernel has a congestion control, or can load its module."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as item:
        try:
            item.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except PermissionError:
            return True  # The kernel has this congestion control, but restricts it to root.
        except OSError:
            return False
    return True


def clamp_window(connection: socket.socket, size: int) -> None:
    """Set the upper limit of the receive window that the kernel announces. `size` is this limit.
    [bytes]

    Call this function before the connection begins, and again when the first data has arrived.
    After the first segment of a new size, the kernel replaces this limit by the size of the buffer
    (tcp_measure_rcv_mss, since Linux 6.11).
    """
    set_receive_buffer(connection, 4 * size)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, size)


def set_receive_buffer(connection: socket.socket, size: int) -> None:
    """Set the size of the receive buffer. [bytes] Without root outside of user namespaces, the size
    is at most `net.core.rmem_max`.
    """
    try:
        connection.setsockopt(socket.SOL_SOCKET, RECEIVE_BUFFER_FORCE, size)
    except PermissionError:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)


def largest_window(size: int) -> int:
    """Return the largest receive window, up to `size`, that the kernel permits in this network
    namespace. [bytes]

    The window is at most half of the buffer, whose size is twice the set value (tcp(7)).
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as item:
        set_receive_buffer(item, 4 * size)
        return min(size, item.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2)


def limit_segment(connection: socket.socket, size: int) -> None:
    """Set the largest length of a segment's data (MSS) for both directions to `size` bytes. Call
    this function before the connection begins."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, size)


def limit_unsent(connection: socket.socket, size: int) -> None:
    """Limit the amount of data that the kernel has accepted but not sent yet. The limit is about
    `size` bytes."""
    connection.setsockopt(socket.IPPROTO_TCP, NOTSENT_LOWAT, size)


def forbid_quick_acks(connection: socket.socket) -> None:
    """Make the kernel acknowledge every second segment. Repeat this call, since the kernel leaves
    this mode after a delayed ACK."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)


def tell_when_acknowledged(connection: socket.socket) -> None:
    """Make the socket's error queue readable when the data that is sent next has been
    acknowledged."""
    connection.setsockopt(socket.SOL_SOCKET, TIMESTAMPING, TELL_ACKNOWLEDGED)


def empty_error_queue(connection: socket.socket) -> None:
    """Read and discard all messages in the error queue of a socket."""
    with suppress(BlockingIOError):
        while True:
            connection.recvmsg(0, 512, socket.MSG_ERRQUEUE)


def is_acknowledged(connection: socket.socket) -> bool:
    """Return whether all data of a connection has been acknowledged after its shutdown."""
    (outstanding,) = struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))
    return bool(outstanding <= 1)  # The FIN counts as one byte.


def abort(connection: socket.socket) -> None:
    """Close a socket if it is open, and discard its unsent data.

    After a normal close, the kernel tries for minutes to send the data, even if the other host no
    longer exists. During this time the kernel does not remove the namespace. The data also counts
    towards the memory limit of TCP, which all namespaces share.
    """
    if connection.fileno() < 0:
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def tcp_info(connection: socket.socket) -> TcpInfo:
    """Return the state of a connection in the kernel."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    rtt_us, cwnd, retransmissions = TCP_INFO.unpack_from(info)
    return TcpInfo(rtt_us / 1e6, cwnd, retransmissions)


def without_timestamps() -> bool:
    """Turn off TCP timestamps in the calling thread's namespace. Return whether the kernel
    permitted the change."""
    try:
        Path(TIMESTAMPS).write_text("0")
    except OSError:
        return False
    return True
