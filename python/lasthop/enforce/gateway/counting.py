"""Periodic reading of the kernel's counters.

The counters are read every second during traffic or while the status is displayed, and otherwise
every `IDLE_S`. If pings are sent, the first packet that leaves a bottleneck ends the idle period,
so that the stations to ping are known immediately.
"""

import socket
import time
from collections.abc import Collection, Iterable

from lasthop.daemon.loop import SLOW_S, Deed, Loop
from lasthop.enforce.gateway.layout import Layout
from lasthop.enforce.gateway.shaping import Shaping
from lasthop.errors import UserError
from lasthop.linux.address_sample import AddressSample
from lasthop.linux.packets import first_packet
from lasthop.linux.tc import Address
from lasthop.linux.udp_sample import UdpSample

COUNTED_EVERY_S = 1.0
IDLE_S = SLOW_S
"""Interval between two readings of the counters if there is no traffic and the status is not
displayed. [s]"""
STILL_LOOKS = 3
"""Number of readings without traffic after which the gateway is idle."""


class Counting:
    """Reader of the kernel's counters of stations and bottlenecks.

    Parameters
    ----------
    shaping : Shaping
    loop : Loop
    again : callable
        Function that the event loop calls to read the counters.
    ping : callable
        Function that the event loop calls to send pings.
    """

    def __init__(self, shaping: Shaping, loop: Loop, again: Deed, ping: Deed) -> None:
        self.shaping = shaping
        self.loop = loop
        self.again = again
        self.ping = ping
        self.udp = UdpSample(())
        self.addresses: AddressSample | None = None
        """Sample of the addresses with traffic; None if no sample is drawn. The sample finds the
        active stations of access points whose stations have no leaf of their own."""
        self.is_watched = False
        """Whether the status is displayed, so that counters are read every second."""
        self.still = 0
        """Number of consecutive readings without traffic."""
        self.tap: socket.socket | None = None
        """Socket that waits for the packet which ends an idle period; None outside of idle
        periods."""

    def close(self) -> None:
        """Close all sockets."""
        self.udp.close()
        self.stop_sampling()
        self.remove_tap()

    def listen_anew(self, interfaces: Iterable[str]) -> None:
        """Count uplink UDP at these interfaces from now on, and close the sockets at the previous
        interfaces."""
        self.udp.close()
        self.udp = UdpSample(interfaces)
        self.stop_sampling()
        self.remove_tap()

    def until_count(self) -> float:
        """Return the time until the next reading of the counters. [s]"""
        return IDLE_S if self.is_idle and not self.is_watched else COUNTED_EVERY_S

    @property
    def is_idle(self) -> bool:
        """Return whether the last `STILL_LOOKS` readings of the counters showed no traffic."""
        return self.still >= STILL_LOOKS

    def count(self) -> None:
        """Read all counters and update the observed state of stations."""
        shaping, gateway = self.shaping, self.shaping.gateway
        if (layout := shaping.layout) is None:
            return
        try:
            counters = shaping.shaper.counters()
        except UserError as error:
            shaping.wrong(error)
            return
        members, observed = layout.members, shaping.observed
        known = {a for each in members.values() for a in each.addresses}
        udp = self.udp.look(known)
        met = self.met(layout, known)
        was_active = bool(observed.active)
        observed.take(
            members, counters, udp, time.monotonic(), layout.ap_class, met, layout.bundles
        )
        self.still = 0 if observed.active or observed.udp_senders else self.still + 1
        if observed.active and not was_active:
            self.loop.at(time.monotonic(), self.ping)
        if self.is_idle and self.tap is None and any(ap.rate_bps is None for ap in gateway.aps):
            self.tap = first_packet(layout.ifb.name)
            if self.tap is not None:
                self.loop.watch(self.tap, self.wake)

    def met(self, layout: Layout, known: Collection[Address]) -> Collection[Address]:
        """Return the stations' addresses in the sampled packets that have left the bottlenecks. If
        every access point has one leaf per station, nothing is sampled and the result is empty."""
        if all(ap.has_leaf_each for ap in self.shaping.gateway.aps):
            return ()
        if self.addresses is None or self.addresses.interface != layout.ifb.name:
            self.stop_sampling()
            try:
                self.addresses = AddressSample(layout.ifb.name)
            except OSError:
                return ()  # The interface was removed; the next inspection reports this.
        return self.addresses.look(known)

    def stop_sampling(self) -> None:
        """Stop sampling addresses with traffic."""
        if self.addresses is not None:
            self.addresses.close()
            self.addresses = None

    def count_again(self) -> None:
        """Read all counters, unless they were read within the last second."""
        last_s = self.shaping.observed.last_s
        if last_s is None or time.monotonic() - last_s >= COUNTED_EVERY_S:
            self.count()

    def wake(self) -> None:
        """End the idle period, since traffic has begun. From now on, the counters are read every
        second."""
        self.remove_tap()
        self.still = 0
        self.loop.at(time.monotonic(), self.again)

    def remove_tap(self) -> None:
        """Close the socket that waits for the first packet after an idle period."""
        if self.tap is not None:
            self.loop.unwatch(self.tap)
            self.tap.close()
            self.tap = None
