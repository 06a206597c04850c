"""Control of real networks: the gateway, shaped queues, and TCP congestion controls of Linux."""

from lasthop.linux_only import require_linux

require_linux("lasthop.enforce")
