"""Interfaces to the kernel that need root: rtnetlink, traffic control, raw sockets, namespaces,
TUN, and the undo log.

The package does not depend on gateways, stations or fairness. The package works only on Linux, so
other modules import it only where it is used.
"""

from lasthop.linux_only import require_linux

require_linux("lasthop.linux")
