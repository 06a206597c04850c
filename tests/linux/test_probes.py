"""How the gateway's sockets handle packets: forged answers, and fast senders of UDP."""

import socket
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address

import pytest

from lab import PATIENCE_S, sh
from lasthop.linux.address_sample import AddressSample
from lasthop.linux.netns import Namespace
from lasthop.linux.ping import HEADER, Answer, Pinger, checksum
from lasthop.linux.tc import Address
from lasthop.linux.udp_sample import Counted, UdpSample


@pytest.fixture
def node() -> Iterator[Namespace]:
    node = Namespace()
    node.run(lambda: sh("ip link set lo up"))
    yield node
    node.close()


def until_some(look: Callable[[], list[Answer]]) -> list[Answer]:
    """Call `look` until it returns answers, and return these answers; empty if no answer
    arrives.
    """
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if answers := look():
            return answers
        time.sleep(0.01)
    return []


def forge(source: str, identifier: int, sequence: int, payload: bytes) -> None:
    """Send an unsolicited echo reply."""
    packet = HEADER.pack(0, 0, 0, identifier, sequence) + payload
    packet = HEADER.pack(0, 0, checksum(packet), identifier, sequence) + payload
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.bind((source, 0))
        raw.sendto(packet, ("127.0.0.1", 0))


@pytest.mark.parametrize("address", ["127.0.0.2", "::1"])
def test_a_station_answers(node: Namespace, address: str) -> None:
    def work() -> list[int]:
        pinger = Pinger()
        assert pinger.send(ip_address(address), 7)
        answers = until_some(pinger.answers)
        pinger.close()
        return [answer.sequence for answer in answers]

    assert node.run(work) == [7]


def test_a_station_cannot_answer_for_another_nor_before_it_is_asked(node: Namespace) -> None:
    def work() -> tuple[list[Answer], list[Answer]]:
        pinger = Pinger()
        payload = pinger.secret.payload(ip_address("127.0.0.2"), 7)
        for sequence in range(20):  # an attacker can guess the identifier and the sequence numbers
            forge("127.0.0.2", pinger.identifier, sequence, bytes(48))
        forge("127.0.0.3", pinger.identifier, 7, payload)
        forge("127.0.0.2", pinger.identifier, 8, payload)
        time.sleep(0.2)
        forged = pinger.answers()
        forge("127.0.0.2", pinger.identifier, 7, payload)
        true = until_some(pinger.answers)
        pinger.close()
        return forged, true

    forged, true = node.run(work)
    assert forged == []
    assert [answer.sequence for answer in true] == [7]


@pytest.mark.parametrize("fast_packets", [8_000, 40_000])
def test_fast_and_slow_senders_are_counted(node: Namespace, fast_packets: int) -> None:
    """Between two reads of the sample, a fast sender sends 96 or 480 Mbit at full speed, together
    with a slow sender.
    """
    fast, slow, unknown = (ip_address(f"127.0.0.{k}") for k in (2, 3, 4))
    slow_packets = 4_000

    def work() -> dict[Address, Counted]:
        sample = UdpSample(["lo"])
        senders = []
        for address in (fast, slow, unknown):
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sender.bind((str(address), 0))
            senders.append(sender)
        data = bytes(1472)
        for k in range(fast_packets):
            senders[0].sendto(data, ("127.0.0.1", 9))
            if k % (fast_packets // slow_packets) == 0:
                senders[1].sendto(data, ("127.0.0.1", 9))
            if k % 100 == 0:
                senders[2].sendto(data, ("127.0.0.1", 9))
        for sender in senders:
            sender.close()
        total = dict(sample.look({fast, slow}))
        assert sample.look({fast}) == {fast: total[fast]}
        sample.close()
        return total

    total = node.run(work)
    assert set(total) == {fast, slow}
    assert total[fast].packets == pytest.approx(fast_packets, rel=0.2)
    assert total[fast].bytes == pytest.approx(1500 * total[fast].packets, rel=0.01)
    # The tolerance is five standard deviations of the number of sampled packets (450, or 150).
    assert total[slow].packets == pytest.approx(slow_packets, rel=0.5)


def test_senders_of_passing_packets_are_seen(node: Namespace) -> None:
    reachable, elsewhere, unknown = (ip_address(f"127.0.0.{k}") for k in (2, 3, 4))

    def work() -> tuple[set[Address], set[Address]]:
        sample = AddressSample("lo")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for address in (reachable, unknown):
                for _ in range(200):
                    sender.sendto(b"", (str(address), 9))
        seen = sample.look({reachable, elsewhere}), sample.look({reachable, elsewhere})
        sample.close()
        return seen

    # at least one of 200 packets is sampled, except with probability (7/8)^200
    assert node.run(work) == ({reachable}, set())
