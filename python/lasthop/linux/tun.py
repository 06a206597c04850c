"""TUN interfaces. A process reads and writes the packets of such an interface through a file
descriptor."""

import contextlib
import errno
import fcntl
import os
import socket
import struct

from lasthop.errors import UserError

DEVICE = "/dev/net/tun"

# Constants of linux/if_tun.h and linux/sockios.h.
TUNSETIFF = 0x400454CA
TUNSETOFFLOAD = 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO_ECN = 0x01, 0x02, 0x08
SIOCGIFFLAGS, SIOCGIFADDR = 0x8913, 0x8915
SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK = 0x8914, 0x8916, 0x891C
SIOCSIFMTU, SIOCSIFTXQLEN = 0x8922, 0x8943
IFF_UP, IFF_RUNNING = 0x1, 0x40

QUEUE_PACKETS = 10_000
"""Largest length of the interface's queue, in which packets wait if the reader is late. It is long
enough for the windows of any scenario. [packets]"""


def open_tun(name: str, address: str, mask: str, mtu: int, *, offloads: bool = False) -> int:
    """Create a TUN interface in the calling thread's namespace and bring it up.

    Parameters
    ----------
    name : str
        Name of the interface.
    address, mask : str
        IPv4 address and network mask of the interface. The network becomes reachable through the
        interface.
    mtu : int
        Length of the largest IP packet. [bytes]
    offloads : bool
        Whether the reader computes checksums and splits segments that TCP has merged.

    Returns
    -------
    int
        A non-blocking descriptor, with one IP packet per read or write. With `offloads`, a
        ``virtio_net_hdr`` of 10 bytes precedes each packet (linux/virtio_net.h).

    Raises
    ------
    UserError
        If the process may not open a TUN device.
    OSError
        If the process has too many open files.
    """
    try:
        tun = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.EMFILE:
            raise
        raise refusal(error.errno or 0) from None
    try:
        header = IFF_VNET_HDR if offloads else 0
        _request(tun, TUNSETIFF, name, struct.pack("=H", IFF_TUN | IFF_NO_PI | header))
        if offloads:
            fcntl.ioctl(tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO_ECN)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            number = control.fileno()
            _request(number, SIOCSIFMTU, name, struct.pack("=i", mtu))
            # Outside of user namespaces, this setting needs root.
            with contextlib.suppress(PermissionError):
                _request(number, SIOCSIFTXQLEN, name, struct.pack("=i", QUEUE_PACKETS))
            _request(number, SIOCSIFADDR, name, _inet(address))
            _request(number, SIOCSIFNETMASK, name, _inet(mask))
            _request(number, SIOCSIFFLAGS, name, struct.pack("=H", IFF_UP | IFF_RUNNING))
    except OSError as error:
        os.close(tun)
        raise UserError(f"interface {name}: {error.strerror}") from None
    return tun


def refusal(number: int) -> UserError:
    """Return the error for a TUN device that cannot be opened, from the number of the system's
    error."""
    return UserError(f"{DEVICE}: {os.strerror(number)}", "the emulator needs TUN devices")


def refused() -> UserError | None:
    """Return the error of `open_tun` if this process may not open a TUN device, else None.

    The test does not open the device, since that could load the kernel's module.
    """
    if not os.path.exists(DEVICE):
        return refusal(errno.ENOENT)
    return None if os.access(DEVICE, os.R_OK | os.W_OK) else refusal(errno.EACCES)


def address_of(interface: str) -> str | None:
    """Return the first IPv4 address of an interface that is up, if it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("=16s24s", interface.encode(), b"")
        try:
            (flags,) = struct.unpack_from("=H", fcntl.ioctl(control, SIOCGIFFLAGS, request), 16)
            answer = fcntl.ioctl(control, SIOCGIFADDR, request)
        except OSError:
            return None
    return socket.inet_ntoa(answer[20:24]) if flags & IFF_UP else None


def _inet(address: str) -> bytes:
    """Return an IPv4 address as a struct sockaddr_in."""
    return struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))


def _request(descriptor: int, request: int, name: str, value: bytes) -> None:
    """Call an ioctl with a struct ifreq."""
    fcntl.ioctl(descriptor, request, struct.pack("=16s24s", name.encode(), value))
