"""Interfaces to the kernel that need root: rtnetlink, traffic control, raw sockets, namespaces,
TUN, and the undo log.

The package does not depend on gateways, stations or fairness. It works on Linux only, so import it
only where it is used.
"""
