"""Control of real networks: the gateway, shaped queues, congestion controls of Linux."""
