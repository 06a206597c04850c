"""The short form `call`: numbers of packets, their arrival times, and results."""

import pytest

import lasthop as lh
from lasthop.scenario.typed import UdpFlow
from lasthop.tuning.calls import Calls, calls_of

RUN = {"duration": "6 s", "warmup": "1 s", "replications": 1}
LINE = {"from": "home", "to": "net", "rate": "10 Mbps", "delay": "20 ms"}
WIRED = {**RUN, "link": {"line": LINE}}
CELL = {**RUN, "cell": {"phy": "802.11ac", "edca": "hostapd"}, "wire": {"delay": "20 ms"}}
ENDS = {"from": "home", "to": "net"}


def calling(call: object) -> list[dict[str, object]]:
    """Return two scenarios with the same calls: at a station, and between wired nodes."""
    return [
        {**CELL, "station": {"phone": {"call": call}}},
        {**WIRED, "flow": {"phone": {**ENDS, "call": call}}},
    ]


@pytest.mark.parametrize("tree", calling(2), ids=["station", "wired"])
def test_audio_has_64_kbps_and_video_1200_kbps_per_direction(tree: dict[str, object]) -> None:
    # Audio has 50 packets/s of 160 B, which are 64 kb/s.
    # Video has 30 frames/s with 5 packets of 1,000 B, which are 1.2 Mb/s.
    # The tolerance is one audio packet or one video frame in 5 s.
    flows = lh.simulate(tree).flows
    assert len(flows) == 8
    for number in (1, 2):
        for way in ("up", "down"):
            audio = flows.goodput_bps[f"phone/audio-{way}/{number}"]
            video = flows.goodput_bps[f"phone/video-{way}/{number}"]
            assert audio == pytest.approx(64e3, abs=1280 / 5)
            assert video == pytest.approx(1.2e6, abs=40e3 / 5)


def test_packets_of_a_frame_wait_for_each_other() -> None:
    # A packet of 1,028 B takes 822.4 us at 10 Mb/s.
    # The delay of packet k of a frame is k times 822.4 us plus 20 ms.
    flow = {**ENDS, "udp": {"rate": "1200 kbps", "packet": "1000 B", "burst": 5}}
    flows = lh.simulate({**WIRED, "flow": {"video": flow}}).flows
    sent_s = 8 * 1028 / 10e6
    assert flows.one_way_delay_s["video"] == pytest.approx(20e-3 + 3 * sent_s, abs=2e-6)
    assert flows.one_way_delay_p99_s["video"] == pytest.approx(20e-3 + 5 * sent_s, rel=0.01)
    assert flows.loss_probability["video"] == 0


def test_a_queue_of_four_packets_loses_the_last_of_each_frame() -> None:
    # The limit of a queue includes the packet in service.
    flow = {**ENDS, "udp": {"rate": "1200 kbps", "packet": "1000 B", "burst": 5}}
    line = {**LINE, "queue": 4}
    flows = lh.simulate({**RUN, "link": {"line": line}, "flow": {"video": flow}}).flows
    assert flows.loss_probability["video"] == pytest.approx(0.2, abs=1e-3)


def test_calls_of_a_group_start_at_different_phases() -> None:
    # If all calls started simultaneously, 40 frames of 5 packets would arrive simultaneously.
    # The last of these packets would wait 164 ms.
    fast = {**LINE, "rate": "100 Mbps", "queue": 1000}
    flow = {**ENDS, "count": 40, "call": 1, "start_spread": "0 s"}
    flows = lh.simulate({**RUN, "link": {"line": fast}, "flow": {"phone": flow}}).flows
    video = flows.one_way_delay_p99_s.filter(like="video-up")
    assert len(video) == 40
    assert video.max() < 20e-3 + 0.25 * (40 * 5 * 8 * 1028 / 100e6)


def test_a_call_at_a_station_keeps_its_other_flows_and_settings() -> None:
    call = {"calls": "audio", "category": "voice", "stop": "5 s"}
    tree = {**CELL, "station": {"phone": {"count": 2, "udp_up": "1 Mbps", "call": call}}}
    typed = lh.Scenario(tree).typed
    names = [flow.name for flow in typed.flows]
    assert names[3:] == ["phone-2/udp-up/1", "phone-2/audio-up/1", "phone-2/audio-down/1"]
    udp, up, down = typed.flows[3:]
    assert isinstance(up, UdpFlow)
    assert up.call is not None
    assert (up.call.number, up.call.medium, up.call.direction) == (1, "audio", "up")
    assert (up.category, up.stop_s, udp.category) == ("voice", 5.0, "best-effort")
    assert [typed.flow_key(flow) for flow in (udp, up, down)] == [
        "station.phone.udp_up",
        "station.phone.call",
        "station.phone.call",
    ]


@pytest.mark.parametrize(
    ("place", "call"),
    [
        (1, 0),  # at a station, 0 means no call
        *((place, call) for place in (0, 1) for call in (-1, 1.5, "video", 10000, True)),
    ],
)
def test_an_invalid_number_of_calls_is_refused_in_one_line(place: int, call: object) -> None:
    with pytest.raises(lh.ScenarioError) as caught:
        lh.Scenario(calling(call)[place])
    [line] = str(caught.value).splitlines()
    assert ".phone.call`: " in line
    assert line.endswith('; expected "audio" or a whole number from 1 to 100')


def test_tune_counts_the_calls_of_the_file() -> None:
    laptop = {"laptop": {"download": 1}}
    with_call = lh.Scenario({**CELL, "station": {**laptop, "phone": {"call": 1}}})
    assert calls_of(with_call) == Calls("phone", own=True)
    both = lh.Scenario({**CELL, "station": {"phone": {"call": 1, "upload": 1}}})
    assert calls_of(both) == Calls("call", own=False)
    few = calls_of(both).of(calls_of(both).alongside(both), 3)
    own = [flow for flow in few.typed.udp_flows if flow.station.startswith("call-")]
    assert [flow.name for flow in own][:2] == ["call-1/audio-up/1", "call-1/audio-down/1"]
    assert len(own) == 6
    assert {(flow.category, flow.udp.payload_bytes, flow.udp.rate_bps) for flow in own} == {
        ("voice", 160, 64e3)
    }
