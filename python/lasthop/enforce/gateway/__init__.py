"""Per-station fairness on a real hot-spot: a virtual shared bottleneck (VSB) on a Linux gateway.

`config` reads the configuration file. `layout` computes the classes and filters of the kernel from
the configuration. `shaper` creates these classes and filters, and writes an undo log. `service`
runs the gateway: it finds stations, pings them, and sets the rate C of the VSB.
"""
