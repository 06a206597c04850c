"""Services that run in the background: their state directory, commands, event loop and repairs.

The package does not depend on gateways or queues. A `service_kind.ServiceKind` has the functions
that read the configuration of a service, set the service up and revert its changes.
"""

from lasthop.linux_only import require_linux

require_linux("lasthop.daemon")
