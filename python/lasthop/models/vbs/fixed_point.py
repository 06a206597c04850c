r"""Fixed point of the whole model (paper 000, section IV-D), which combines windows, MAC layer and
queue. The iteration begins at several starting points.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from lasthop.models.errors import ConvergenceError, ModelError
from lasthop.models.vbs.cell import Cell
from lasthop.models.vbs.chain import Floats
from lasthop.models.vbs.contention import Contention, solve
from lasthop.models.vbs.losses import Episodes, in_episodes, independent
from lasthop.models.vbs.options import Options
from lasthop.models.vbs.rounds import VARIATION, Response, Timer, respond
from lasthop.models.vbs.sharing import head_of_line_shares, loss_rate
from lasthop.models.vbs.window import increase_per_rtt, mean_window
from lasthop.progress.cost_limits import check_time, need

TOLERANCE = 1e-8
"""Change of shares and probabilities below which the iteration has converged. [-]"""

STEPS = ((0.5, 100), (0.2, 300), (0.05, 600))
"""Relaxation factors of the iteration, and number of rounds with each factor; usually about 40
rounds suffice. If uploads starve downloads at a short queue, the iteration oscillates with the
factor 0.5 and converges with 0.2. [-]
"""

SAME = 1e-4
"""Largest difference of shares up to which two solutions are considered equal. [-]"""

DOMINANT = 0.9
"""Share of the AP's queue that the dominant class has at a starting point. [-]"""

STARTED = 3
"""Largest number of starting points at which one class dominates."""


ROUNDS = 60
"""Expected number of rounds from a starting point."""

KIND_S, WINDOW_S = 1.4e-3, 1.5e-6
"""Computation time of a round per kind of connection, and per value of its window. The times were
measured on one core of an Intel Xeon server with CPython 3.11, for 4 to 40 kinds and receive
windows of 45 and 450 packets. [s]
"""

MIN_VIRTUAL = 2.0
"""Least number of packets per connection for which overflows can keep a class at its target share
of the queue. The number is the target share in packets, divided by the connections of the class.
[packets]
"""

REGULATED = 'algorithm = "regulated"'

HALF = 0.5
"""Fraction by which Compound TCP, as published, reduces its window after a loss. [-]"""


@dataclass(frozen=True)
class Solution:
    """A fixed point of the model; arrays are in the order of the classes of flows.

    Attributes
    ----------
    contention : Contention
    shares : ndarray
        Share of each class in the AP's queue, :math:`h_i`. [-]
    responses : tuple of Response
        Behaviour of a flow of each class.
    overflow : ndarray
        Probability that an arriving packet is lost at the AP's queue, :math:`p_b` or :math:`p_i`.
        [-]
    occupancy : float
        Mean packets in the AP's queue. [packets]
    rtt_s : ndarray
        Round-trip time of each class. [s]
    goodput : ndarray
        Delivered segments of one connection, :math:`\\Theta_i`. [1/s]
    episode_rates : ndarray
        Overflow episodes per round trip: one value per target share, or one value for the whole
        queue. The values are 0 unless losses are bursts. [-]
    """

    contention: Contention
    shares: Floats
    responses: tuple[Response, ...]
    overflow: Floats
    occupancy: float
    rtt_s: Floats
    goodput: Floats
    episode_rates: Floats


@dataclass(frozen=True)
class _State:
    """Values that one round of the iteration passes to the next round. A group consists of the
    classes with a common target share.
    """

    shares: Floats
    replies: Floats
    overflow: Floats
    occupancy: float
    swing: float  # Size of the queue's oscillation, which increases RTOs. [packets]
    own: Floats  # Losses in an overflow episode, per packet by which the flow's window grows.
    spread: Floats  # Other losses in an overflow episode, per arriving packet.
    rates: Floats  # Loss rates, by group.
    queued: Floats  # Packets of each group in the queue, if partitioned.

    def moved(self, other: "_State", buffer: int) -> float:
        ours, theirs = vars(self), vars(other)
        names = ("shares", "replies", "overflow", "spread")
        most = max(float(np.abs(ours[name] - theirs[name]).max()) for name in names)
        queued = float(np.abs(self.queued - other.queued).max())
        return max(most, queued / buffer, abs(self.occupancy - other.occupancy) / buffer)

    def towards(self, other: "_State", step: float) -> "_State":
        """Return a state between `self` and `other`. `rates` is copied from `other`, since it is
        only an initial guess.
        """
        moved = {
            name: value + step * (getattr(other, name) - value)
            for name, value in vars(self).items()
        }
        return _State(**moved | {"rates": other.rates})


