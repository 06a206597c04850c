"""Program that `cake_emulated.py` runs in user-mode Linux: a case with TCP through the engine's
queue.

    cake_emulated_inside.py CASE QUEUE SEED

The last line of the output has the results of the run as JSON. Sources and sinks have the same TCP
as in `cake_inside.py`. Their packets are recorded at the interfaces of their namespaces.
"""

import json
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cake_engine import tcp_scenario
from cake_points import CASES, LENGTH_S, NS_PER_S, WARMUP_S, Case, path_delay_ms
from cake_results import of_tcp
from cake_ring import Ring
from kernel_tcp_points import SYSCTLS
from runs import kept
from short_queues_inside import sh

from lasthop.emulation import emulate
from lasthop.emulation.connection import Connection
from lasthop.emulation.places import INTERFACE, Places
from lasthop.emulation.traffic import Driven


@dataclass
class Recorder:
    """Records the packets of all flows, while the emulation runs."""

    case: Case
    began_ns: int = 0
    result: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def __call__(self, places: Places, driven: Sequence[Driven]) -> Iterator[None]:
        """Set the DSCPs, and record until the end of the block."""
        connections = [each for each in driven if isinstance(each, Connection)]
        dscps = [group.dscp for group in self.case.tcp for _ in range(group.count)]
        for connection, dscp in zip(connections, dscps, strict=True):
            for end in filter(None, (connection.client, connection.listener)):
                end.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2)
        for namespace in (places.sources, places.sinks):
            namespace.run(lambda: sh(f"ip link set {INTERFACE} gso_max_segs 1"))
        before, after = places.sources, places.sinks
        if all(group.is_down for group in self.case.tcp):
            before, after = after, before
        into = before.run(lambda: Ring(INTERFACE, is_outgoing=True))
        with into, after.run(lambda: Ring(INTERFACE)) as out:
            self.began_ns = time.time_ns()
            yield
            self.result = self.results(into, out)

    def results(self, into: Ring, out: Ring) -> dict[str, Any]:
        """Return the results of the packets. Half of the delay is before and after the queue."""
        from_ns, until_ns = (
            self.began_ns + round(NS_PER_S * time_s) for time_s in (WARMUP_S, LENGTH_S)
        )
        constant_ns = round(path_delay_ms(self.case) / 2 / 1e3 * NS_PER_S)
        measured_ns = from_ns + constant_ns, until_ns + constant_ns
        return of_tcp(into.packets(), out.packets(), measured_ns, constant_ns)


def main() -> None:
    """Run the case that the command line names."""
    name, queue, seed = sys.argv[1:]
    case = CASES[name]
    recorder = Recorder(case)
    settings = {**SYSCTLS, "net.ipv4.tcp_ecn": str(int(case.has_ecn))}
    answer = emulate(
        tcp_scenario(case, int(seed), queue), sysctl=settings, quick_acks=True, watch=recorder
    )
    lists = kept(answer.summary, ("flows", "queues"))
    goodputs = {flow: values["goodput_bps"] for flow, values in lists["flows"].items()}
    queue_values = lists["queues"]["compared"]
    print(json.dumps({"goodput_bps": goodputs, "tcp": recorder.result, "queue": queue_values}))


if __name__ == "__main__":
    main()
