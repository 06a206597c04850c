"""Changes that other programs make to a gateway's kernel state, and a check that it is restored.

Damage is done by `tc` and `ip`, as an administrator would do it. The check also reads the state
with `tc` and `ip`, so that the code that repairs is not used to check the repair.
"""

import re
from contextlib import suppress

from lab import GATEWAY, entered, sh
from lasthop.enforce.gateway.layout import blocks_of
from lasthop.linux import offload

TO, FROM = (block.number for block in blocks_of("lan"))
GRO_ON = "gro"
"""Damage that is done by the system call of `ethtool`, so that the tests do not require
`ethtool`.
"""

DAMAGES = {
    "the rate of a bottleneck": "tc class change dev lh-lan parent 6c68: classid 6c68:1 "
    "htb rate 100kbit",
    "the ceiling of a leaf": "tc class change dev lh-lan parent 6c68:1 classid 6c68:100 "
    "htb rate 96bit ceil 50kbit quantum 1514",
    "the quantum of a leaf": "tc class change dev lh-lan parent 6c68:1 classid 6c68:100 "
    "htb rate 96bit ceil 5mbit quantum 60000",
    "the length of a queue": "tc qdisc change dev lh-lan parent 6c68:100 pfifo limit 2",
    "another queue": "tc qdisc replace dev lh-lan parent 6c68:100 bfifo limit 5000",
    "a queue is removed": "tc qdisc del dev lh-lan parent 6c68:100",
    "a class of others": "tc class add dev lh-lan parent 6c68:1 classid 6c68:999 htb rate 1mbit",
    "a class below a leaf": "tc class add dev lh-lan parent 6c68:100 classid 6c68:999 "
    "htb rate 1mbit",
    "the hierarchy is removed": "tc qdisc del dev lh-lan root",
    "another hierarchy": "tc qdisc replace dev lh-lan root handle 1: htb",
    "a queue in its place": "tc qdisc replace dev lh-lan root pfifo",
    "the program of the IFB is removed": "tc filter del dev lh-lan parent 6c68: protocol all "
    "pref 1",
    "filters of the IFB are removed": "tc filter del dev lh-lan parent 6c68:",
    "a filter of others on the IFB": "tc filter add dev lh-lan parent 6c68: protocol ip pref 7 "
    "u32 match u32 0 0 flowid 6c68:101",
    "a program of a block is removed": f"tc filter del block {TO} protocol all pref 1",
    "a redirection leads elsewhere": f"tc filter replace block {FROM} protocol all pref 1 "
    "handle 1 bpf bytecode '1,6 0 0 4294967295' action mirred egress redirect dev lo",
    "filters of a block are removed": f"tc filter del block {FROM}",
    "a filter of others in a block": f"tc filter add block {TO} protocol all pref 9 "
    "u32 match u32 0 0 action mirred egress redirect dev lo",
    "the hooks are removed": "tc qdisc del dev lan clsact",
    "the IFB is down": "ip link set lh-lan down",
    "the IFB is removed": "ip link del lh-lan",
    # Up to nine attempts: a fast gateway may set the IFB up again before its name can be changed.
    "the IFB has another name": "for k in 1 2 3 4 5 6 7 8 9; do ip link set lh-lan down; "
    "ip link set lh-lan name odd 2> /dev/null && exit; done; exit 1",
    "receive offload": GRO_ON,
}


def snapshot() -> list[str]:
    """Return the gateway's kernel state in this namespace, without numbers that the kernel chooses
    at random.
    """
    shown = [
        *sh("ip -o link show lh-lan").splitlines(),
        *sorted(sh("tc class show dev lh-lan").splitlines()),
        *sh("tc qdisc show dev lh-lan; tc qdisc show dev wan; tc qdisc show dev lan").splitlines(),
        *sh("tc filter show dev lh-lan; tc filter show dev lh-lan parent 6c68:1").splitlines(),
        *sh(f"tc filter show block {TO}; tc filter show block {FROM}").splitlines(),
        str([offload.merges(name) for name in ("wan", "lan")]),
    ]
    drawn = (
        (r"^\d+: ", ""),  # index of an interface
        (r"leaf \w+: ", ""),  # handle of a queue
        (r"^qdisc (\w+) \w+: parent", r"qdisc \1 parent"),
        (r"fh 8\w\w(::8\w\w)?", "fh"),  # handle of a u32 filter
        (r"order \d+ key ht \w+", ""),
        (r" id \d+ ", " "),  # ID of a BPF program
        (r"direct_packets_stat \d+", ""),
        (r"index \d+ ref \d+ bind \d+", ""),
    )
    for pattern, short in drawn:
        shown = [re.sub(pattern, short, line) for line in shown]
    return sorted(shown)


def is_as(before: list[str]) -> bool:
    """Return whether the kernel state equals the earlier state `before`."""
    with entered(GATEWAY), suppress(AssertionError):
        return snapshot() == before
    return False


def damage(what: str) -> None:
    """Do damage as an administrator might do it."""
    with entered(GATEWAY):
        if what == GRO_ON:
            offload.set_merging("wan", True)
        else:
            sh(what)
