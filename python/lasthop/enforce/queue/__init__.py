"""A shaped queue in front of a network interface, from a scenario's link.

`layout` computes the netlink requests for the kernel, without I/O. `shaped` sends these requests
and reverts the changes. `sharing` is virtual buffer sharing, a BPF program in front of the queue.
`service` keeps the queue set up.
"""
