"""Captures of frames on the air, read by tshark."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import lasthop as lh

SCENARIO = """
name = "every kind of frame and fate"
duration = "3 s"
warmup = "1 s"
replications = 1
cell = {{ phy = "{phy}", ap_queue = 30, rts_threshold = "{rts}" }}
tcp = {{ delayed_ack = {delayed_ack} }}

[station.a]
error_up = 0.3
error_down = 0.1
upload = 2
download = 1

[station.b]
download = 2
udp_up = "2 Mbps"
udp_down = "500 kbps"
"""

CHECKSUMS = [
    argument
    for protocol in ("ip", "tcp", "udp", "wlan")
    for argument in ("-o", f"{protocol}.check_checksum:TRUE")
]


FIELDS = (
    "frame.time_epoch",
    "frame.protocols",
    "frame.comment",
    "wlan.fcs.status",
    "ip.checksum.status",
    "tcp.checksum.status",
    "udp.checksum.status",
)


@pytest.fixture(scope="module", params=["802.11b", "802.11g", "802.11g-long"])
def capture(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    debian_program: Callable[[str, str], str],
) -> Path:
    debian_program("tshark", "tshark")
    rts, delayed_ack = ("500 B", "true") if request.param == "802.11g" else ("never", "false")
    text = SCENARIO.format(phy=request.param, rts=rts, delayed_ack=delayed_ack)
    path = tmp_path_factory.mktemp("capture") / "cell.pcapng"
    lh.simulate(text, frames=4_000).save_capture(path)
    return path


@pytest.fixture(scope="module")
def frames(capture: Path) -> dict[str, list[str]]:
    """Return the value of each field in every frame. The value is empty if a frame lacks the
    field.
    """
    named = [argument for field in FIELDS for argument in ("-e", field)]
    rows = [line.split("\t") for line in tshark(capture, "-T", "fields", *named)]
    return dict(zip(FIELDS, map(list, zip(*rows, strict=True)), strict=True))


def tshark(capture: Path, *arguments: str) -> list[str]:
    command = ["tshark", "-r", str(capture), *CHECKSUMS, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def test_no_frame_is_malformed_cut_short_or_an_error(capture: Path) -> None:
    complaints = "_ws.malformed || _ws.short || _ws.unreassembled || _ws.expert.severity == error"
    assert tshark(capture, "-Y", complaints) == []


def test_acknowledgements_refer_to_earlier_segments(capture: Path) -> None:
    # This option excludes retransmissions by the MAC from the TCP analysis.
    first_copies = ["-o", "wlan.retransmitted:FALSE"]
    assert tshark(capture, *first_copies, "-Y", "tcp.analysis.ack_lost_segment") == []


@pytest.mark.parametrize("field", [field for field in FIELDS if field.endswith("status")])
def test_every_checksum_is_good(frames: dict[str, list[str]], field: str) -> None:
    good = "1"
    checked = [status for status in frames[field] if status]
    assert len(checked) > 50
    assert set(checked) == {good}


def test_payload_is_not_decoded_as_another_protocol(frames: dict[str, list[str]]) -> None:
    transports = {stack.partition(":ip:")[2] for stack in frames["frame.protocols"]}
    assert transports == {"", "tcp", "tcp:data", "udp:data"}


def test_lost_frames_have_their_fate(frames: dict[str, list[str]]) -> None:
    comments = set(frames["frame.comment"])
    assert {"", "collided", "corrupted"} <= comments
    assert comments <= {"", "collided", "corrupted", "collided, discarded", "corrupted, discarded"}


def test_time_stamps_are_in_order_to_the_nanosecond(frames: dict[str, list[str]]) -> None:
    stamps = frames["frame.time_epoch"]
    assert stamps == sorted(stamps, key=float)
    assert all(len(stamp.partition(".")[2]) == 9 for stamp in stamps)
