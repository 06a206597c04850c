"""Control of real networks: the gateway, shaped queues, and TCP congestion controls of Linux."""

from lasthop.linux_only import need_linux

need_linux("lasthop.enforce")