class _Components:
    """The seven components of the model for one cell, which are evaluated one after the other."""

    def __init__(self, cell: Cell, options: Options) -> None:
        self.cell, self.options = cell, options
        self.counts = cell.counts
        self.uploads = np.array(cell.uploads)
        self.home = np.array([each.station for each in cell.classes])
        self.levels = [np.arange(1.0, each.growth.limit + 1.0) for each in cell.classes]
        self.segments = np.array([float(each.growth.segments_per_ack) for each in cell.classes])
        self.groups = [[k for k, _ in enumerate(cell.classes)]]
        self.targets = [1.0]
        self.far = wire_is_long(cell)
        self.mac: Contention | None = None
        self.unfilled: str | None = None  # message about a class below its target
        self.losses = options.losses
        if self.losses == "bursts" and (self.uploads.any() or cell.regulated):
            self.losses = "independent"
        self.limit = float(cell.buffer_packets)
        if cell.targets:
            self.limit *= cell.occupancy
            self.targets = [target / sum(cell.targets) for target in cell.targets]
            self.groups = [
                [k for k, kind in enumerate(cell.classes) if kind.sharing == index]
                for index, _ in enumerate(cell.targets)
            ]
        self.buffers = _buffers(cell)

    def round(self, at: _State) -> tuple[_State, Solution]:
        cell, counts = self.cell, self.counts
        self.unfilled = None
        mac = self.mac = solve(cell, at.shares, at.replies, self.options, self.mac)
        rtt = self._round_trip_s(at, mac)
        accepted = np.zeros(len(counts))
        overflow = np.zeros(len(counts))
        rates = np.zeros(len(self.groups))
        responses: list[Response | None] = [None] * len(counts)

        @cache
        def flow(k: int, rate: float) -> Response:
            return self._flow(k, rate, at, mac, rtt)

        def arrivals(k: int, rate: float, times: Floats) -> float:
            sent = flow(k, rate) if times is rtt else self._flow(k, rate, at, mac, times)
            return self._accepted(k, sent, at, mac, rate) / float(times[k])

        targets = at.queued / at.queued.sum() if cell.partitioned else np.array(self.targets)
        for index, (group, target) in enumerate(zip(self.groups, targets, strict=True)):

            def excess(
                rate: float, times: Floats = rtt, group: list[int] = group, part: float = target
            ) -> float:
                arriving = [arrivals(k, rate, times) for k in group]
                return float(counts[group] @ np.array(arriving)) - part * mac.service_rate

            if cell.partitioned:
                room = self.buffers[index] - at.queued[index]
                full = self.buffers[index] / (at.occupancy + room)
                overflows = excess(0.0, rtt + room / mac.service_rate, part=full) > 0.0
            else:
                room_s = (cell.buffer_packets - at.occupancy) / mac.service_rate
                overflows = bool(cell.targets) or excess(0.0, rtt + room_s) > 0.0
            try:
                rate = loss_rate(excess, float(at.rates[index])) if overflows else 0.0
            except ConvergenceError as error:
                raise ConvergenceError(self._cannot_hold(index, str(error))) from None
            rates[index] = rate
            if rate == 0.0 and cell.targets and not cell.partitioned:
                arriving = excess(0.0) + target * mac.service_rate
                held = arriving / mac.service_rate * at.occupancy
                self.unfilled = self._cannot_fill(index, held, mac)
            for k in group:
                response = flow(k, rate)
                responses[k] = response
                accepted[k] = self._accepted(k, response, at, mac, rate) / rtt[k]
                overflow[k] = self._overflow(k, response, rate)
        flows = tuple(response for response in responses if response is not None)
        state = self._next(at, mac, flows, accepted, overflow, rates)
        solution = Solution(
            contention=mac,
            shares=state.shares,
            responses=flows,
            overflow=overflow,
            occupancy=state.occupancy,
            rtt_s=rtt,
            goodput=self._goodput(state, mac),
            episode_rates=rates if self.losses == "bursts" else np.zeros(len(rates)),
        )
        return state, solution

    def _round_trip_s(self, at: _State, mac: Contention) -> Floats:
        """Return the round-trip time of each class. It includes the AP's queue, the wire and,
        unless the option `losses` is "chain", the station's queue. [s]
        """
        rtt = np.full(len(self.counts), at.occupancy / mac.service_rate + self.cell.wire_s)
        if self.losses == "chain":
            return rtt
        per_station = np.zeros(len(self.cell.stations))
        np.add.at(per_station, self.home, at.shares * at.replies * mac.service_rate)
        per_station /= np.array([station.count for station in self.cell.stations])
        waiting = mac.busy / (1.0 - mac.busy)
        return np.asarray(rtt + (waiting / np.maximum(per_station, 1e-12))[self.home])

    def _flow(self, k: int, rate: float, at: _State, mac: Contention, rtt: Floats) -> Response:
        """Return component 1 of the model: the behaviour of a flow of class `k` under the losses
        that the other components compute.
        """
        flow_class = self.cell.classes[k]
        queued = float(at.occupancy / mac.service_rate / rtt[k])
        growth = increase_per_rtt(flow_class.growth, self.levels[k], queued, self.options.increase)
        discard = float((mac.station_discards if flow_class.upload else mac.ap_discards)[k])
        if self.losses == "chain":
            loss = min(rate, 1.0) + (1.0 - min(rate, 1.0)) * discard
            window = mean_window(loss, growth / self.levels[k], self.options.mean)
            return Response(window, window, 1.0, window * loss, 0.0, 1.0, 0.0, 0.0, 0.0)
        if flow_class.upload:
            # Lost ACKs reduce the growth of the window, not the number of segments.
            growth = growth * (1.0 - at.overflow[k])
            hazard = independent(self.levels[k], discard, 0.0)
        elif self.losses == "independent":
            hazard = independent(self.levels[k], discard, _probability(rate))
        else:
            episodes = Episodes(rate, float(at.own[k]), float(at.spread[k]))
            hazard = in_episodes(self.levels[k], growth, discard, episodes)
        rto_s = max(flow_class.min_rto_s, float(rtt[k]) + at.swing / mac.service_rate)
        again = float(discard + (0.0 if flow_class.upload else at.overflow[k]))
        timer = Timer(rto_s / float(rtt[k]), min(again, 0.99))
        return respond(growth, flow_class.growth.beta, hazard, timer)

    def _accepted(self, k: int, flow: Response, at: _State, mac: Contention, rate: float) -> float:
        """Return the number of packets of a connection that enter the AP's queue per round trip."""
        lost = float(at.overflow[k]) if self.losses == "bursts" else _probability(rate)
        if self.losses == "chain":
            # In Eqs. (17) to (20) the whole window enters the queue, including lost packets.
            lost = 0.0
        entering = flow.sent * (1.0 - lost)
        if not self.uploads[k]:
            return entering
        return float(entering * (1.0 - mac.station_discards[k]) / self.segments[k])

    def _overflow(self, k: int, flow: Response, rate: float) -> float:
        if self.losses == "bursts":
            return min(flow.overflowed / flow.sent, 0.99)
        return _probability(rate)

    def _next(
        self,
        at: _State,
        mac: Contention,
        flows: Sequence[Response],
        accepted: Floats,
        overflow: Floats,
        rates: Floats,
    ) -> _State:
        counts = self.counts
        replies = (1.0 - mac.ap_discards) / self.segments
        passing = (1.0 - mac.station_discards) * (1.0 - overflow)
        with np.errstate(divide="ignore"):  # for a channel that loses every frame
            replies = np.where(self.uploads, self.segments / passing, replies)
        occupancy, swing = self.limit, 0.5 * VARIATION * self.limit
        queued, targets = self.buffers, self.buffers / self.buffers.sum()
        leaving = np.ones(len(counts))
        if self.cell.partitioned:  # a packet leaves room only in its own partition
            for group in self.groups:
                leaving[group] = at.shares[group].sum()
        own, spread = np.exp(-mac.contending * leaving), np.zeros(len(counts))
        weights = np.ones(len(counts))
        if self.far:
            weights = mac.no_departure
        if self.losses == "bursts":
            own, spread, swing, deficits = self._overflows(at, mac, flows, rates, own, weights)
            occupancy -= float(deficits.sum())
            if rates.any():
                occupancy = max(occupancy - mac.contending, 1.0)
                queued = np.maximum(queued - deficits - mac.contending * targets, 1.0)
        if self.cell.partitioned:
            arriving = np.array([float(counts[k] @ accepted[k]) for k in self.groups])
            natural = arriving / mac.service_rate * at.occupancy
            queued = np.where(rates > 0.0, queued, np.clip(natural, 1e-3, self.buffers))
            occupancy = float(queued.sum())
        elif not self.cell.targets and rates[0] == 0.0:
            # If the queue does not overflow, it contains all packets of the windows except those on
            # the wire and at stations.
            offered = float(counts @ accepted) / mac.service_rate
            occupancy = min(max(at.occupancy * offered, 1e-3), float(self.cell.buffer_packets))
        return _State(
            shares=head_of_line_shares(counts, accepted),
            replies=replies,
            overflow=overflow,
            occupancy=occupancy,
            swing=swing,
            own=own,
            spread=spread,
            rates=rates,
            queued=queued,
        )

    def _overflows(
        self,
        at: _State,
        mac: Contention,
        flows: Sequence[Response],
        rates: Floats,
        own: Floats,
        weights: Floats,
    ) -> tuple[Floats, Floats, float, Floats]:
        """Return the effects of overflow episodes. These are the losses of a flow's own growth, the
        losses that affect all packets equally, the oscillation of the queue, and the mean free room
        of each group's buffer. [packets]

        If all groups share one queue, its free room is assigned to the first group.
        """
        counts = self.counts
        own, spread = own.copy(), np.zeros(len(counts))
        freed, squares = np.zeros(len(rates)), np.zeros(len(rates))
        growth = np.array(
            [
                counts[k] * flow.growing * self._growth(k, at, mac, flow)
                for k, flow in enumerate(flows)
            ]
        )
        for index, (group, rate) in enumerate(zip(self.groups, rates, strict=True)):
            growing = growth[group].sum()
            arriving = sum(counts[k] * flows[k].sent * weights[k] for k in group)
            if self.far:
                own[group] = growing / (growing + arriving)
            # The growth of other classes also causes losses in a group, unless each group has its
            # own buffer.
            spill = (growing if self.cell.partitioned else growth.sum()) - own[group[0]] * growing
            spread[group] = spill * weights[group] / arriving
            if rate > 0.0:
                each = counts[group] * np.array([flows[k].freed for k in group]) / rate
                freed[index] = each.sum()
                total = sum(counts[k] * flows[k].freed_squared for k in group) / rate
                variance = total - (each**2 / counts[group]).sum()
                squares[index] = freed[index] ** 2 + max(variance, 0.0)
        deficits = np.zeros(len(rates))
        if not freed.any():
            return own, spread, 0.0, deficits
        if self.cell.partitioned:
            full = freed > 0.0
            deficits[full] = 0.5 * np.maximum(1.0 - rates[full], 0.0) * squares[full] / freed[full]
            return own, spread, float(np.sqrt((freed**2).sum())), deficits
        # All classes refill a common queue, whichever class lost packets in an episode.
        swing = float(rates @ freed / rates.sum())
        deficit = 0.5 * np.prod(np.maximum(1.0 - rates, 0.0)) * (rates @ squares) / (rates @ freed)
        deficits[0] = deficit
        return own, spread, swing, deficits

    def _growth(self, k: int, at: _State, mac: Contention, flow: Response) -> float:
        window = np.array([min(flow.cwnd, float(self.cell.classes[k].growth.limit))])
        window_growth = self.cell.classes[k].growth
        return float(increase_per_rtt(window_growth, window, 1.0, self.options.increase)[0])

    def _goodput(self, state: _State, mac: Contention) -> Floats:
        served = mac.service_rate * state.shares / self.counts
        delivered = served * (1.0 - mac.ap_discards)
        uploaded = served * state.replies * (1.0 - mac.station_discards)
        if self.options.goodput == "acks":
            delivered *= 1.0 - mac.station_discards
            uploaded *= (1.0 - state.overflow) * (1.0 - mac.ap_discards)
        return np.asarray(np.where(self.uploads, uploaded, delivered))

    def _cannot_fill(self, index: int, held: float, mac: Contention) -> str:
        """Return a message that explains why the connections of a class do not reach their target
        share."""
        group, room = self.groups[index], self.targets[index] * self.limit
        windows = sum(self.counts[k] * self.cell.classes[k].growth.limit for k in group)
        discards = max(float(mac.ap_discards[k]) for k in group)
        why = f"their receive windows are {windows:.0f} packets in all"
        if windows > 2.0 * room and discards > 0.0:
            why = f"the channel loses {100.0 * discards:.2g} % of their packets for good"
        return (
            f"{self._name(index)} is {room:.0f} packets, but its {self._size(index)} can hold "
            f"about {held:.0f} even if none is refused: {why}; solved are "
            f"targets up to about {held / self.limit:.2g}"
        )

    def _cannot_hold(self, index: int, why: str) -> str:
        """Return a message about a class that exceeds its target share at every loss rate."""
        if not self.cell.targets:
            return why
        group = self.groups[index]
        count = self.counts[group].sum()
        each = self.targets[index] * self.limit / count
        text = (
            f"{self._name(index)} is {each:.2g} packets for each of its {self._size(index)}, "
            "and no overflows hold them there"
        )
        beta = min(self.cell.classes[k].growth.beta for k in group)
        if each < MIN_VIRTUAL:
            least = MIN_VIRTUAL * count / self.limit
            return f"{text}; the model supports targets from about {least:.2g} on, and {REGULATED}"
        if beta < HALF:
            return (
                f"{text}, as losses with beta = {beta:g} are gentle; the model supports 0.5, or "
                f"{REGULATED}"
            )
        return f"{text}; the model supports {REGULATED}"

    def _size(self, index: int) -> str:
        count = self.counts[self.groups[index]].sum()
        return f"{count:.0f} connection{'s' if count > 1 else ''}"

    def _name(self, index: int) -> str:
        name = f" of class {self.cell.names[index]}" if self.cell.names else ""
        return f"target {self.targets[index]:.3g}{name}"


