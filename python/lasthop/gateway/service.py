"""A gateway that is up: it finds stations, pings them, sets rates, heals, and answers questions.

One thread and one loop; only looking for stations, which may wait for an access point, has a
thread of its own.
"""

import json
import os
import selectors
import signal
import socket
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import Any

from lasthop.control import Wce
from lasthop.errors import UserError
from lasthop.gateway import config
from lasthop.gateway.cautions import cautions
from lasthop.gateway.config import Gateway, Station
from lasthop.gateway.discovery import bridge_ports, listen, look
from lasthop.gateway.estimator import Candidate, Estimator
from lasthop.gateway.layout import range_of_rates, refuse_what_does_not_fit
from lasthop.gateway.log import say
from lasthop.gateway.observed import Observed
from lasthop.gateway.roster import Roster, Sighting
from lasthop.gateway.shaper import Shaper
from lasthop.gateway.state import State
from lasthop.linux.heard import Heard
from lasthop.linux.ping import Pinger
from lasthop.linux.udp_sample import UdpSample

__all__ = ["Service"]

COUNTED_EVERY_S = 1.0
HEALED_EVERY_S = 2.0
REQUEST_BYTES = 1 << 16
ASKED_S = 1.0
"""A question that takes longer to arrive is given up. [s]"""


