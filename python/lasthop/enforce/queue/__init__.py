"""A shaped queue in front of a network interface, from a scenario's link.

`layout` says by messages what the kernel is to have, pure; `shaped` carries that out and takes it
back; `sharing` is virtual buffer sharing, a program in front of the queue; `service` keeps it up.
"""
