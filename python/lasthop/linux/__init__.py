"""What needs root: rtnetlink, traffic control, offloads, raw sockets, namespaces, TUN, the undo log.

Nothing here knows of gateways, stations or fairness. Linux only; import it where it is used.
"""