def wire_packets(cell: Cell) -> float:
    """Return the approximate largest number of packets on the wire, in both directions.
    [packets]
    """
    exchange_s = [each.down.success_s + each.up.success_s for each in cell.classes]
    return cell.wire_s / float(np.average(exchange_s, weights=cell.counts))


def wire_is_long(cell: Cell) -> bool:
    """Return whether the wire carries more than twice as many packets as a connection has on
    average.
    """
    held = wire_packets(cell)
    return held > 2.0 * (cell.buffer_packets + held) / float(cell.counts.sum())


def _probability(rate: float) -> float:
    return min(rate, 0.999)


def _buffers(cell: Cell) -> Floats:
    """Return the size in packets of each group's part of the buffer, or of the whole buffer without
    targets.
    """
    targets = np.array(cell.targets or (1.0,))
    part = cell.occupancy if cell.targets else 1.0
    return np.asarray(targets / targets.sum() * part * cell.buffer_packets)


def starts(cell: Cell) -> Iterator[_State]:
    """Yield the starting points: first equal shares for all connections, then points at which one
    class has most of the queue.
    """
    counts = cell.counts
    size = len(counts)
    groups = max(len(cell.targets), 1)
    equal = _State(
        shares=counts / counts.sum(),
        replies=np.ones(size),
        overflow=np.full(size, 0.01),
        occupancy=0.9 * cell.buffer_packets,
        swing=0.3 * cell.buffer_packets,
        own=np.full(size, 0.4),
        spread=np.full(size, 0.05),
        rates=np.full(groups, 0.1),
        queued=0.9 * _buffers(cell),
    )
    yield equal
    for favoured in range(min(size, STARTED)):
        shares = np.full(size, (1.0 - DOMINANT) / max(size - 1, 1))
        shares[favoured] = DOMINANT if size > 1 else 1.0
        far = np.full(size, 0.2 if favoured % 2 else 1e-4)
        yield replace(
            equal,
            shares=shares,
            overflow=far,
            occupancy=(0.3 + 0.3 * favoured) * cell.buffer_packets,
            rates=np.full(groups, 1.0 if favoured % 2 else 1e-3),
        )