class Service:
    """A gateway in the making, running, and taken down again.

    Parameters
    ----------
    gateway : Gateway
    state : State
        Its lock is held by this process.
    again : callable
        Reads the file anew, for a reload.
    say : callable
        Takes a line of the log.
    """

    def __init__(
        self,
        gateway: Gateway,
        state: State,
        again: Callable[[], Gateway],
        say: Callable[[str], None] = say,
    ) -> None:
        self.gateway = gateway
        self.state = state
        self.again = again
        self.say = say
        self.sequence = count(1)
        self.pinger = Pinger()
        self.roster = Roster(gateway)
        self.shaper = Shaper(gateway, state.log)
        self.udp = UdpSample(())
        self.heard = Heard(())
        self.observed = Observed(gateway)
        self.estimators: dict[str, Estimator] = {}
        self.faults: list[str] = []
        self.unforeseen: dict[Callable[[], None], str] = {}
        """Errors that nothing else has caught, by what made them the last time."""
        self.started_s = time.time()
        self.stopping = False
        self.looking: Future[tuple[list[Sighting], list[str]]] | None = None
        self.source_faults: list[str] = []
        self.warnings: list[str] = []
        self.latest = self.status()
        """The status a second ago at most, for other threads."""

    # Up and down.

    def up(self) -> None:
        """Take back what a process that was killed has left, look around, and set up."""
        kept = self.shaper.changes.undo_all()
        if kept:
            raise UserError(
                f"{self.state.log.path}: {kept[0]}", "what it names must be undone first"
            )
        self.shaper.check()
        seen, self.source_faults = look(self.gateway)
        self.roster.see(seen, time.monotonic())
        self.set_up()

    def set_up(self) -> None:
        """Set up the kernel for who is there, and all that watches it."""
        self.shaper.up(self.roster.stations())
        self.udp.close()
        self.udp = UdpSample(self.gateway.lans)
        self.listen_anew()
        self.observed = Observed(self.gateway)
        for gone in set(self.estimators) - {ap.name for ap in self.gateway.aps}:
            del self.estimators[gone]
        for ap in self.gateway.aps:
            known = self.estimators.get(ap.name)
            if ap.rate_bps is not None:
                self.estimators.pop(ap.name, None)
            elif known is None or known.ap != ap:
                self.estimators[ap.name] = Estimator(
                    ap, Wce(**ap.wce), self.pinger.send, self.next_number
                )
                self.shaper.set_rate(ap.name, self.estimators[ap.name].controller.capacity_bps)

    def listen_anew(self) -> None:
        """Listen where the machine has no neighbours."""
        self.heard.close()
        self.heard = Heard(bridge_ports(self.gateway))
        self.look_at_machine()

    def look_at_machine(self) -> None:
        """Find out what to mind; what the kernel does not tell is no reason to end."""
        with suppress(UserError):
            self.warnings = cautions(self.gateway)

    def next_number(self) -> int:
        """The next sequence number of a ping."""
        return next(self.sequence) & 0xFFFF

    def down(self) -> list[str]:
        """Take everything back; what could not be, in words."""
        return self.shaper.down()

    def close(self) -> None:
        """Let go of sockets."""
        self.shaper.close()
        self.pinger.close()
        self.udp.close()
        self.heard.close()

    # The loop.

    def run(self, is_up: Callable[[], None], show: Callable[[dict[str, Any]], None] | None) -> None:
        """Run until SIGTERM, SIGINT or a request to stop.

        `is_up` is called once all is set up; `show` gets the status every second.
        """
        with ExitStack() as stack:
            selector = stack.enter_context(selectors.DefaultSelector())
            workers = stack.enter_context(ThreadPoolExecutor(1, "discovery"))
            control = stack.enter_context(listener(self.state.address))
            stack.callback(suppress_missing, self.state.address)
            wake, waker = (stack.enter_context(end) for end in socket.socketpair())
            waker.setblocking(False)
            stack.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(waker.fileno()))
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                before = signal.signal(number, lambda *_: None)
                stack.callback(signal.signal, number, before)
            selector.register(control, selectors.EVENT_READ, lambda: self.serve(control))
            selector.register(wake, selectors.EVENT_READ, lambda: self.signalled(wake.recv(64)))
            for raw in self.pinger.sockets.values():
                selector.register(raw, selectors.EVENT_READ, self.take_answers)
            is_up()
            self.loop(selector, workers, show)

    def loop(
        self,
        selector: selectors.BaseSelector,
        workers: ThreadPoolExecutor,
        show: Callable[[dict[str, Any]], None] | None,
    ) -> None:
        """Do what is due, wait for the next."""
        due: dict[Callable[[], None], tuple[float, Callable[[], float]]] = {}

        def every(period_s: Callable[[], float], do: Callable[[], None]) -> None:
            due[do] = (time.monotonic() + period_s(), period_s)

        every(self.until_ping, self.ping)
        every(lambda: COUNTED_EVERY_S, lambda: self.count(show))
        every(lambda: HEALED_EVERY_S, self.heal)
        every(lambda: self.gateway.discovery.interval_s, lambda: self.discover(workers))
        while not self.stopping:
            wait = min(at for at, _ in due.values()) - time.monotonic()
            for key, _ in selector.select(max(wait, 0)):
                self.guarded(key.data)
            now = time.monotonic()
            for do, (at, period_s) in list(due.items()):
                if at <= now:
                    self.guarded(do)
                    # After a stall the missed rounds are left out.
                    due[do] = (max(at + period_s(), now), period_s)

    def guarded(self, do: Callable[[], None]) -> None:
        """Do something; whatever is wrong with it is a fault, and what is in force stays so."""
        try:
            do()
        except BrokenPipeError:
            raise  # nobody reads any more what `run` prints
        except Exception as error:
            words = in_words(error)
            if self.unforeseen.get(do) != words:
                self.say(f"{words}\n{traceback.format_exc()}" if is_defect(error) else words)
            self.unforeseen[do] = words
        else:
            self.unforeseen.pop(do, None)

    def until_ping(self) -> float:
        """Time until an access point's next ping is due. [s]"""
        due_s = [estimator.due_s for estimator in self.estimators.values()]
        if not due_s or self.shaper.layout is None:
            return COUNTED_EVERY_S
        return max(min(due_s) - time.monotonic(), 0.0)

    def signalled(self, numbers: bytes) -> None:
        """Signals that have come in."""
        for number in numbers:
            if number == signal.SIGHUP:
                for line in self.reload():
                    self.say(f"reload refused: {line}")
            else:
                self.stopping = True

    # Rates.

    def ping(self) -> None:
        """A round of pings, and the rates that follow."""
        if self.shaper.layout is None:
            return
        for name, estimator in self.estimators.items():
            now = time.monotonic()
            if now >= estimator.due_s:
                # After a stall the missed rounds are left out.
                estimator.due_s = max(estimator.due_s, now - estimator.interval_s / 2)
                estimator.due_s += estimator.interval_s
                rate = estimator.tick(now, time.time(), self.candidates(name))
                self.set_rate(name, rate)

    def candidates(self, ap: str) -> Iterator[Candidate]:
        """Stations of an access point that may be pinged: those with traffic."""
        members = self.shaper.running().members
        for name in sorted(self.observed.active - self.observed.udp_senders):
            member = members.get(name)
            if member is not None and member.ap.name == ap and member.entries:
                yield Candidate(name, member.entries[0][0])

    def take_answers(self) -> None:
        """Answers to pings, and the rates that follow."""
        for sequence, at_s in self.pinger.answers():
            for name, estimator in self.estimators.items():
                rate = estimator.answer(sequence, time.monotonic(), at_s)
                if rate is not None:
                    self.set_rate(name, rate)

    def set_rate(self, ap: str, rate_bps: int) -> None:
        """Give a bottleneck its rate, if it has another one. [bit/s]"""
        if self.shaper.layout is not None and self.shaper.rates[ap] != rate_bps:
            try:
                self.shaper.set_rate(ap, rate_bps)
            except UserError as error:
                self.faults = [str(error)]  # `heal` finds out what is wrong

    # Stations.

    def discover(self, workers: ThreadPoolExecutor) -> None:
        """Take what the last look has found and start the next."""
        if self.looking is not None:
            if not self.looking.done():
                return
            done, self.looking = self.looking, None
            seen, self.source_faults = done.result()
            self.roster.see(seen, time.monotonic())
            self.settle(self.roster.stations())
        self.looking = workers.submit(look, self.gateway)
        self.look_at_machine()

    def listen(self) -> None:
        """Take who has been heard at ports of bridges."""
        seen = list(listen(self.gateway, self.heard))
        if seen:
            self.roster.see(seen, time.monotonic())
            self.settle(self.roster.stations())

    def settle(self, wanted: Sequence[Station]) -> None:
        """Let stations leave and join, so that exactly these have a place."""
        if self.shaper.layout is None:
            return
        by_name = {station.name: station for station in wanted}
        members = self.shaper.layout.members
        stays = {
            name
            for name, member in members.items()
            if name in by_name
            and by_name[name].ap == member.ap.name
            and by_name[name].rate_bps == member.station.rate_bps
        }
        try:
            for name in set(members) - stays:
                self.shaper.leave(name)
                for estimator in self.estimators.values():
                    estimator.forget(name)
            # Addresses that move from one station to another are given up first.
            for name in stays:
                has = {address for address, _ in members[name].entries}
                left = has & set(by_name[name].addresses)
                if left != has:
                    self.shaper.readdress(name, left)
            for name, station in by_name.items():
                if name not in stays:
                    self.shaper.join(station)
                elif {a for a, _ in members[name].entries} != set(station.addresses):
                    self.shaper.readdress(name, station.addresses)
        except UserError as error:
            self.faults = [str(error)]

    # What the kernel says.

    def count(self, show: Callable[[dict[str, Any]], None] | None) -> None:
        """Read all counters."""
        self.listen()
        if (layout := self.shaper.layout) is not None:
            try:
                counters = self.shaper.counters()
            except UserError as error:
                self.faults = [str(error)]
            else:
                members = layout.members
                udp = self.udp.look({a for each in members.values() for a, _ in each.entries})
                self.observed.take(members, counters, udp, time.monotonic(), layout.ap_class)
        self.latest = self.status()
        if show is not None:
            show(self.latest)

    def heal(self) -> None:
        """If others have removed something of ours, set everything up anew once that works."""
        if self.shaper.layout is not None:
            try:
                self.faults = self.shaper.faults()
            except UserError as error:
                self.faults = [str(error)]
            if not self.faults:
                return
            self.say(f"{'; '.join(self.faults)}: setting up anew")
        try:
            for line in self.shaper.down():  # also what could not be taken back before
                raise UserError(line)
            self.shaper.check()
            self.set_up()
        except UserError as error:
            if self.faults != [str(error)]:
                self.say(f"not shaping: {error}")
            self.faults = [str(error)]
        else:
            self.say("shaping again")
            self.faults = []

    # Questions.

    def serve(self, control: socket.socket) -> None:
        """Answer a question."""
        with suppress(OSError, ValueError):
            there, _ = control.accept()
            with there:
                there.settimeout(ASKED_S)
                request = json.loads(there.recv(REQUEST_BYTES))
                there.sendall(json.dumps(self.answer(request)).encode())

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question."""
        match request.get("do"):
            case "status":
                return self.status()
            case "reload":
                if file := request.get("file"):
                    settings = [(path, value) for path, value in request.get("settings", ())]
                    refused = self.reload(lambda: config.read(Path(file), settings))
                    if not refused:
                        with suppress(UserError):  # it is for later commands; this one went well
                            self.state.write_file(Path(file))
                    return {"refused": refused}
                return {"refused": self.reload()}
            case "stop":
                self.stopping = True
                return {"pid": os.getpid()}
        return {"refused": [f"unknown request {request.get('do')!r}"]}

    def reload(self, again: Callable[[], Gateway] | None = None) -> list[str]:
        """Read the file anew, or another one from now on; if anything is wrong with it, in words,
        what is in force stays so.
        """
        wanted = again or self.again
        try:
            new = wanted()
            self.refuse(new)
        except UserError as error:
            return str(error).splitlines()
        except Exception as error:
            return [in_words(error)]
        try:
            self.take_over(new)
        except Exception as error:
            return [in_words(error)]
        self.again = wanted
        return []

    def refuse(self, new: Gateway) -> None:
        """Refuse, before anything is touched, a file that cannot be taken over."""
        if new.lan != self.gateway.lan:
            raise UserError(
                f'gateway.lan: "{new.lan}" is not that of the gateway that is up, '
                f'"{self.gateway.lan}"; end that first, with down'
            )
        stations = carried_over(self.roster, new).stations()
        refuse_what_does_not_fit(new, stations)
        with Shaper(new, self.state.log) as shaper:
            shaper.check(is_up=True)

    def take_over(self, new: Gateway) -> None:
        """Do what another file says; if that fails, what the old one says again."""
        old, self.gateway = self.gateway, new
        if old == new:
            return
        before, roster = self.shaper, self.roster
        self.roster = carried_over(roster, new)
        # What was wrong with the old sources is over, also what a look under way finds.
        self.looking, self.source_faults = None, []
        try:
            if before.layout is not None and same_classes(old, new):
                self.let(new)
                return
            for line in before.down():
                raise UserError(line)
            self.shaper = Shaper(new, self.state.log)
            self.shaper.check()
            self.set_up()
        except Exception:
            if self.shaper is not before:
                self.shaper.close()
            self.gateway, self.shaper, self.roster = old, before, roster
            if before.layout is None:
                self.heal()
            else:
                self.let(old)
            raise
        before.close()

    def let(self, gateway: Gateway) -> None:
        """Let stations of this file in, whose classes are those that there are."""
        layout = self.shaper.running()
        self.shaper.gateway = layout.gateway = self.observed.gateway = gateway
        self.listen_anew()
        self.settle(self.roster.stations())

    def status(self) -> dict[str, Any]:
        """What there is to know, for people and programs."""
        now = time.monotonic()
        aps, silent = [], []
        for ap in self.gateway.aps:
            entry: dict[str, Any] = {"name": ap.name, "rate_bps": self.shaper.rates[ap.name]}
            entry["fairness"] = ap.fairness
            if estimator := self.estimators.get(ap.name):
                entry["rtt_s"] = estimator.rtt_s
                entry["base_rtt_s"] = estimator.controller.base_rtt_s
                entry["threshold_s"] = estimator.controller.thresholds_s[1]
                entry["last_step"] = estimator.controller.last_step
                entry["pings"], entry["answers"] = estimator.pings, estimator.answers
                silent += estimator.faults(now)
            aps.append(entry)
        stations = self.observed.stations()
        for row in stations:
            if estimator := self.estimators.get(row["ap"]):
                row["silent"] = estimator.is_silent(row["name"], now)
        return {
            "name": self.gateway.name,
            "pid": os.getpid(),
            "started_s": self.started_s,
            "shaping": self.shaper.layout is not None,
            "faults": [
                *self.faults,
                *self.source_faults,
                *self.unforeseen.values(),
                *silent,
            ],
            "warnings": self.warnings,
            "aps": aps,
            "stations": stations,
        }


def same_classes(old: Gateway, new: Gateway) -> bool:
    """Whether only stations and discovery differ, so that nobody else need notice."""
    return range_of_rates(old) == range_of_rates(new) and all(
        getattr(old, name) == getattr(new, name)
        for name in (
            "wan",
            "lan",
            "queue_packets",
            "discipline",
            "flow_leaves",
            "aps",
        )
    )


def carried_over(roster: Roster, gateway: Gateway) -> Roster:
    """The roster for another file, with all that was found."""
    new = Roster(gateway)
    new.found = roster.found
    return new


def listener(address: str) -> socket.socket:
    """A socket for questions; that of a process that was killed is in the way."""
    there = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        suppress_missing(address)
        there.bind(address)
        os.chmod(address, 0o600)
        there.listen(8)
    except OSError as error:
        there.close()
        raise UserError(f"{address}: {error.strerror or error}") from None
    there.setblocking(False)
    return there


def suppress_missing(path: str) -> None:
    """Remove a file, if it is there."""
    with suppress(FileNotFoundError):
        os.unlink(path)


def in_words(error: Exception) -> str:
    """What is wrong, in a line."""
    if is_defect(error):
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return str(error)


def is_defect(error: Exception) -> bool:
    """Whether nobody has foreseen this."""
    return not isinstance(error, UserError)
