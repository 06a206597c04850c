"""Page loads and chunks of a video in an idle cell of 802.11g, against times worked by hand."""

from math import ceil
from typing import Any

import pytest

import lasthop as lh

CELL = """
duration = "4 s"
warmup = "0 s"
replications = 1
cell = { phy = "802.11g", cwmin = 0, ap.cwmin = 0, ap_queue = 1000 }
wire = { rate = "8 Mbps", delay = "10 ms", queue = 1000 }
tcp = { delayed_ack = false, mss = "1000 B", header = "40 B", window = 500 }
[station.a]
"""
BYTE_S, DELAY_S, SERVER_S = 1e-6, 0.01, 0.003
"""Time of a byte on the wire, propagation over the wire, and processing at the server."""
WAIT_S = 72e-6
"""SIFS, MAC ACK at 24 Mb/s and DIFS: the wait of a packet that is ready at the end of a frame."""


def frame_s(ip_bytes: int) -> float:
    """Return the time of a data frame at 54 Mb/s: preamble, symbols of 216 bits, and signal
    extension. The MAC header, FCS and LLC have 36 B; service and tail have 22 bits.
    """
    return (20 + 4 * ceil((22 + 8 * (ip_bytes + 36)) / 216) + 6) * 1e-6


def wire_s(*ip_bytes: int) -> float:
    return BYTE_S * sum(ip_bytes) + DELAY_S


def flow(station: str) -> dict[str, Any]:
    [item] = lh.simulate(CELL + station).summary["flows"]
    return dict(item)


def test_a_page_takes_its_packets_in_a_row() -> None:
    page = flow(
        "tcp = { handshake = true, initial_window = 2 }\n"
        'web = { connections = 0.1, arrivals = "constant", request = "300 B", response = "1 kB",'
        ' server_delay = "3 ms" }\n'
    )
    packets = (40, 40, 340, 1040)  # SYN, SYN-ACK, request, response
    expected_s = sum(wire_s(each) + frame_s(each) for each in packets) + SERVER_S + WAIT_S
    assert page["completion_s"]["mean"] == pytest.approx(expected_s, abs=2e-9)
    assert page["completion_p50_s"]["mean"] == pytest.approx(expected_s, rel=1 / 512)
    assert page["connections_finished"]["mean"] == 1.0


def test_a_chunk_takes_its_request_and_its_segments() -> None:
    """125 segments of 1000 B follow each other on the wire. The next request waits for the ACK of
    the last segment, and both for the end of an exchange."""
    chunk = flow(
        'stream = { bitrates = ["1 Mbps"], chunk = "1 s", buffer = "100 s", handshake = false,'
        ' server_delay = "3 ms", initial_window = 500, after_idle = "keep" }\n'
    )
    last_s = wire_s(*[1040] * 125) + frame_s(1040)
    first_s = frame_s(440) + wire_s(440) + SERVER_S + last_s
    later_s = first_s + frame_s(40) + 2 * WAIT_S
    assert chunk["chunk_completion_p95_s"]["mean"] == pytest.approx(later_s, abs=2e-9)
    assert chunk["startup_s"]["mean"] == pytest.approx(first_s, abs=2e-9)
    count = int(4.0 // later_s)
    mean_s = (first_s + (count - 1) * later_s) / count
    assert chunk["chunk_completion_s"]["mean"] == pytest.approx(mean_s, abs=1e-7)


def test_a_video_stalls_for_the_time_that_the_line_lacks() -> None:
    """A video of 16 Mb/s over a line of 8 Mb/s stalls for half of the time."""
    video = flow(
        'stream = { bitrates = ["16 Mbps"], chunk = "200 ms", handshake = false,'
        ' initial_window = 500, after_idle = "keep" }\n'
    )
    transfer_s = wire_s(*[1040] * 400) + frame_s(1040) + frame_s(440) + wire_s(440)
    # the ACK of the request precedes the first segment on the wire
    transfer_s += frame_s(40) + 2 * WAIT_S + 40 * BYTE_S
    assert video["chunk_completion_p95_s"]["mean"] == pytest.approx(transfer_s, abs=2e-9)
    expected = 1 - 0.2 / transfer_s
    assert video["stalled_fraction"]["mean"] == pytest.approx(expected, abs=0.02)
    assert video["stalls"]["mean"] == pytest.approx(4.0 / transfer_s - 1, abs=1.5)
