"""A shaped queue in front of a network interface, from a scenario's link.

`layout` has the messages for the kernel as pure functions; `shaped` carries them out and reverts
them. `sharing` is virtual buffer sharing, a program in front of the queue. `service` keeps it up.
"""
