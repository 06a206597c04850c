"""User-mode Linux: a Linux kernel that runs as an ordinary process, with a simulated clock."""

from lasthop.linux_only import need_linux

need_linux("lasthop.uml")
