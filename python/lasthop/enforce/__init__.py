"""Control of real networks: the gateway, shaped queues, and TCP congestion controls of Linux."""
