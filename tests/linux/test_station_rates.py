"""Quanta in the kernel that follow the data rates of stations, and data rates from a real
hostapd.
"""

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from measure import BenchError
from peers import apt_install

from lab import GATEWAY, STATIONS, Lab, entered, gateway_text, sh, station_v4, wait_until
from lasthop.enforce.gateway import rate_sources
from lasthop.enforce.gateway.config import RateSource
from lasthop.linux.tc import PACKET_BYTES
from running import Running, up

MACS = ["02:00:5e:10:00:01", "02:00:5e:10:00:02", "02:00:5e:10:00:03"]
LEAVES = ["6c68:100", "6c68:101", "6c68:102"]


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab(stations=3, rate_bps=None) as lab:
        yield lab


class AccessPoint:
    """A program `iw` in PATH that prints a station dump with given rates."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.dump = directory / "dump"
        program = directory / "iw"
        program.write_text(f'#!/bin/sh\nexec cat "{self.dump}"\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")

    def say(self, *mbps: float) -> None:
        """Set the rates of the first stations, which `iw` prints from now on."""
        blocks = [
            f"Station {mac} (on wlan0)\n\ttx bitrate:\t{rate} MBit/s\n"
            for mac, rate in zip(MACS, mbps, strict=False)
        ]
        new = self.dump.with_suffix(".new")
        new.write_text("".join(blocks))
        new.replace(self.dump)


def turns() -> list[float]:
    """Return the quantum of the stations' leaves, as `tc` prints it. [packets]"""
    with entered(GATEWAY):
        shown = sh("tc -d class show dev lh-lan")
    quanta = dict(re.findall(r"class htb (\S+) .*? quantum (\d+)", shown))
    return [int(quanta[leaf]) / PACKET_BYTES for leaf in LEAVES]


def sources(running: Running) -> list[tuple[float | None, str]]:
    status = running.status()
    assert status is not None
    rows = sorted(status["stations"], key=lambda row: str(row["name"]))
    return [(row["phy_rate_bps"], row["phy_rate_source"]) for row in rows]


def text(source: str) -> str:
    stations = "".join(
        f'station.s{k} = {{ mac = "{mac}", address = "{station_v4(k)}", rate = "{rate} Mbps" }}\n'
        for k, (mac, rate) in enumerate(zip(MACS, (6, 6, 12), strict=True))
    )
    more = f'fairness = "rate"\ndiscover.interval = "100 ms"\n{stations}'
    return gateway_text(0, more + f'ap.hall.station_rates = "{source}"\n')


def test_turns_follow_the_rates_of_stations(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ap = AccessPoint(tmp_path, monkeypatch)
    ap.say(54, 6)
    with up(tmp_path, text("iw:wlan0")) as running:
        # The gateway immediately applies the rates of two stations from `iw`, 54 and 6 Mbit/s.
        # The third station has the rate of the file, 12 Mbit/s.
        assert turns() == [9, 1, 2]
        assert sources(running) == [(54e6, "iw"), (6e6, "iw"), (12e6, "file")]
        ap.say(6, 54, 24)
        wait_until(lambda: turns() == [1, 9, 4], "a change of rates")
        assert sources(running) == [(6e6, "iw"), (54e6, "iw"), (24e6, "iw")]
        assert running.faults == []
        # another program changes a quantum; the gateway repairs it, although no rate has changed
        with entered(GATEWAY):
            sh(
                f"tc class change dev lh-lan parent 6c68:1 classid {LEAVES[1]} "
                "htb rate 96bit ceil 5mbit quantum 1514"
            )
        wait_until(lambda: turns() == [1, 9, 4], "mending")
        # a source without output is a fault, and changes nothing
        ap.dump.unlink()
        wait_until(lambda: bool(running.faults), "a fault")
        (fault,) = running.faults
        assert fault.startswith("access point hall: iw dev wlan0 station dump: cat: ")
        assert turns() == [1, 9, 4]
        ap.say(6, 54, 24)
        wait_until(lambda: running.faults == [], "the end of the fault")
        assert turns() == [1, 9, 4]


# Tests with hostapd itself.


@pytest.fixture
def hostapd() -> str:
    """Return the program of Debian's package; skip with a reason if it cannot be installed."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    if shutil.which("hostapd", path=path) is None:
        try:
            apt_install("hostapd")
        except BenchError as error:
            pytest.skip(f"no hostapd here: {error}")
    program = shutil.which("hostapd", path=path)
    assert program is not None
    return program


@contextmanager
def control_socket(program: str, directory: Path) -> Iterator[Path]:
    """Yield the control socket of a hostapd for stations at the Ethernet interface `lan`."""
    (directory / "users").write_text("* PEAP\n")
    (directory / "hostapd.conf").write_text(
        f"""interface=lan
driver=wired
ctrl_interface={directory}/control
ieee8021x=1
eap_server=1
eap_user_file={directory}/users
"""
    )
    path = directory / "control/lan"
    with (directory / "log").open("w") as log:
        command = ["ip", "netns", "exec", GATEWAY, program, str(directory / "hostapd.conf")]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_until(path.exists, "a control socket")
        yield path
    finally:
        process.terminate()
        process.wait(60)


def begin_eapol(mac: str) -> None:
    """Request authentication as a station (IEEE 802.1X, EAPOL-Start)."""
    head = bytes.fromhex("0180c2000003") + bytes.fromhex(mac.replace(":", "")) + b"\x88\x8e"
    with entered(STATIONS), socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        raw.bind(("wl0", 0))
        raw.send(head + bytes((1, 1, 0, 0)) + bytes(42))


@pytest.mark.slow  # installs the package if it is missing
def test_stations_of_hostapd_itself(lab: Lab, tmp_path: Path, hostapd: str) -> None:
    """hostapd has no radio here, so that its stations are on Ethernet and have no rates."""
    with control_socket(hostapd, tmp_path) as path:
        source = RateSource("hostapd", str(path))

        def listed() -> list[str]:
            with entered(GATEWAY):
                readings, faults = rate_sources.read_hostapd(source)
            assert faults == []
            assert all(each.rate_bps is None for each in readings)
            return sorted(each.mac for each in readings)

        assert listed() == []
        for mac in MACS:
            begin_eapol(mac)
        wait_until(lambda: listed() == MACS, "three stations")
    with entered(GATEWAY):
        (fault,) = rate_sources.query(lambda: rate_sources.read_hostapd(source)).faults
    assert fault == f"hostapd {path}: No such file or directory"
