"""Number of active senders, from packets at an interface."""

from ipaddress import ip_address

from lasthop.enforce.queue.census import Census, FlowCounts, in_words
from lasthop.enforce.queue.config import read
from lasthop.linux.segments import Segment

HERE, THERE = ip_address("10.0.0.7"), ip_address("192.0.2.1")
BEGAN_S = 1000.0
WANTED = read('[interface]\nname = "wan"\nrate = "10 Mbps"\nqueue.threshold = 15\n')


class Flow:
    """A flow in the outgoing direction, and its ACKs."""

    def __init__(self, census: Census, port: int) -> None:
        self.census, self.port, self.next = census, port, 1

    def send(self, at_s: float, payload: int = 1448, rtt_s: float | None = None) -> None:
        """Send a segment, and the ACK that acknowledges it."""
        start, self.next = self.next, self.next + payload
        leaves = Segment(HERE, self.port, THERE, 80, start, self.next, 1, None, None)
        self.census.leaves(leaves, BEGAN_S + at_s)
        if rtt_s is not None:
            comes = Segment(THERE, 80, HERE, self.port, 1, 1, self.next, None, None)
            self.census.comes(comes, BEGAN_S + at_s + rtt_s)


def test_a_flow_that_sends_full_segments_in_each_third_is_long_lived() -> None:
    census = Census(BEGAN_S)
    steady, typed, page, late = (Flow(census, port) for port in range(4))
    for tenth in range(40):
        steady.send(tenth / 10, rtt_s=0.03 + 0.001 * (tenth % 7))
        typed.send(tenth / 10, payload=40, rtt_s=0.01)
    for _ in range(30):
        page.send(1.5, rtt_s=0.02)
    for at_s in (0.5, 2.6, 3.9):  # retransmission time-outs with exponential backoff
        late.send(at_s)
    heard = census.counts(4.0)
    assert (heard.flows, heard.others) == (2, 2)
    assert heard.rtt_s is not None
    assert abs(heard.rtt_s - 0.03) < 1e-9


def test_packets_stamped_near_the_listening_time_belong_to_it() -> None:
    """The time stamps may be slightly outside the listening time, because there are two clocks and
    packets are read late.
    """
    census = Census(BEGAN_S)
    flow = Flow(census, 1)
    for tenth in range(-2, 22):
        flow.send(tenth / 10 + 0.001)
    assert census.counts(2.0) == FlowCounts(2.0, (), 1, 0)


def test_the_median_is_over_the_minimum_of_each_flow() -> None:
    census = Census(BEGAN_S)
    flows = [Flow(census, port) for port in range(3)]
    for flow, rtt_s in zip(flows, (0.01, 0.02, 0.2), strict=True):
        for tenth in range(30):
            flow.send(tenth / 10, rtt_s=rtt_s + 0.05 * (tenth % 4 > 0))
    heard = census.counts(3.0)
    assert [round(each, 9) for each in heard.rtts_s] == [0.01, 0.02, 0.2]
    assert in_words(heard, WANTED) == (
        "wan in 3 s: 3 long-lived flows with an RTT of 20 ms (10 to 200 ms) without this queue"
    )


def test_a_flow_without_answers_has_no_round_trip_time() -> None:
    census = Census(BEGAN_S)
    flow = Flow(census, 1)
    for tenth in range(20):
        flow.send(tenth / 10)
    heard = census.counts(2.0)
    assert heard == FlowCounts(2.0, (), 1, 0)
    assert "without an observed acknowledgement" in in_words(heard, WANTED)
    assert (
        in_words(FlowCounts(2.0, (), 0, 4), WANTED)
        == "wan in 2 s: no long-lived flows, 4 other flows"
    )
