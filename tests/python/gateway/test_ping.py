"""Answers to pings are accepted only from pinged stations, and only after a ping."""

import socket
from ipaddress import ip_address

import pytest

from lasthop.linux.ping import (
    HEADER,
    REMEMBERED,
    REPLY,
    SO_TIMESTAMPNS,
    STAMP,
    Clock,
    Pinger,
    Secret,
)

ASKED, OTHER = ip_address("10.0.0.7"), ip_address("10.0.0.8")


def test_an_answer_is_identified_by_address_sequence_number_and_secret() -> None:
    secret = Secret()
    payload = secret.payload(ASKED, 7)
    assert len(payload) == 48
    assert secret.knows(payload, ASKED, 7)
    assert not secret.knows(payload, OTHER, 7)
    assert not secret.knows(payload, ASKED, 8)
    assert not secret.knows(bytes(range(48)), ASKED, 7)
    assert not secret.knows(payload[:-25], ASKED, 7)
    assert not secret.knows(b"", ASKED, 7)
    assert not Secret().knows(payload, ASKED, 7)


def test_an_old_answer_is_ignored_before_its_sequence_number_is_reused() -> None:
    secret = Secret()
    payload = secret.payload(ASKED, 7)
    secret.sent += REMEMBERED - 1
    assert secret.knows(payload, ASKED, 7)
    secret.payload(OTHER, 8)
    assert not secret.knows(payload, ASKED, 7)


class Air:
    """Two clocks, and a raw socket on which answers arrive after a delay."""

    def __init__(self) -> None:
        self.now_s, self.ahead_s = 1000.0, 1_795_000_000.0
        self.waiting: list[tuple[float, bytes]] = []

    def clocks(self) -> tuple[float, float]:
        return self.now_s + self.ahead_s, self.now_s

    def sendto(self, packet: bytes, _: object) -> None:
        _, _, _, identifier, sequence = HEADER.unpack_from(packet)
        answer = HEADER.pack(REPLY[4], 0, 0, identifier, sequence) + packet[HEADER.size :]
        self.waiting.append((0.0, b"\x45" + bytes(19) + answer))

    def arrive(self) -> None:
        """Let the answers arrive in the kernel, which adds time stamps."""
        self.waiting = [(self.now_s + self.ahead_s, packet) for _, packet in self.waiting]

    def recvmsg(self, *_: int) -> tuple[bytes, list[tuple[int, int, bytes]], int, tuple[str, int]]:
        if not self.waiting:
            raise BlockingIOError
        stamp_s, packet = self.waiting.pop(0)
        stamp = STAMP.pack(int(stamp_s), round(stamp_s % 1 * 1e9))
        return packet, [(socket.SOL_SOCKET, SO_TIMESTAMPNS, stamp)], 0, (str(ASKED), 0)


@pytest.mark.parametrize("step_s", [0.0, 3600.0, -0.02, 0.02, -86400.0])
@pytest.mark.parametrize("when", ["before", "under way", "waiting"])
def test_setting_the_clock_does_not_change_round_trip_times(step_s: float, when: str) -> None:
    """The clock is set before the answer arrives, or after it has arrived but before it is read."""
    air = Air()
    pinger = Pinger({4: air}, Clock(air.clocks))
    counted = []
    for sequence in range(1, 6):
        for name, passed_s in (("before", 0.06), ("under way", 0.03), ("waiting", 0.01)):
            if name == "under way":
                assert pinger.send(ASKED, sequence)
                sent_s = air.now_s
            elif name == "waiting":
                air.arrive()
            air.now_s += passed_s
            if sequence == 3 and name == when:
                air.ahead_s += step_s
        counted += [(each.sequence, each.at_s - sent_s) for each in pinger.answers()]
    assert [sequence for sequence, _ in counted] == [
        k for k in range(1, 6) if k != 3 or not step_s or when == "before"
    ]
    assert [rtt_s for _, rtt_s in counted] == pytest.approx([0.03] * len(counted), abs=1e-6)


def test_a_slewed_clock_does_not_count_as_set() -> None:
    """chrony changes the speed of a clock by up to a twelfth."""
    air = Air()
    clock = Clock(air.clocks)
    for passed_s in (1e-4, 0.1, 5.0, 3600.0):
        air.now_s += passed_s
        air.ahead_s += passed_s / 12
        assert not clock.compare()
    air.ahead_s -= 0.002
    assert clock.compare()
    assert not clock.compare()
