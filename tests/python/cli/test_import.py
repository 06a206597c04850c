"""`lasthop import`: its output, its files and its error messages."""

import errno
import json
import os
import sys
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.cli.importing import put

from ..conftest import SMALL, Lasthop

SAMPLES = Path(__file__).parents[2] / "samples"
DUMP = SAMPLES / "iw" / "fabfi-access-point.txt"


def test_the_scenario_is_on_standard_output_and_warnings_are_on_standard_error(
    lasthop: Lasthop,
) -> None:
    text = DUMP.read_text().replace("48.0 MBit/s", "286.8 MBit/s HE-MCS 5 HE-NSS 2 HE-DCM 1")
    done = lasthop("import", "iw", "-", stdin=text.encode())
    assert done.returncode == 0
    assert done.stdout.startswith("# Imported by lasthop from iw station dump -")
    assert done.stderr.startswith("warning: frames with dual carrier modulation")
    assert done.stderr.count("\n") == 1
    assert len(lh.check(done.stdout).typed.flows) == 4


def test_standard_input_is_read_like_a_file(lasthop: Lasthop) -> None:
    from_file = lasthop("import", "iw", DUMP).stdout
    piped = lasthop("import", "iw", "-", stdin=DUMP.read_bytes()).stdout
    assert piped.partition("[cell]")[2] == from_file.partition("[cell]")[2]
    capture = SAMPLES / "pcap" / "wpa-Induction.pcap.gz"
    from_file = lasthop("import", "pcap", capture).stdout
    piped = lasthop("import", "pcap", "-", stdin=capture.read_bytes()).stdout
    assert piped.partition("[cell]")[2] == from_file.partition("[cell]")[2]


def test_out_writes_a_new_file_and_never_replaces_one(lasthop: Lasthop) -> None:
    done = lasthop("import", "iw", DUMP, "--out", "x.toml")
    assert done.stdout == "x.toml: 3 stations; next: lasthop simulate x.toml\n"
    assert lasthop("check", "x.toml").returncode == 0
    before = Path("x.toml").read_text()
    done = lasthop("import", "hostapd", SAMPLES / "hostapd/openwifi-11ag.conf", "--out", "x.toml")
    assert done.returncode == 2
    assert done.stderr == (
        "error: x.toml: exists, and is not replaced; expected a new name\n"
        "hint: give another --out, such as x-2.toml\n"
    )
    assert Path("x.toml").read_text() == before


def test_without_hard_links_no_file_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    put(tmp_path / "new.toml", "text\n")
    assert (tmp_path / "new.toml").read_text() == "text\n"
    (tmp_path / "other.toml").write_text("of another program")
    with pytest.raises(lh.UserError, match="exists, and is not replaced"):
        put(tmp_path / "other.toml", "text\n")
    assert (tmp_path / "other.toml").read_text() == "of another program"


def test_json_has_the_observations_and_no_address(lasthop: Lasthop) -> None:
    done = lasthop("import", "iw", DUMP, "--json")
    tree = json.loads(done.stdout)
    assert tree["kind"] == "import"
    assert [each["down_bps"] for each in tree["stations"]] == [48e6, 54e6, 26e6]
    assert lh.check(tree["scenario"])
    assert "00:1f:e2" not in done.stdout
    assert "00:1f:e2" in lasthop("import", "iw", DUMP, "--addresses").stdout


def test_a_capture_of_simulate_is_imported(lasthop: Lasthop, tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    lasthop("simulate", path, "--replications", "1", "--pcapng", "x.pcapng")
    done = lasthop("import", "pcap", "x.pcapng", "--out", "again.toml")
    assert (done.returncode, done.stderr) == (0, "")
    first, second = lh.check(path).typed, lh.check("again.toml").typed
    assert len(second.flows) == len(first.flows)


def test_a_name_of_an_access_point_chooses_the_cell(lasthop: Lasthop) -> None:
    capture = SAMPLES / "pcap" / "wpa-Induction.pcap.gz"
    done = lasthop("import", "pcap", capture, "--ap", "02:00:00:00:00:01")
    assert done.returncode == 2
    assert "has no data of this access point" in done.stderr
    heard = done.stderr.partition("heard are ")[2].partition(",")[0].strip()
    assert lasthop("import", "pcap", capture, "--ap", heard).returncode == 0
    assert "expected a MAC address" in lasthop("import", "pcap", capture, "--ap", "x").stderr


def test_wired_stations_are_those_of_a_subnet(lasthop: Lasthop) -> None:
    capture = SAMPLES / "pcap" / "netperfmeter.pcapng.gz"
    done = lasthop("import", "pcap", capture, "--lan", "0.0.0.0/0", "--phy", "802.11b")
    assert 'phy = "802.11b"' in done.stdout
    assert "expected a subnet" in lasthop("import", "pcap", capture, "--lan", "here").stderr
    assert (
        "expected one of 802.11b" in lasthop("import", "pcap", capture, "--phy", "802.11z").stderr
    )


def test_a_missing_package_is_named_in_one_line(
    lasthop: Lasthop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dpkt", None)
    done = lasthop("import", "pcap", SAMPLES / "pcap" / "wep.pcapng.gz")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: import pcap: package dpkt is not installed",
        'hint: run `pip install "lasthop[import]"`',
    ]
    assert lasthop("import", "iw", DUMP).returncode == 0, "text needs no package"


def test_a_long_capture_is_refused_with_the_estimate(lasthop: Lasthop) -> None:
    capture = SAMPLES / "pcap" / "wpa-Induction.pcap.gz"
    assert lasthop("import", "pcap", capture, "--max-time", "1ms").returncode == 2


@pytest.mark.parametrize("kind", ["pcap", "iw", "hostapd", "openwrt"])
def test_missing_and_invalid_files_are_refused(kind: str, lasthop: Lasthop, tmp_path: Path) -> None:
    for name, words in (("none", "no such file"), (tmp_path, "is a directory")):
        done = lasthop("import", kind, name)
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {name}: {words}")
        assert done.stderr.count("\n") == 1


def test_stations_of_settings_are_counted_by_an_option(lasthop: Lasthop) -> None:
    conf = SAMPLES / "hostapd" / "openwifi-11ag.conf"
    assert "count = 7" in lasthop("import", "hostapd", conf, "--stations", "7").stdout
    done = lasthop("import", "hostapd", conf, "--stations", "0")
    assert done.returncode == 2
    assert "expected a number of stations from 1 to 1000" in done.stderr


def test_compare_adds_measurements_and_says_how_they_match(lasthop: Lasthop, small: Path) -> None:
    sample = SAMPLES / "iperf3" / "cloudpilot-large-file.json"
    done = lasthop("compare", small, "--replications", "2", "--measured", f"far={sample}")
    assert done.returncode == 0
    header = next(line for line in done.stdout.splitlines() if line.startswith("quantity"))
    assert header.endswith("measured  measured - simulated")
    assert f"measured: {sample}: 1 stream up, far has 2: only sums are compared" in done.stdout
    [row] = [line for line in done.stdout.splitlines() if line.split()[:1] == ["far"]][-1:]
    assert row.split()[-2] == "348.2"


def test_compare_refuses_a_measurement_before_it_runs(lasthop: Lasthop, small: Path) -> None:
    sample = SAMPLES / "iperf3" / "iperf3-python.json"
    done = lasthop("compare", small, "--measured", f"nobody={sample}")
    assert done.returncode == 2
    assert "no station or flow is called nobody; there are near, far" in done.stderr
    assert not Path("out").exists()
    assert lasthop("compare", small, "--measured", "none.json").returncode == 2
