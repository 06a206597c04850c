"""Relays: the multi-connection layer of paper 001, section 5.2, for programs.

>>> import lasthop as lh
>>> with lh.relay.Server(key) as server, lh.relay.Client(server.address, key) as client:
...     stream = client.connect("example.org", 80)

Other programs use a relay through SOCKS 5, a forwarded port or TPROXY (``lasthop relay``).
"""

from lasthop.linux_only import is_linux, require_linux

if not is_linux():
    require_linux("lasthop.relay")

from lasthop.relay.programs import connect, open_connection
from lasthop.relay.running import Client, Server
from lasthop.relay.settings import Address, Bounds, Forward, Target, Terms, new_key

__all__ = [
    "Address",
    "Bounds",
    "Client",
    "Forward",
    "Server",
    "Target",
    "Terms",
    "connect",
    "new_key",
    "open_connection",
]
