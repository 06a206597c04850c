"""Set the rates of the bottlenecks: ping stations with traffic, and compute the rate C from their
replies.

If a station does not reply, the round-trip times of its TCP segments are measured.
"""

import math
import random
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any

from lasthop.control import CapacityEstimator
from lasthop.enforce.gateway.config import AccessPoint
from lasthop.enforce.gateway.estimator import Candidate, Estimator
from lasthop.enforce.gateway.shaping import Shaping
from lasthop.errors import UserError
from lasthop.linux.overhearing import Overhearing
from lasthop.linux.ping import Pinger


class Rates:
    """Estimators of the bottleneck rates, one for each access point whose rate is not fixed.

    Parameters
    ----------
    shaping : Shaping
    watch, unwatch : callable, optional
        `watch` is called with each socket that receives packets for `take_answers`; `unwatch` is
        called before the socket is closed.
    """

    def __init__(
        self,
        shaping: Shaping,
        watch: Callable[[socket.socket, Callable[[], object]], None] = lambda *_: None,
        unwatch: Callable[[socket.socket], None] = lambda _: None,
    ) -> None:
        self.shaping = shaping
        self.watch, self.unwatch = watch, unwatch
        self.overhearing: dict[str, Overhearing] = {}
        """Object that measures the round-trip times of TCP segments, by the access point's name."""
        self.pinger = Pinger()
        self.estimators: dict[str, Estimator] = {}
        self.sequence = count(1)

    def set_up(self) -> None:
        """Create estimators for access points whose settings have changed. Other estimators keep
        their rates."""
        gateway = self.shaping.gateway
        for gone in set(self.estimators) - {ap.name for ap in gateway.aps}:
            del self.estimators[gone]
        for ap in gateway.aps:
            known = self.estimators.get(ap.name)
            if ap.rate_bps is not None:
                self.estimators.pop(ap.name, None)
            elif known is None or known.ap != ap:
                made = Estimator(
                    ap,
                    CapacityEstimator(ap.wce, seed=random.getrandbits(64)),
                    self.pinger.send,
                    self.next_number,
                    partial(self.passed_bytes, ap.name),
                )
                self.estimators[ap.name] = made
                self.shaping.shaper.set_rate(ap.name, made.controller.capacity_bps)

    def next_number(self) -> int:
        """Return the next sequence number of a ping."""
        return next(self.sequence) & 0xFFFF

    def until_ping(self) -> float:
        """Return the time until the next ping; infinite if no station is active. [s]"""
        due_s = [estimator.due_s for estimator in self.estimators.values()]
        if not due_s or self.shaping.layout is None or not self.shaping.observed.active:
            return math.inf
        return max(min(due_s) - time.monotonic(), 0.0)

    def ping(self) -> None:
        """Send the pings that are due, and set the new rates."""
        if self.shaping.layout is None:
            return
        for name, estimator in self.estimators.items():
            now = time.monotonic()
            if now >= estimator.due_s:
                # Intervals that were missed during a stall are skipped.
                estimator.due_s = max(estimator.due_s, now - estimator.interval_s / 2)
                estimator.due_s += estimator.interval_s
                self.set(name, estimator.tick(list(self.candidates(name))))
                self.listen(name)

    def candidates(self, ap: str) -> Iterator[Candidate]:
        """Yield the stations of an access point that may be pinged: those with traffic."""
        members = self.shaping.shaper.running().members
        observed = self.shaping.observed
        for name in sorted(observed.active - observed.udp_senders):
            member = members.get(name)
            if member is not None and member.ap.name == ap and member.addresses:
                addresses = member.addresses
                yield Candidate(name, tuple(sorted(addresses, key=lambda each: each.version)))

    def take_answers(self) -> None:
        """Process the replies to pings and the timed segments that have arrived, and set the new
        rates."""
        for sequence, at_s in self.pinger.answers():
            for name, estimator in self.estimators.items():
                rate = estimator.answer(sequence, at_s)
                if rate is not None:
                    self.set(name, rate)
                    self.listen(name)
        for ap, overhearing in list(self.overhearing.items()):
            trips = list(overhearing.heard())
            for name, trip in trips:
                self.set(ap, self.estimators[ap].overhear(name, trip))
            if trips:
                self.listen(ap)

    def listen(self, ap: str) -> None:
        """Measure the round-trip times of TCP segments of stations that do not answer pings, one
        station at a time."""
        listening = self.estimators[ap].listening()
        overhearing = self.overhearing.get(ap)
        if overhearing is None:
            if not listening:
                return
            interface = self.shaping.gateway.ap(ap).interface
            try:
                overhearing = self.overhearing[ap] = Overhearing(interface)
            except OSError:
                return  # The interface was removed; the next inspection reports this.
            self.watch(overhearing.socket, self.take_answers)
        overhearing.listen(listening)
        if overhearing.is_idle:
            self.deafen(ap)

    def listen_anew(self) -> None:
        """Stop measuring round-trip times of segments at all access points. `listen` starts the
        measurement again."""
        for ap in list(self.overhearing):
            self.deafen(ap)

    def deafen(self, ap: str) -> None:
        """Stop measuring round-trip times of segments at an access point."""
        if (overhearing := self.overhearing.pop(ap, None)) is not None:
            self.unwatch(overhearing.socket)
            overhearing.close()

    def set(self, ap: str, rate_bps: int) -> None:
        """Set the rate of an access point's bottleneck, if the rate has changed. [bit/s]"""
        if self.shaping.layout is not None and self.shaping.shaper.rates[ap] != rate_bps:
            try:
                self.shaping.shaper.set_rate(ap, rate_bps)
            except UserError as error:
                self.shaping.wrong(error)

    def forget(self, station: str) -> None:
        """Remove all records of a station that has left."""
        for estimator in self.estimators.values():
            estimator.forget(station)

    def status(self, ap: AccessPoint) -> dict[str, Any]:
        """Return the status of the estimator of an access point."""
        entry: dict[str, Any] = {
            "name": ap.name,
            "rate_bps": self.shaping.shaper.rates[ap.name],
            "fairness": ap.fairness,
        }
        if estimator := self.estimators.get(ap.name):
            entry |= {
                "rtt_s": estimator.rtt_s,
                "base_rtt_s": estimator.base_rtt_s,
                "threshold_s": ap.wce.thresholds_s[1],
                "last_step": estimator.controller.last_step,
                "pings": estimator.pings,
                "answers": estimator.answers,
            }
        return entry

    def with_pings(
        self, stations: Iterable[Mapping[str, Any]], now_s: float
    ) -> list[dict[str, Any]]:
        """Return the status rows of stations, with the results of pings added.

        The key `silent` is whether the station does not answer pings. The key `heard` is the source
        of the station's delay samples. The key `late_s` is the excess delay of a station whose late
        replies are ignored. [s]
        """
        late_s = {ap: estimator.late_s() for ap, estimator in self.estimators.items()}
        rows = []
        for row in stations:
            added: dict[str, Any] = {}
            if (estimator := self.estimators.get(row["ap"])) is not None:
                silent = estimator.is_silent(row["name"], now_s)
                heard = estimator.heard(row["name"])
                late = late_s[row["ap"]].get(row["name"])
                added = {"silent": silent, "heard": heard, "late_s": late}
            rows.append({**row, **added})
        return rows

    def passed_bytes(self, ap: str) -> int:
        """Return the number of bytes that have left an access point's bottleneck."""
        try:
            return self.shaping.shaper.passed_bytes(ap)
        except UserError as error:
            self.shaping.wrong(error)
            return 0

    def warnings(self) -> Iterator[str]:
        """Yield a warning for each station whose late replies are ignored."""
        for ap, estimator in self.estimators.items():
            for name, late_s in sorted(estimator.late_s().items()):
                yield (
                    f"access point {ap}: {name} answers {late_s * 1e3:.0f} ms later than the "
                    "others: its answers do not count"
                )

    def faults(self, now_s: float) -> Iterator[str]:
        """Yield the messages of each access point's estimator: no station replies, or a single
        station reduces the rate."""
        for ap in self.shaping.gateway.aps:
            if estimator := self.estimators.get(ap.name):
                yield from estimator.faults(now_s)

    def close(self) -> None:
        """Close all sockets."""
        self.listen_anew()
        self.pinger.close()
