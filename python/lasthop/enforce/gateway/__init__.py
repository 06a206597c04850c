"""Per-station fairness on a real hot-spot: a virtual shared bottleneck on a Linux gateway.

`config` reads the file, `layout` turns it into classes and filters, `shaper` carries that out with
an undo log, `service` keeps it going: it finds stations, pings them, and sets the rate.
"""
