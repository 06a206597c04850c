"""When counters are read: every second while something moves or somebody watches, else seldom.

Where pings are sent, the first packet that leaves the bottlenecks ends an idle time, so that whom
to ping is known as soon as ever.
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
"""Time between two looks where nothing has moved and nobody watches. [s]"""
STILL_LOOKS = 3
"""After so many looks at which nothing had moved the time is idle."""


class Counting:
    """Reads counters.

    Parameters
    ----------
    shaping : Shaping
    loop : Loop
    again : callable
        What the loop does when counters are to be read.
    ping : callable
        What it does when pings are due.
    """

    def __init__(self, shaping: Shaping, loop: Loop, again: Deed, ping: Deed) -> None:
        self.shaping = shaping
        self.loop = loop
        self.again = again
        self.ping = ping
        self.udp = UdpSample(())
        self.addresses: AddressSample | None = None
        """Who has traffic at access points without a leaf for each station."""
        self.is_watched = False
        """Whether somebody wants to know every second."""
        self.still = 0
        """Looks since anything has moved."""
        self.tap: socket.socket | None = None
        """Where the first packet after an idle time is seen."""

    def close(self) -> None:
        """Let go of sockets."""
        self.udp.close()
        self.stop_sampling()
        self.remove_tap()

    def listen_anew(self, interfaces: Iterable[str]) -> None:
        """Listen for uplink UDP at the interfaces that are there now."""
        self.udp.close()
        self.udp = UdpSample(interfaces)
        self.stop_sampling()
        self.remove_tap()

    def until_count(self) -> float:
        """Time until counters are read again. [s]"""
        return IDLE_S if self.is_idle and not self.is_watched else COUNTED_EVERY_S

    @property
    def is_idle(self) -> bool:
        """Whether nothing has moved for a while."""
        return self.still >= STILL_LOOKS

    def count(self) -> None:
        """Read all counters."""
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
        """Addresses whose packets have left the bottlenecks, where leaves do not tell."""
        if all(ap.has_leaf_each for ap in self.shaping.gateway.aps):
            return ()
        if self.addresses is None or self.addresses.interface != layout.ifb.name:
            self.stop_sampling()
            try:
                self.addresses = AddressSample(layout.ifb.name)
            except OSError:
                return ()  # the interface is gone; the gateway finds out by itself
        return self.addresses.look(known)

    def stop_sampling(self) -> None:
        """Look at no addresses."""
        if self.addresses is not None:
            self.addresses.close()
            self.addresses = None

    def count_again(self) -> None:
        """Read all counters, if that was not just now."""
        last_s = self.shaping.observed.last_s
        if last_s is None or time.monotonic() - last_s >= COUNTED_EVERY_S:
            self.count()

    def wake(self) -> None:
        """Traffic has begun: count it from now on."""
        self.remove_tap()
        self.still = 0
        self.loop.at(time.monotonic(), self.again)

    def remove_tap(self) -> None:
        """Look at no packet."""
        if self.tap is not None:
            self.loop.unwatch(self.tap)
            self.tap.close()
            self.tap = None