def scattered(cell: Cell, count: int, seed: int = 1) -> Iterator[_State]:
    """Yield starting points with random shares, losses (over four decades), occupancy and queue
    oscillation.

    Parameters
    ----------
    cell : Cell
    count : int
        Number of starting points.
    seed : int
        Seed of the generator; equal seeds give equal points.
    """
    draw = np.random.default_rng(seed)
    first = next(starts(cell))
    for _ in range(count):
        yield replace(
            first,
            shares=draw.dirichlet(cell.counts),
            overflow=10.0 ** draw.uniform(-4.0, -0.3, len(cell.counts)),
            occupancy=draw.uniform(0.05, 1.0) * cell.buffer_packets,
            swing=draw.uniform(0.0, 0.5) * cell.buffer_packets,
            own=np.full(len(cell.counts), draw.uniform(0.0, 1.0)),
            spread=10.0 ** draw.uniform(-3.0, 0.0, len(cell.counts)),
            rates=10.0 ** draw.uniform(-3.0, 0.0, len(first.rates)),
        )


def solve_from(cell: Cell, options: Options, start: _State) -> Solution:
    """Return the fixed point that the iteration reaches from a starting point.

    Raises
    ------
    ModelError
        If the iteration converges to a state in which a class does not reach its target share.
    ConvergenceError
        If the iteration does not converge.
    """
    components = _Components(cell, options)
    state, settled = start, True
    for step in (step for step, rounds in STEPS for _ in range(rounds)):
        check_time("the search for common shares and losses")
        after, solution = components.round(state)
        if after.moved(state, cell.buffer_packets) <= TOLERANCE:
            break
        state = state.towards(after, step)
    else:
        settled = False
    if components.unfilled is not None and len(cell.targets) == 1:
        # If the only class does not fill its target share, the sharing never drops a packet. The
        # queue then acts as a drop-tail queue.
        room = max(int(cell.occupancy * cell.buffer_packets), 1)
        return solve_from(replace(cell, targets=(), buffer_packets=room), options, start)
    if components.unfilled is not None:
        raise ModelError("section V", components.unfilled)
    if settled:
        return solution
    raise ConvergenceError("the components of the model do not settle on common shares and losses")


def solutions(cell: Cell, options: Options) -> list[Solution]:
    """Return all different fixed points that the starting points lead to. The fixed point from
    equal shares is the first.

    Raises
    ------
    ConvergenceError
        If the components do not converge from one of the starting points.
    ModelError
        If there is no fixed point within the model's assumptions.
    TooCostlyError
        If the solution would take longer than the limit.
    """
    kinds, windows = len(cell.classes), sum(each.growth.limit for each in cell.classes)
    need(
        f"the shares of {kinds} kinds of connections",
        time_s=(kinds * KIND_S + windows * WINDOW_S) * (1 + min(kinds, STARTED)) * ROUNDS,
    )
    results: list[Solution] = []
    for start in starts(cell):
        solution = solve_from(cell, options, start)
        if not any(np.abs(solution.shares - other.shares).max() <= SAME for other in results):
            results.append(solution)
    return results
