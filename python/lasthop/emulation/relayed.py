"""User of a conflict graph that sends one stream through a pair of relays.

```text
source --loopback--> relay ==n TCP connections over the medium==> relay --loopback--> sink
```

The relays are those of `lasthop relay`. The scenario's rule sets the number of connections between
the relays. The relays' control messages use the same path as ACKs.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean

from lasthop.emulation.connection import Connection, connection
from lasthop.emulation.places import Ends, Host, carry_out
from lasthop.emulation.traffic import Traffic
from lasthop.errors import UserError
from lasthop.linux.links import set_up
from lasthop.relay import Client, Server
from lasthop.relay.settings import (
    LOOPBACK,
    MAX_CONNECTIONS,
    Address,
    Forward,
    Terms,
    new_key,
)
from lasthop.scenario.csma import Csma
from lasthop.scenario.from_json import read_as
from lasthop.scenario.typed import TcpFlow

PATIENCE_S = 3600.0
"""Value of every time limit of the relays. No limit is reached, since this value exceeds the
duration of any run. [s]"""


@dataclass(frozen=True)
class RelayMetrics:
    """Metrics of a relay that are measured for a flow."""

    connections: int
    connections_resting: int
    connections_total: int
    """Number of connections opened since the start, including closed connections."""
    rtt_s: float | None


@dataclass
class Relayed:
    """Flow with its relays, and its counters since the end of the warm-up."""

    flow: TcpFlow
    ends: Ends
    terms: Terms
    key: str
    server: Server
    program: Connection
    """Two TCP connections of the flow's hosts: from the source to its relay, and from the relay of
    the sink to the sink."""
    stack: ExitStack = field(default_factory=ExitStack)
    client: Client | None = None
    numbers: list[int] = field(default_factory=list)
    """Number of open connections at each sample."""
    made: list[int] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    """Number of closed connections at each sample."""
    rtts_s: list[float] = field(default_factory=list)

    def begin(self, traffic: Traffic) -> None:
        """Connect the relay at the source, and start sending."""
        present = (self.ends.listening.address, self.ends.port)
        target = Address(LOOPBACK, self.ends.port)
        made = partial(
            Client,
            present,
            self.key,
            self.terms,
            forwards=(Forward(target, target),),
            source=self.ends.connecting.address,
            patience_s=PATIENCE_S,
        )
        self.client = self.stack.enter_context(self.ends.connecting.namespace.run(made))
        self.program.begin(traffic)

    def stop(self, traffic: Traffic) -> None:
        """Send no new data."""
        self.program.stop(traffic)

    @property
    def received_bytes(self) -> int:
        """Payload that has reached the sink since the end of the warm-up."""
        return self.program.received_bytes

    def begin_to_count(self) -> None:
        """Do nothing, since samples are taken only after the end of the warm-up."""

    def look(self) -> None:
        """Sample the number of connections and the round-trip time."""
        tree = self.client.metrics() if self.client is not None else {}
        if tree:
            seen = read_as(RelayMetrics, tree)
            self.numbers.append(seen.connections)
            present = seen.connections + seen.connections_resting
            self.made.append(seen.connections_total)
            self.gone.append(seen.connections_total - present)
            if seen.rtt_s is not None:
                self.rtts_s.append(seen.rtt_s)

    def quantities(self) -> dict[str, float]:
        """Return the measured quantities of the flow, except the goodput."""
        values: dict[str, float] = {}
        if self.numbers:
            values |= {
                "connections": fmean(self.numbers),
                "connections_opened": float(self.made[-1] - self.made[0]),
                "connections_closed": float(self.gone[-1] - self.gone[0]),
            }
        if self.rtts_s:
            values["rtt_s"] = fmean(self.rtts_s)
        return values

    def close(self) -> None:
        """Close every socket, and stop the relays."""
        self.program.close()
        self.stack.close()


def relayed(
    flow: TcpFlow, ends: Ends, algorithms: Mapping[str, str], csma: Csma, index: int
) -> Relayed:
    """Return the flow of a user of a conflict graph that sends through relays.

    Parameters
    ----------
    flow, ends, algorithms
        The flow, the hosts at its ends, and the kernel's names of congestion controls.
    csma, index
        The conflict graph, and the number of the user.

    Raises
    ------
    UserError
        If the relays do not support the scenario's rule.
    """
    terms = terms_of(csma, index, algorithms[flow.tcp.congestion])
    here = Host(ends.connecting.namespace, LOOPBACK)
    present = Host(ends.listening.namespace, LOOPBACK)
    for host in (here, present):
        host.namespace.run(partial(carry_out, set_up, "lo"))
    with ExitStack() as stack:
        key = new_key()
        made = partial(Server, key, ends.listening.address, ends.port, patience_s=PATIENCE_S)
        server = stack.enter_context(ends.listening.namespace.run(made))
        inner = replace(ends, listening=present, connecting=here)
        program = connection(flow, inner, algorithms)
        stack.callback(program.close)
        return Relayed(flow, ends, terms, key, server, program, stack.pop_all())


def terms_of(csma: Csma, index: int, algorithm: str) -> Terms:
    """Return the rules for the connections between the relays of a user."""
    user = csma.flows[index]
    common = Terms(
        congestion=algorithm,
        timeout_s=PATIENCE_S,
        interval_s=csma.connections_interval_s,
        smoothing=csma.smoothing,
        rounding=csma.rounding,
        hold=1,
        connections=(1, MAX_CONNECTIONS),
    )
    match csma.connections:
        case "one":
            return replace(common, rule="fixed", connections=(1, 1))
        case "rtt":
            return replace(common, rule="rtt", k_per_s=csma.k)
        case "utility" if user.marginal_utility is None and csma.fairness is not None:
            return replace(
                common,
                rule="utility",
                k_per_s=csma.k,
                fairness=csma.fairness,
                weight=user.weight,
            )
    raise UserError(
        f"csma.connections: {csma.connections}: relays of an emulation have no such rule",
        '"rtt", "one", or "utility" with csma.fairness',
    )
