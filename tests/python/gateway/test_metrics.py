"""Metrics for Prometheus: names of metrics, and a server that slow clients do not delay."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from lasthop.daemon import page as module
from lasthop.daemon.page import MAX_CONNECTIONS, serving
from lasthop.enforce.gateway.metrics import TEXT, check_port, pages

STATUS = {
    "shaping": True,
    "aps": [
        {
            "name": "wlan",
            "rate_bps": 8_000_000,
            "rtt_s": 0.02,
            "base_rtt_s": 0.003,
            "pings": 7,
            "answers": 6,
        }
    ],
    "filters": [
        {
            "ap": "wlan",
            "direction": "from_stations",
            "redirected_bytes": 700,
            "unclassified_bytes": 200,
            "multicast_bytes": 50,
            "forged_bytes": 0,
            "exempt_bytes": {"dns": 90},
            "unmatched_bytes": 0,
        }
    ],
    "ports": [{"name": "lan", "macs": 12, "waiting": 3}],
    "groups": [
        {
            "name": "guests",
            "ap": "wlan",
            "share": 1.0,
            "max_bps": 5_000_000,
            "stations": 3,
            "rate_bps": 1600.0,
            "sent_bytes": 9000,
            "sent_packets": 6,
            "backlog_packets": 2,
        }
    ],
    "stations": [
        {
            "name": "till",
            "ap": "wlan",
            "sent_bytes": 3000,
            "sent_packets": 2,
            "dropped_packets": 1,
            "backlog_packets": 4,
            "rate_bps": 800.0,
            "udp_uplink_bytes": 5,
            "udp_uplink_packets": 1,
            "phy_rate_bps": 54_000_000,
            "phy_rate_source": "hostapd",
        },
        {"name": "guest", "ap": "wlan", "phy_rate_bps": None, "phy_rate_source": "highest"},
    ],
}
# Units that `promtool check metrics` accepts (prometheus/client_golang, testutil/promlint).
BASE_UNITS = {"amperes", "bytes", "celsius", "grams", "joules", "kelvin", "meters", "ratio"}
BASE_UNITS |= {"seconds", "volts"}
OTHER_UNITS = {"bits", "minutes", "hours", "days", "weeks", "percent", "fahrenheit", "inches"}
OTHER_UNITS |= {"calories", "pounds", "ounces", "miles", "yards", "feet", "bit", "byte", "second"}
SHORT_UNITS = {"s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "bps", "kbps", "mbps"}
PREFIXES = ("pico", "nano", "micro", "milli", "kilo", "mega", "giga", "tera", "kibi", "mebi")
KINDS = {"counter", "gauge", "histogram", "summary", "count", "sum", "bucket", "info"}


def faults(text: str) -> list[str]:
    """Return the metric names on a page that violate the rules of Prometheus."""
    problems = []
    helped = set(re.findall(r"^# HELP (\S+) \S", text, re.MULTILINE))
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        words = name.split("_")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            problems.append(f"{name}: not in small letters with underscores")
        if name not in helped:
            problems.append(f"{name}: nobody says what it is")
        if (kind == "counter") != name.endswith("_total"):
            problems.append(f"{name}: _total is for counters")
        for word in words[:-1] if kind == "counter" else words:
            prefix = next((each for each in PREFIXES if word.startswith(each)), "")
            unit = word.removeprefix(prefix)
            if word in OTHER_UNITS | SHORT_UNITS or (prefix and unit in BASE_UNITS | OTHER_UNITS):
                if words[words.index(word) - 1] == "per" and word == "second":
                    continue  # the name of a rate continues with "per second"
                problems.append(f"{name}: {word} is no base unit")
            if word in KINDS:
                problems.append(f"{name}: {word} is its kind")
        units = [word for word in words if word in BASE_UNITS]
        if units and not re.search(rf"_{units[0]}(_per_second)?(_total)?$", name):
            problems.append(f"{name}: the unit is not at its end")
    return problems


def test_each_rule_for_names_finds_its_fault() -> None:
    page = "# HELP {0} x\n# TYPE {0} {1}\n"
    for name, kind, problem in (
        ("a_rate_bits_per_second", "gauge", "bits is no base unit"),
        ("a_rtt_ms", "gauge", "ms is no base unit"),
        ("a_kilobytes", "gauge", "kilobytes is no base unit"),
        ("a_sent_bytes", "counter", "_total is for counters"),
        ("a_stations_total", "gauge", "_total is for counters"),
        ("a_seconds_rtt", "gauge", "the unit is not at its end"),
        ("aRate", "gauge", "not in small letters with underscores"),
        ("a_gauge", "gauge", "gauge is its kind"),
    ):
        assert faults(page.format(name, kind)) == [f"{name}: {problem}"]
    assert faults("# TYPE a gauge\n") == ["a: nobody says what it is"]


def test_names_follow_the_rules_of_prometheus() -> None:
    text = pages(lambda: STATUS)().decode()
    assert faults(text) == []
    assert len(re.findall("^# TYPE", text, re.MULTILINE)) == 23
    assert 'lasthop_ap_rate_bytes_per_second{ap="wlan"} 1e+06\n' in text
    assert 'lasthop_group_rate_bytes_per_second{ap="wlan",group="guests"} 200.0\n' in text
    assert 'lasthop_station_rate_bytes_per_second{ap="wlan",station="till"} 100.0\n' in text
    assert 'lasthop_station_sent_bytes_total{ap="wlan",station="till"} 3000.0\n' in text
    assert 'lasthop_ap_rtt_seconds{ap="wlan"} 0.02\n' in text
    phy_rates = [line for line in text.splitlines() if line.startswith("lasthop_station_phy_rate")]
    labels = 'ap="wlan",source="hostapd",station="till"'
    assert phy_rates == [f"lasthop_station_phy_rate_bytes_per_second{{{labels}}} 6.75e+06"]


def test_a_page_is_made_once_for_each_status() -> None:
    status = STATUS
    page = pages(lambda: status)
    first = page()
    assert page() is first
    status = STATUS | {"shaping": False}
    assert b"lasthop_shaping 0.0" in page()


@contextmanager
def served(body: bytes = b"x 1\n") -> Iterator[tuple[str, int]]:
    listening = socket.create_server(("127.0.0.1", 0))
    at = listening.getsockname()
    with serving(listening, lambda: body, TEXT):
        yield at
    check_port(at)  # The port is free after the server has stopped.


def ask(
    at: tuple[str, int], request: bytes = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
) -> bytes:
    with socket.create_connection(at, timeout=30) as asking:
        asking.sendall(request)
        with asking.makefile("rb") as answer:
            return answer.read()


def test_a_page_is_served() -> None:
    with served() as at:
        assert ask(at) == (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            b"Content-Length: 4\r\nConnection: close\r\n\r\nx 1\n"
        )
        assert ask(at, b"HEAD / HTTP/1.0\r\n\r\n").endswith(b"close\r\n\r\n")
        for request, status in (
            (b"POST / HTTP/1.1\r\n\r\n", b"405"),
            (b"what\r\n\r\n", b"400"),
            (b"GET /" + b"x" * (1 << 14), b"431"),
        ):
            try:
                reply = ask(at, request)
            except ConnectionError:  # The server closes if a request is too long.
                assert status == b"431"
            else:
                assert reply.split()[1] == status


def test_a_request_for_a_foreign_host_name_is_refused() -> None:
    own = socket.gethostname()
    with served() as at:
        for host in (f"127.0.0.1:{at[1]}", "LOCALHOST", "[::1]:9100", "192.0.2.7", own):
            request = f"GET / HTTP/1.1\r\nX: y\r\nhost:{host}\r\n\r\n"
            assert ask(at, request.encode()).split()[1] == b"200", host
        for host in ("example.org", "127.0.0.1.example.org:9100", "", "[x", "[localhost]", "a@::1"):
            request = f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"
            assert ask(at, request.encode()).split()[1] == b"421", host
        two = b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: example.org\r\n\r\n"
        assert ask(at, two).split()[1] == b"421"


def test_a_large_page_arrives_completely() -> None:
    body = bytes(range(256)) * (1 << 15)
    with served(body) as at:
        assert ask(at).partition(b"\r\n\r\n")[2] == body


def test_a_page_that_fails_does_not_affect_the_next_page() -> None:
    answers = iter([ValueError, b"well"])

    def page() -> bytes:
        answer = next(answers)
        if isinstance(answer, bytes):
            return answer
        raise answer

    listening = socket.create_server(("127.0.0.1", 0))
    with serving(listening, page, TEXT):
        assert b" 500 " in ask(listening.getsockname())
        assert ask(listening.getsockname()).endswith(b"well")


def test_idle_connections_create_no_threads_and_delay_no_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The connections are idle during the whole test, because their time-out is longer than the
    test.
    """
    monkeypatch.setattr(module, "PATIENCE_S", 1e6)
    with served() as at, ExitStack() as stack:
        threads = threading.active_count()
        for k in range(300):
            idle = stack.enter_context(socket.create_connection(at, timeout=30))
            if k % 2:
                idle.sendall(b"GET / HT")
        assert ask(at).startswith(b"HTTP/1.1 200 OK")
        assert threading.active_count() == threads


def test_a_silent_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)
    with served() as at, socket.create_connection(at, timeout=30) as idle:
        idle.sendall(b"GET /")
        assert idle.recv(1) == b""


def test_the_oldest_connection_is_closed_to_make_room() -> None:
    with served() as at, ExitStack() as stack:
        idle = [
            stack.enter_context(socket.create_connection(at, timeout=30))
            for _ in range(MAX_CONNECTIONS + 1)
        ]
        assert idle[0].recv(1) == b""
        idle[-1].sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert idle[-1].recv(1) == b"H"


def test_bytes_at_the_filters_are_reported_by_kind() -> None:
    text = pages(lambda: STATUS)().decode()
    counts = dict(
        re.findall(r'^lasthop_ap_filter_bytes_total\{.*kind="(\w+)"\} (\S+)$', text, re.M)
    )
    expected = {"station": 450, "unclassified": 200, "multicast": 50, "forged": 0}
    expected |= {"dns": 90, "unmatched": 0}
    assert {kind: float(count) for kind, count in counts.items()} == expected
    assert 'lasthop_port_macs{port="lan"} 12.0' in text
    assert 'lasthop_port_waiting{port="lan"} 3.0' in text
