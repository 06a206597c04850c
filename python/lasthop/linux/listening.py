"""Local sockets that wait for connections or datagrams of other hosts."""

from contextlib import suppress
from pathlib import Path

LISTENS, BOUND = "0A", "07"
"""Two states of a socket as /proc/net shows them: a listening TCP socket, and a UDP socket without
a peer (linux/tcp_states.h)."""
TABLES = {"tcp": LISTENS, "tcp6": LISTENS, "udp": BOUND, "udp6": BOUND}


def listening() -> set[tuple[str, str]]:
    """Return the protocol and the local address with its port, for each waiting TCP or UDP socket
    in this thread's network namespace."""
    results = set()
    for table, state in TABLES.items():
        with suppress(OSError):
            lines = Path("/proc/thread-self/net", table).read_text().splitlines()[1:]
            fields = (line.split() for line in lines)
            results |= {(table, own) for _, own, _, what, *_ in fields if what == state}
    return results
