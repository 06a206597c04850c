"""Sources of stations' PHY rates: recorded output, a control socket, and invalid answers."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

import pytest

from lasthop.enforce.gateway import config, discovery, rate_sources
from lasthop.enforce.gateway.config import Gateway
from lasthop.enforce.gateway.rate_sources import Answer, Reading, output_of, read_station_rates
from lasthop.errors import UserError
from lasthop.importing.ppdu import Modulation

SAMPLES = Path(__file__).parents[2] / "samples"
MAC = "02:00:5e:10:00:{:02x}"


def gateway(sources: str) -> Gateway:
    return config.read(
        f"""[gateway]
wan = "eth0"
lan = "eth1"
fairness = "rate"
discover.neighbours = false
station.s = {{ mac = "02:00:5e:10:00:01" }}
ap.hall.station_rates = "{sources}"
"""
    )


def rates(sources: str) -> tuple[dict[str, int | None], list[str]]:
    """Return the rates by MAC address, and the faults of the sources."""
    seen, wrong = read_station_rates(gateway(sources))
    assert all((each.ap, each.is_new) == ("hall", False) for each in seen)
    return {each.mac: each.rate_bps for each in seen}, wrong


# Rates from the program iw.


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that puts a program called iw, with these shell commands, into the path."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    file = tmp_path / "iw"

    def write(script: str) -> None:
        file.write_text(f'#!/bin/sh\n[ "$*" = "dev wlan0 station dump" ] || exit 9\n{script}\n')
        file.chmod(0o755)

    return write


def test_iw_reports_the_rates_of_an_access_point(program: Callable[[str], None]) -> None:
    program(f"cat {SAMPLES}/iw/fabfi-access-point.txt")
    station_rates, wrong = rates("iw:wlan0")
    assert station_rates == {
        "00:1f:e2:cf:13:c4": 48_000_000,
        "00:18:de:7a:fb:0e": 54_000_000,
        "70:f1:a1:1c:78:d8": 26_000_000,
    }
    assert wrong == []
    of_ht = Modulation("802.11n", 3, 1, 20, 800)  # The sample has "MCS 3".
    assert station_rates["70:f1:a1:1c:78:d8"] == pytest.approx(of_ht.rate_bps)


def test_a_station_that_is_listed_twice_is_read_once() -> None:
    first, second = Reading(MAC.format(1), 54_000_000), Reading(MAC.format(2), None)
    again = Reading(MAC.format(1), 6_000_000)
    assert rate_sources.query(lambda: Answer([first, second, again], [])) == ([first, second], [])


def test_an_access_point_without_stations_has_no_fault(program: Callable[[str], None]) -> None:
    program("true")
    assert rates("iw:wlan0") == ({}, [])


BLOCK = "Station {} (on wlan0)\n\trx bitrate:\t6.0 MBit/s\n\ttx bitrate:\t{}\n"


def test_a_station_that_cannot_be_read_hides_no_other(program: Callable[[str], None]) -> None:
    blocks = [
        BLOCK.format(MAC.format(1), "54.0 MBit/s"),
        BLOCK.format(MAC.format(2), "fast"),
        BLOCK.format(MAC.format(3), "(unknown)"),  # The rate of the other direction is used.
        BLOCK.format(MAC.format(4), "999999.0 MBit/s"),
    ]
    program(f"cat <<'end'\n{''.join(blocks)}end")
    station_rates, (fault,) = rates("iw:wlan0")
    assert station_rates == {MAC.format(1): 54_000_000, MAC.format(3): 6_000_000}
    assert fault == (
        "access point hall: iw dev wlan0 station dump:6: `tx bitrate`: "
        '"fast" is not a rate such as 54.0 MBit/s (and 1 more)'
    )


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'command failed: No such device (-19)' >&2; exit 237", "No such device (-19)"),
        ("exit 3", "exit code 3"),
        ("echo hello", 'it has no line such as "Station 02:00:00:00:00:01 (on wlan0)"'),
        ("head -c 9000 /dev/zero", "is binary, not a station dump of iw"),
        (f"cat {SAMPLES}/iw/ath10k-client.txt", "wlan0 is a station of another access point"),
        ("yes Station", "prints more than 4 MiB"),
        ("exec sleep 60", "no answer within 0.2 s"),
        ("exec >&- 2>&-; exec sleep 60", "does not end within 0.2 s"),
        ("printf 'command failed: \\033[2J\\n' >&2; exit 1", "command failed: ?[2J"),
    ],
)
def test_an_invalid_dump_is_a_single_fault(
    program: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    if "0.2 s" in message:
        monkeypatch.setattr(rate_sources, "TIMEOUT_S", 0.2)
    program(script)
    station_rates, (fault,) = rates("iw:wlan0")
    assert station_rates == {}
    assert fault.startswith("access point hall: iw dev wlan0 station dump")
    assert fault.endswith(message)
    assert fault.isprintable()


def test_a_machine_without_iw_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(rate_sources, "PROGRAMS", str(tmp_path))
    message = "access point hall: iw dev wlan0 station dump: the program iw is not installed"
    assert rates("iw:wlan0") == ({}, [message])
    # The fault is also reported if other sources have no fault.
    assert discovery.look(gateway("iw:wlan0"))[1] == [message]


def test_no_program_runs_longer_than_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_sources, "TIMEOUT_S", 0.2)
    file = tmp_path / "pid"
    with pytest.raises(UserError, match="no answer within"):
        output_of(["sh", "-c", f"echo $$ > {file}; exec sleep 60"], "sleep")
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)


# Rates from the control socket of hostapd.


class Hostapd(threading.Thread):
    """A server on a control socket. It answers like hostapd, or with the answers of the test."""

    def __init__(self, path: Path, answer: Callable[[str], bytes | None]) -> None:
        super().__init__(daemon=True)
        self.path, self.answer = path, answer
        self.requests: list[str] = []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.start()

    def run(self) -> None:
        while True:
            request, peer = self.socket.recvfrom(4096)
            if not request:
                return
            self.requests.append(request.decode())
            if (answer := self.answer(request.decode())) is not None:
                with suppress(OSError):
                    self.socket.sendto(answer, peer)

    def close(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bell:
            bell.sendto(b"", str(self.path))
        self.join(5)
        self.socket.close()


Answering = Callable[[Callable[[str], bytes | None]], Hostapd]


@pytest.fixture
def hostapd(tmp_path: Path) -> Iterator[Answering]:
    """Return a function that starts a control socket with these answers."""
    started: list[Hostapd] = []

    def start(answer: Callable[[str], bytes | None]) -> Hostapd:
        started.append(Hostapd(tmp_path / "wlan0", answer))
        return started[-1]

    yield start
    for each in started:
        each.close()


def listing(answers: list[str]) -> Callable[[str], bytes]:
    """Return a function that answers like hostapd with these stations (`ap/ctrl_iface_ap.c`)."""
    macs = [text.split("\n", 1)[0] for text in answers]

    def answer(request: str) -> bytes:
        command, _, mac = request.partition(" ")
        if command == "STA-FIRST":
            return answers[0].encode() if answers else b""
        if command != "STA-NEXT":
            return b"UNKNOWN COMMAND\n"
        if mac not in macs:
            return b"FAIL\n"
        return "".join(answers[macs.index(mac) + 1 :][:1]).encode()

    return answer


def recorded() -> list[str]:
    """Return the recorded answers of a hostapd with two stations of 802.11ax."""
    text = (SAMPLES / "hostapd-stations/all-sta-11ax.txt").read_text()
    second = text.index("62:b3:3f:01:76:13\nflags")
    return [text[:second], text[second:]]


def station(k: int, *lines: str) -> str:
    return "\n".join([MAC.format(k), "flags=[AUTH][ASSOC][AUTHORIZED]", *lines, ""])


def test_hostapd_reports_the_rates_of_an_access_point(hostapd: Answering) -> None:
    asked = hostapd(listing(recorded()))
    station_rates, wrong = rates(f"hostapd:{asked.path}")
    assert asked.requests == [
        "STA-FIRST",
        "STA-NEXT 30:d5:3e:cf:f8:76",
        "STA-NEXT 62:b3:3f:01:76:13",
    ]
    # The driver reports no rate for the other station.
    assert (station_rates, wrong) == ({"30:d5:3e:cf:f8:76": 288_200_000}, [])
    # The rates are those of the standard, rounded down to 100 kbit/s, the unit of the answer.
    to, from_ = Modulation("802.11ax", 5, 1, 80, 800), Modulation("802.11ax", 6, 2, 80, 800)
    assert (int(to.rate_bps / 1e5), int(from_.rate_bps / 1e5)) == (2882, 6485)


def test_the_requests_are_answered_by_hostapd(hostapd: Answering) -> None:
    """The answers were recorded from hostapd 2.10 with wired stations, which have no rates."""
    text = (SAMPLES / "hostapd-stations/wired-2.10.txt").read_text()
    exchanges = [each.partition("\n") for each in text.split(">> ")[1:]]
    answers = [(request, answer) for request, _, answer in exchanges]
    assert answers[1] == ("STA-FIRST", "")  # The answer contains no station.
    some = answers[2:5]
    asked = hostapd(lambda request: dict(some)[request].encode())
    station_rates, (fault,) = rates(f"hostapd:{asked.path}")
    assert asked.requests == [request for request, _ in some]
    assert (station_rates, fault) == (
        {},
        "access point hall: hostapd reports no rate of its 2 stations",
    )


def test_the_rate_of_the_other_direction_is_used_if_a_rate_is_missing(hostapd: Answering) -> None:
    stations = [
        station(1, "rx_rate_info=60", "tx_rate_info=540 mcs 7 shortGI"),
        station(2, "rx_rate_info=60", "tx_rate_info=0"),
        station(3),
    ]
    asked = hostapd(listing(stations))
    expected = {MAC.format(1): 54_000_000, MAC.format(2): 6_000_000}
    assert rates(f"hostapd:{asked.path}") == (expected, [])


@pytest.mark.parametrize("stations", [[], [station(1), station(2)]], ids=["none", "no rates"])
def test_a_list_without_rates_is_a_fault(hostapd: Answering, stations: list[str]) -> None:
    asked = hostapd(listing(stations))
    messages = ["access point hall: hostapd reports no rate of its 2 stations"] if stations else []
    assert rates(f"hostapd:{asked.path}") == ({}, messages)


def test_a_station_that_leaves_meanwhile_begins_the_list_again(hostapd: Answering) -> None:
    stations = [station(k, f"tx_rate_info={k}0") for k in (1, 2, 3)]
    listed = listing(stations)
    failed: list[str] = []

    def answer(request: str) -> bytes:
        if request == f"STA-NEXT {MAC.format(2)}" and not failed:
            failed.append(request)
            return b"FAIL\n"
        return listed(request)

    asked = hostapd(answer)
    station_rates, wrong = rates(f"hostapd:{asked.path}")
    assert (station_rates, wrong) == ({MAC.format(k): k * 1_000_000 for k in (1, 2, 3)}, [])
    assert asked.requests.count("STA-FIRST") == 2


def always_another() -> Callable[[str], bytes]:
    """Return a function that answers indefinitely with another station each time."""
    numbers = count(1)
    return lambda _: f"{(2 << 40 | next(numbers)).to_bytes(6).hex(':')}\n".encode()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda _: b"UNKNOWN COMMAND\n", 'STA-FIRST: "UNKNOWN COMMAND" is no MAC address'),
        (lambda _: b"FAIL\n", 'STA-FIRST: "FAIL" is no MAC address of a station'),
        (lambda _: b"\x1b[2J\n\xff", 'STA-FIRST: "?[2J" is no MAC address of a station'),
        (lambda _: b"x" * 100_000, "an answer of more than 64 KiB"),
        (lambda _: None, "no answer within 0.2 s"),
        (lambda _: b"<3>CTRL-EVENT-TERMINATING \n", "no answer within 0.2 s"),
        (
            lambda request: b"FAIL\n" if "NEXT" in request else station(1).encode(),
            "its list of stations changed while it was read, 3 times",
        ),
        (
            lambda request: b"" if "NEXT" in request else station(1, "tx_rate_info=-1").encode(),
            f'station {MAC.format(1)}: `tx_rate_info`: "-1" is not a rate such as 540',
        ),
    ],
)
def test_an_invalid_answer_is_a_single_fault(
    hostapd: Answering,
    monkeypatch: pytest.MonkeyPatch,
    answer: Callable[[str], bytes | None],
    message: str,
) -> None:
    monkeypatch.setattr(rate_sources, "TIMEOUT_S", 0.2)
    asked = hostapd(answer)
    station_rates, (fault,) = rates(f"hostapd:{asked.path}")
    assert station_rates == {}
    assert fault.startswith(f"access point hall: hostapd {asked.path}: ")
    assert message in fault
    assert fault.isprintable()


def test_reading_an_endless_list_times_out(
    hostapd: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_sources, "LIST_TIMEOUT_S", 0.2)
    monkeypatch.setattr(rate_sources, "MAX_STATIONS", 1 << 30)
    asked = hostapd(always_another())
    message = (
        f"access point hall: hostapd {asked.path}: its list of stations has no end within 0.2 s"
    )
    assert rates(f"hostapd:{asked.path}") == ({}, [message])


def test_a_list_that_repeats_is_read_once(hostapd: Answering) -> None:
    asked = hostapd(lambda _: station(1, "tx_rate_info=10").encode())
    assert rates(f"hostapd:{asked.path}") == ({MAC.format(1): 1_000_000}, [])


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, "No such file or directory"),
        (lambda path: path.write_text(""), "Connection refused"),
        (lambda path: path.mkdir(), "Connection refused"),
        (os.mkfifo, "Connection refused"),
    ],
    ids=["none", "file", "directory", "fifo"],
)
def test_a_socket_without_a_listener_is_a_single_fault(
    tmp_path: Path, make: Callable[[Path], object], why: str
) -> None:
    path = tmp_path / "wlan0"
    make(path)
    assert rates(f"hostapd:{path}") == ({}, [f"access point hall: hostapd {path}: {why}"])


def test_a_socket_without_permission_names_the_setting_that_grants_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Refused(socket.socket):
        def connect(self, _: object) -> None:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(rate_sources.socket, "socket", Refused)
    _, (fault,) = rates("hostapd:/var/run/hostapd/wlan0")
    assert fault == (
        "access point hall: hostapd /var/run/hostapd/wlan0: permission denied: "
        "`ctrl_interface_group` of hostapd.conf names the group that may ask"
    )


def test_a_socket_of_another_kind_is_a_single_fault(tmp_path: Path) -> None:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listening:
        listening.bind(str(tmp_path / "wlan0"))
        listening.listen()
        _, (fault,) = rates(f"hostapd:{tmp_path}/wlan0")
    assert fault.endswith("Protocol wrong type for socket")


# Rates from several sources.


def test_sources_are_asked_simultaneously(monkeypatch: pytest.MonkeyPatch) -> None:
    meeting = threading.Barrier(2, timeout=60)

    def answer(_: object) -> Answer:
        meeting.wait()
        return Answer([], [])

    monkeypatch.setattr(rate_sources, "read_iw", answer)
    monkeypatch.setattr(rate_sources, "read_hostapd", answer)
    assert rates("iw:wlan0, hostapd:/none") == ({}, [])


def test_a_source_that_fails_hides_no_other(program: Callable[[str], None], tmp_path: Path) -> None:
    program(f"cat {SAMPLES}/iw/fabfi-access-point.txt")
    station_rates, (fault,) = rates(f"iw:wlan0, hostapd:{tmp_path}/none")
    assert len(station_rates) == 3
    assert fault.endswith("No such file or directory")


def test_a_defect_of_a_source_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(rate_sources, "read_iw", fail)
    assert rates("iw:wlan0") == ({}, ["access point hall: RuntimeError: a defect"])


def test_a_gateway_without_sources_sends_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_sources, "ThreadPoolExecutor", None)
    plain = config.read('[gateway]\nwan = "a"\nlan = "b"\n')
    assert read_station_rates(plain) == ([], [])
