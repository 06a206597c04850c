"""Per-station fairness on a real hot-spot: a virtual shared bottleneck on a Linux gateway.

`config` reads the file and `layout` turns it into classes and filters. `shaper` sets them up in the
kernel with an undo log. `service` runs the gateway: it finds stations, pings them and sets the
rate.
"""
