"""Receive offload (GRO). If offload is off, the queues receive packets one by one, as they
arrived."""

import array
import fcntl
import socket
import struct

from lasthop.errors import UserError

SIOCETHTOOL = 0x8946
GET_GRO, SET_GRO = 0x2B, 0x2C


def merges(name: str) -> bool:
    """Return whether the interface merges segments that it receives."""
    return ethtool(name, GET_GRO) != 0


def set_merging(name: str, on: bool) -> None:
    """Turn the merging of received segments on or off."""
    ethtool(name, SET_GRO, int(on))


def shell_command(name: str, on: bool) -> str:
    """Return the shell command that turns the merging of received segments on or off."""
    return f"ethtool -K {name} gro {'on' if on else 'off'}"


def ethtool(name: str, command: int, value: int = 0) -> int:
    """Read or set a setting of an interface by the ioctl that the program `ethtool` uses. Return
    the value of the setting."""
    data = array.array("B", struct.pack("=II", command, value))
    address, _ = data.buffer_info()
    request = struct.pack("16sP", name.encode(), address)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        try:
            fcntl.ioctl(handle, SIOCETHTOOL, request)
        except OSError as error:
            what = shell_command(name, bool(value)) if command == SET_GRO else f"ethtool -k {name}"
            raise UserError(f"{what}: {error.strerror}") from None
    return int(struct.unpack("=II", data.tobytes())[1])
