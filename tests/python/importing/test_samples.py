"""Each published sample gives a valid scenario, or is refused with a reason."""

from pathlib import Path

import pytest

import lasthop as lh
from lasthop.errors import UserError
from lasthop.importing import Network, hostapd, iw, openwrt
from lasthop.importing.cells import Choices
from lasthop.importing.cells import network as of_capture
from lasthop.importing.scenario import as_toml
from lasthop.measured.observed import Measurement
from lasthop.measured.reading import read

SAMPLES = Path(__file__).parents[2] / "samples"

READERS = {
    "pcap": lambda path: of_capture(path, Choices()),
    "iw": iw.network,
    "hostapd": lambda path: hostapd.network(path, 3),
    "openwrt": lambda path: openwrt.network(path, 3),
}
REFUSED = {"radiotap-heapoverflow.pcap"}
FILES = [path for kind in READERS for path in sorted((SAMPLES / kind).iterdir())]
TAKEN = [path for path in FILES if path.name not in REFUSED]


def imported(name: str) -> Network:
    path = SAMPLES / name
    return READERS[path.parent.name](path)


def test_each_sample_is_in_the_list_with_its_source() -> None:
    listed = (SAMPLES / "README.md").read_text("utf-8")
    every = [path for path in SAMPLES.rglob("*") if path.is_file() and path.name != "README.md"]
    assert [str(p) for p in every if f"`{p.relative_to(SAMPLES)}`" not in listed] == []
    assert sum(path.stat().st_size for path in every) < 1_000_000


def test_there_are_three_of_each_format_at_least() -> None:
    kinds = [*READERS, "flent", "iperf3"]
    assert all(len(list((SAMPLES / kind).iterdir())) >= 3 for kind in kinds)


@pytest.mark.parametrize("path", TAKEN, ids=lambda path: path.name)
def test_a_sample_makes_a_scenario_that_simulates(path: Path) -> None:
    network = imported(str(path.relative_to(SAMPLES)))
    result = lh.simulate(
        as_toml(network), settings={"duration": "1 s", "warmup": "0 s", "replications": 1}
    )
    assert len(result.stations) == len(network.stations)
    assert result.summary["cells"][0]["goodput_bps"]["mean"] > 0


@pytest.mark.parametrize(
    ("name", "phy", "stations", "down_bps"),
    [
        ("pcap/wpa-Induction.pcap.gz", "802.11g", 2, 48e6),
        ("pcap/wep.pcapng.gz", "802.11b", 1, 1e6),
        ("pcap/ieee802.11_rx-stbc.pcap", "802.11n", 1, 150e6),
        ("iw/fabfi-access-point.txt", "802.11n", 3, 48e6),
        ("iw/ath10k-client.txt", "802.11n", 1, 54e6),
        ("iw/ath12k-client.txt", "802.11ax", 1, 1441.18e6),
        ("hostapd/openwifi-11ag.conf", "802.11a", 3, None),
        ("openwrt/arduino-yun", "802.11n", 3, None),
        ("openwrt/seeed-linux", "802.11ac", 3, None),
    ],
)
def test_known_facts_of_a_sample_are_imported(
    name: str, phy: str, stations: int, down_bps: float | None
) -> None:
    network = imported(name)
    assert network.phy == phy
    assert len(network.stations) == stations
    first_bps = network.stations[0].down_bps
    assert first_bps == (down_bps and pytest.approx(down_bps, rel=1e-5))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pcap/wpa-Induction.pcap.gz", "another access point is heard"),
        ("pcap/netperfmeter.pcapng.gz", "no radio in this capture"),
        ("pcap/ieee802.11_rx-stbc.pcap", "no station transfers much"),
        ("openwrt/privaterouter-r7800", "radio0 is disabled"),
        ("openwrt/seeed-linux", "radio0 is disabled"),
    ],
)
def test_missing_facts_of_a_sample_cause_a_warning(name: str, words: str) -> None:
    assert any(note.warns and words in note.text for note in imported(name).notes)


def test_flows_over_a_wire_have_round_trips() -> None:
    flows = [
        flow for each in imported("pcap/netperfmeter.pcapng.gz").stations for flow in each.flows
    ]
    assert flows
    assert all(flow.rtt_s is not None and flow.rtt_s < 0.1 for flow in flows)


def test_the_example_of_hostapd_has_the_defaults_it_documents() -> None:
    access = imported("hostapd/debian-example.conf").access["cell", "video"]
    assert (access.aifsn, access.cwmin, access.cwmax, access.txop_s) == (
        2,
        7,
        15,
        pytest.approx(3.008e-3),
    )


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_an_inconsistent_sample_is_refused(name: str) -> None:
    with pytest.raises(UserError, match=r"senders and receivers are unknown|no TCP or UDP"):
        imported(f"pcap/{name}")


def read_measured(path: Path) -> Measurement:
    """Return the only measurement of a file."""
    [measurement] = read(path)
    return measurement


def test_measurements_of_flent_and_iperf3_are_read() -> None:
    uploads = read_measured(SAMPLES / "flent/test-tcp_nup.flent.gz")
    assert [stream.transport for stream in uploads.streams].count("tcp") == 50
    assert [each.name for each in uploads.streams[:3]] == [f"TCP upload::{k}" for k in (1, 2, 3)]
    assert sum(each.goodput_bps or 0 for each in uploads.streams) == pytest.approx(26.1e6, rel=0.01)
    assert all(0.02 < (each.rtt_s or 0) < 0.2 for each in uploads.streams)
    [upload] = read_measured(SAMPLES / "flent/test-http-1up.flent.gz").streams
    assert (upload.direction, upload.goodput_bps) == ("up", 88e6)
    with pytest.raises(UserError, match=r"no series of a TCP or UDP upload.*HTTP latency"):
        read_measured(SAMPLES / "flent/test-http.flent.gz")
    [old] = read_measured(SAMPLES / "iperf3/iperf3-python.json").streams
    assert (old.goodput_bps, old.rtt_s, old.retransmissions) == (934.268e6, None, 0)
    [newer] = read_measured(SAMPLES / "iperf3/cloudpilot-large-file.json").streams
    assert newer.rtt_s == pytest.approx(466e-6)
    short = read_measured(SAMPLES / "iperf3/cloudpilot-short.json")
    assert "counted nothing" in short.notes[0]


def test_a_capture_of_a_cell_that_aggregates_has_the_access_parameters_of_access_points() -> None:
    seen = imported("pcap/ieee802.11_rx-stbc.pcap")
    assert seen.cell["edca"][0] == '"hostapd"'
    assert [fact.key for fact in seen.facts] == ["edca"]
