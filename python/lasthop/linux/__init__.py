"""What needs root: rtnetlink, traffic control, raw sockets, namespaces, TUN, and the undo log.

Nothing here knows of gateways, stations or fairness. Linux only; import it where it is used.
"""
