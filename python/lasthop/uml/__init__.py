"""User-mode Linux: a Linux kernel that runs as an ordinary process, with a simulated clock."""

from lasthop.linux_only import require_linux

require_linux("lasthop.uml")
