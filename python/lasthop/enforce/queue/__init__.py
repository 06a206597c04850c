"""A shaped queue in front of a network interface, from a scenario's link.

`layout` builds the messages for the kernel with pure functions. `shaped` sends them and reverts the
changes. `sharing` is virtual buffer sharing, a BPF program in front of the queue. `service` keeps
the queue set up.
"""
