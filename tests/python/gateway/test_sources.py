"""Files of DHCP leases, and SNMP agents, tested with samples."""

import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

from lasthop.enforce.gateway import config, discovery, operate, snmp
from lasthop.enforce.gateway import leases as module
from lasthop.enforce.gateway.config import Snmp
from lasthop.enforce.gateway.leases import leases
from lasthop.enforce.gateway.rate_sources import read_station_rates
from lasthop.errors import UserError

NOW = 1_795_200_000.0


def test_leases_of_dnsmasq_are_read() -> None:
    text = """\
1795270000 02:00:5E:10:00:01 192.168.4.23 phone 01:02:00:5e:10:00:01
1795100000 02:00:5e:10:00:02 192.168.4.24 expired *
0 02:00:5e:10:00:03 192.168.4.25 * *
duid 00:01:00:01:2c:5d:17:3e:02:00:5e:10:00:09
1795270000 184549377 2001:db8::23 phone 00:01:00:01
"""
    by_address = {str(lease.address): (lease.mac, lease.name) for lease in leases(text, NOW)}
    assert by_address == {
        "192.168.4.23": ("02:00:5e:10:00:01", "phone"),
        "192.168.4.25": ("02:00:5e:10:00:03", None),
    }


def test_leases_of_dhcpd_are_read() -> None:
    block = """\
lease {address} {{
  starts 4 2026/11/19 13:06:40;
  ends {ends};
  binding state {state};
  hardware ethernet 02:00:5e:10:00:0{k};
  client-hostname "{name}";
}}
"""
    later, before = "5 2026/11/27 14:06:40", "2 2026/11/10 14:06:40"
    text = (
        block.format(address="10.0.0.1", ends=later, state="active", k=1, name="old")
        + block.format(address="10.0.0.2", ends=before, state="active", k=2, name="over")
        + block.format(address="10.0.0.3", ends=later, state="free", k=3, name="free")
        + block.format(address="10.0.0.1", ends="never", state="active", k=4, name="b{}; rm")
    )
    assert [(str(x.address), x.mac[-2:], x.name) for x in leases(text, NOW)] == [
        ("10.0.0.1", "04", None)
    ]
    assert module.__doc__
    shown = leases(module.__doc__, NOW - 300_000)
    assert [lease.name for lease in shown] == ["phone", "laptop"]


def test_a_lease_with_an_invalid_end_is_reported_and_hides_no_other_lease() -> None:
    block = """\
lease 10.0.0.{k} {{
  ends {ends};
  binding state active;
  hardware ethernet 02:00:5e:10:00:0{k};
}}
"""
    ends = ("4 2026/13/19 14:06:40", "epoch 1", "epoch 1795270000; # Thu", "epoch x", "tomorrow")
    text = "".join(block.format(k=k, ends=each) for k, each in enumerate(ends, start=1))
    text += f"{'9' * 5000} 02:00:5e:10:00:08 10.0.0.8 phone *\n"
    wrong: list[str] = []
    assert [str(lease.address) for lease in leases(text, NOW, wrong)] == ["10.0.0.3"]
    assert wrong == [
        "lease 10.0.0.8: its end '9999999999999999999...' is no time",
        "lease 10.0.0.1: its end '4 2026/13/19 14:06:...' is no time",
        "lease 10.0.0.4: its end 'epoch x' is no time",
        "lease 10.0.0.5: its end 'tomorrow' is no time",
    ]


def test_client_names_are_not_read_as_statements() -> None:
    text = """\
lease 10.0.0.1 {
  ends never;
  binding state active;
  set vendor-class-identifier = "hardware ethernet 02:00:00:00:00:99; ";
  client-hostname "x; hardware ethernet 02:00:00:00:00:98";
  hardware ethernet 02:00:5e:10:00:01;
  on expiry {
    log("}");
  }
  client-hostname "phone";
}
lease 10.0.0.2 {
  ends never;
  binding state active;
lease 10.0.0.3 {
  ends never;
  binding state active;
  hardware ethernet 02:00:5e:10:00:03;
}
lease 10.0.0.4 {
  ends never;
  binding state active;
  hardware ethernet 02:00:5e:10:00:04;
"""
    assert [(str(x.address), x.mac[-2:], x.name) for x in leases(text, NOW)] == [
        ("10.0.0.1", "01", "phone"),
        ("10.0.0.3", "03", None),
    ]


@pytest.mark.parametrize(
    "repeated",
    [
        "lease 10.0.0.1 {\n",
        "ends x\n",
        "\n",
        " ",
        "lease 10.0.0.1 {\n  ends never",
        'client-hostname "',
        "9",
        "0 02:00:5e:10:00:01 10.0.0.1 a *\n",
    ],
    ids=["begun", "ends", "lines", "blanks", "both", "quotes", "digits", "dnsmasq"],
)
def test_a_file_takes_time_in_proportion_to_its_size(repeated: str) -> None:
    """Reading a file that is 8 times as long takes 8 times as long. It would take 64 times as long
    if the parser searched the remaining file for each line.
    """

    def spent_s(size: int) -> float:
        text = "lease 10.0.0.9 {\n" + repeated * (size // len(repeated)) + "\n}\n"
        times = []
        for _ in range(5):
            began_s = time.process_time()
            leases(text, NOW)
            times.append(time.process_time() - began_s)
        return min(times)

    assert spent_s(8 * 40_000) < 24 * max(spent_s(40_000), 1e-3)


def test_invalid_names_are_not_accepted() -> None:
    for bad in ("phone\n", "phone\r", "", "-phone", "a b", "x" * 65):
        assert module.plain(bad) is None
    assert module.plain("x" * 64) == "x" * 64
    assert module.MAC.fullmatch("02:00:5e:10:00:01\n") is None


def test_a_leases_path_that_is_not_a_file_is_refused_immediately(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for path, why in (
            (tmp_path / "fifo", "is not a regular file"),
            (tmp_path / "folder", "(is not a regular file|Is a directory)"),
            (tmp_path / "socket", "No such device or address"),
            (Path("/dev/zero"), "is not a regular file"),
            (tmp_path / "none", "No such file or directory"),
        ):
            gateway = config.read(f"[gateway]\nwan='a'\nlan='b'\ndiscover.leases='{path}'\n")
            (fault,) = discovery.look(gateway)[1]
            assert re.fullmatch(f"gateway.discover.leases: {path}: {why}", fault)
            assert fault in operate.warnings(gateway)


def test_an_endless_leases_file_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "leases"
    file.write_text("0 02:00:5e:10:00:01 10.0.0.1 phone *\n" + " " * (1 << 20))
    monkeypatch.setattr(discovery, "LARGEST_LEASES", 1 << 20)
    gateway = config.read(f"[gateway]\nwan='a'\nlan='b'\ndiscover.leases='{file}'\n")
    seen, wrong = discovery.look(gateway)
    assert [sighting.name for sighting in seen] == ["phone"]
    assert wrong == [f"{file}: the part after its first 1 MiB is not read"]


def test_a_source_that_fails_is_a_fault_and_the_others_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "leases"
    file.write_text(
        "0 02:00:5e:10:00:01 10.0.0.1 phone *\n" + "9" * 5000 + " 02:00:5e:10:00:02 10.0.0.2 * *\n"
    )
    text = f'[gateway]\nwan = "a"\nlan = "b"\ndiscover.leases = "{file}"\nap.a.snmp.agent = "::1"\n'
    gateway = config.read(text)

    def fail(_: Snmp) -> None:
        raise StopIteration("a defect")

    monkeypatch.setattr(discovery, "associations", fail)
    seen, wrong = discovery.look(gateway)
    assert [sighting.mac for sighting in seen] == ["02:00:5e:10:00:01"]
    assert wrong[0] == f"{file}: lease 10.0.0.2: its end '9999999999999999999...' is no time"
    assert wrong[1].startswith("of access points: ")


class Agent(threading.Thread):
    """An SNMP agent with rows of one column of a table, followed by a row of the next column."""

    def __init__(self, rows: list[tuple[str, bytes]], kind: int = snmp.OCTETS) -> None:
        super().__init__(daemon=True)
        self.kind = kind
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.rows = [(tuple(map(int, oid.split("."))), value) for oid, value in rows]
        self.start()

    def run(self) -> None:
        while True:
            try:
                data, peer = self.udp.recvfrom(65535)
            except OSError:
                return
            if not data:
                return
            (_, message), *_ = snmp.fields(data)
            _, (_, community), (_, pdu) = snmp.fields(message)
            (_, number), _, (_, most), (_, bindings) = snmp.fields(pdu)
            if community != b"public":
                continue
            (_, binding), *_ = snmp.fields(bindings)
            (_, oid), *_ = snmp.fields(binding)
            after = snmp.oid_of(oid)
            rows = [row for row in self.rows if row[0] > after][: int.from_bytes(most, "big")]
            answer = b"".join(
                snmp.field(
                    snmp.SEQUENCE,
                    snmp.field(snmp.OID, snmp.oid_bytes(oid)) + snmp.field(self.kind, value),
                )
                for oid, value in rows
            )
            pdu = snmp.field(snmp.INTEGER, number) + snmp.integer(0) + snmp.integer(0)
            pdu += snmp.field(snmp.SEQUENCE, answer)
            message = snmp.integer(1) + snmp.field(snmp.OCTETS, community)
            message += snmp.field(snmp.RESPONSE, pdu)
            self.udp.sendto(snmp.field(snmp.SEQUENCE, message), peer)


@contextmanager
def running(agent: Agent) -> Iterator[Agent]:
    with closing(agent.udp):
        yield agent
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bell:
            bell.sendto(b"", agent.udp.getsockname())
        agent.join(5)


@pytest.fixture
def agent() -> Iterator[Agent]:
    column = "1.3.6.1.4.1.9.9.273.1.2.1.1"
    rows = [
        (f"{column}.16.1.4.108.111.98.98.2.0.94.16.0.{k}", bytes((10, 0, 0, k)))
        for k in range(1, 61)
    ]
    rows.append((f"{column}.17.1.4.108.111.98.98.2.0.94.16.0.1", b"x"))
    with running(Agent(rows)) as agent:
        yield agent


def asked(agent: Agent, community: str = "public") -> Snmp:
    host, port = agent.udp.getsockname()
    return Snmp(host, port, community, "1.3.6.1.4.1.9.9.273.1.2.1.1.16")


def test_snmp_reports_the_associations_of_an_access_point(agent: Agent) -> None:
    associated = snmp.associations(asked(agent))
    assert len(associated) == 60
    assert associated[0] == ("02:00:5e:10:00:01", ip_address("10.0.0.1"))
    assert associated[-1] == ("02:00:5e:10:00:3c", ip_address("10.0.0.60"))


RATE_COLUMN = "1.3.6.1.4.1.9.9.273.1.3.1.1.1"


@pytest.mark.parametrize(
    ("kind", "value", "unit_bps", "rate_bps"),
    [
        # cDot11ClientCurrentTxRateSet has octets in units of 500 kbit/s.
        # The first value is 11 Mbit/s, which is marked as a basic rate.
        # The second value is a set of rates, of which the largest rate is used.
        (snmp.OCTETS, bytes((0x96,)), 500_000, 11_000_000),
        (snmp.OCTETS, bytes((2, 4, 11, 22, 108)), 500_000, 54_000_000),
        (snmp.INTEGER, (5500).to_bytes(2, "big"), 1_000, 5_500_000),
        (snmp.GAUGE, (0x8F0D1800).to_bytes(5, "big"), 1, 2_400_000_000),
        (snmp.COUNTER64, bytes((130,)), 1_000_000, 130_000_000),
    ],
)
def test_snmp_reports_the_rates_of_an_access_point(
    kind: int, value: bytes, unit_bps: int, rate_bps: int
) -> None:
    index = "1.4.108.111.98.98.2.0.94.16.0"
    with running(Agent([(f"{RATE_COLUMN}.{index}.{k}", value) for k in (1, 2)], kind)) as agent:
        host, port = agent.udp.getsockname()
        text = f"""[gateway]
wan = "a"
lan = "b"
fairness = "rate"
discover.neighbours = false
ap.a.snmp = {{ agent = "{host}:{port}", rates = "{RATE_COLUMN}", rates_unit = "{unit_bps} bps" }}
"""
        seen, wrong = read_station_rates(config.read(text))
    readings = [(each.mac, each.ap, each.rate_bps, each.rate_source) for each in seen]
    assert readings == [(f"02:00:5e:10:00:0{k}", "a", rate_bps, "snmp") for k in (1, 2)]
    assert wrong == []


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (snmp.OCTETS, b"54.0", "its rate is not a number"),
        (snmp.IP_ADDRESS, b"\x0a\0\0\1", "its rate is not a number"),
        (snmp.INTEGER, b"", "its rate is not a number"),
        (snmp.INTEGER, b"\xff", "-500000 bit/s is no rate of a WLAN"),
        (snmp.COUNTER64, b"\x7f" + bytes(7), "bit/s is no rate of a WLAN"),
        (snmp.INTEGER, b"\0", "snmp reports no rate of its 1 stations"),
        (snmp.INTEGER, b"\x7f" + bytes(2000), "its rate is not a number"),
    ],
    ids=["text", "address", "empty", "negative", "huge", "zero", "endless"],
)
def test_an_invalid_rate_is_reported(kind: int, value: bytes, message: str) -> None:
    with running(Agent([(f"{RATE_COLUMN}.2.0.94.16.0.1", value)], kind)) as agent:
        host, port = agent.udp.getsockname()
        asking = Snmp(host, port, "public", "1.3.6.1", RATE_COLUMN)
        gateway = config.read('[gateway]\nwan = "a"\nlan = "b"\n')
        ap = replace(gateway.aps[0], fairness="rate", snmp=asking)
        seen, (fault,) = read_station_rates(replace(gateway, aps=(ap,)))
    assert seen == []
    assert fault.startswith("access point wlan: ")
    assert message in fault


def test_a_silent_agent_is_reported(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snmp, "PATIENCE_S", 0.05)
    with pytest.raises(UserError, match=r"SNMP agent 127.0.0.1: no answer"):
        snmp.associations(asked(agent, "private"))


class Chatter:
    """A clock, and an agent that sends unrelated messages every 0.3 s, or an endless table."""

    def __init__(self, *, rows: bool) -> None:
        self.now_s, self.patience_s, self.rows = 100.0, 0.0, rows
        self.sent, self.last = b"", 0

    def monotonic(self) -> float:
        return self.now_s

    def settimeout(self, patience_s: float) -> None:
        assert patience_s > 0
        self.patience_s = patience_s

    def send(self, message: bytes) -> None:
        self.sent = message

    def recv(self, _: int) -> bytes:
        assert self.now_s < 200, "no end"
        self.now_s += min(0.3, self.patience_s)
        if self.patience_s < 0.3:
            raise TimeoutError
        if not self.rows:
            return b"something else"
        (_, message), *_ = snmp.fields(self.sent)
        _, _, (_, pdu) = snmp.fields(message)
        (_, number), *_ = snmp.fields(pdu)
        self.last += 1
        oid = (1, 3, 6, self.last, 2, 0, 94, 16, 0, 1)
        row = snmp.field(snmp.OID, snmp.oid_bytes(oid)) + snmp.field(snmp.OCTETS, b"\x0a\0\0\1")
        response = snmp.field(snmp.INTEGER, number) + snmp.integer(0) + snmp.integer(0)
        response += snmp.field(snmp.SEQUENCE, snmp.field(snmp.SEQUENCE, row))
        header = snmp.integer(1) + snmp.field(snmp.OCTETS, b"public")
        return snmp.field(snmp.SEQUENCE, header + snmp.field(snmp.RESPONSE, response))

    def __enter__(self) -> "Chatter":
        return self

    def __exit__(self, *_: object) -> None: ...

    def connect(self, _: object) -> None: ...


@pytest.mark.parametrize(
    ("rows", "message", "ends_s"),
    [
        # In each of three attempts of one second, three unrelated messages arrive.
        (False, "SNMP agent 127.0.0.1: no answer among 9 other datagrams", 103.0),
        (True, "SNMP agent 127.0.0.1: its table has no end within 10 s", 110.0),
    ],
    ids=["garbage", "endless table"],
)
def test_reading_an_endless_agent_times_out(
    monkeypatch: pytest.MonkeyPatch, rows: bool, message: str, ends_s: float
) -> None:
    chatter = Chatter(rows=rows)
    monkeypatch.setattr(snmp.socket, "socket", lambda *_: chatter)
    monkeypatch.setattr(snmp.time, "monotonic", chatter.monotonic)
    with pytest.raises(UserError) as refused:
        snmp.associations(Snmp("127.0.0.1", 161, "public", "1.3.6"))
    assert str(refused.value) == message
    assert chatter.now_s == pytest.approx(ends_s)


def test_an_access_point_that_fails_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """[gateway]
wan = "a"
lan = "b"
ap.a.snmp.agent = "::1"
ap.b.snmp.agent = "::2"
ap.c.snmp.agent = "::3"
"""

    def answer(agent: Snmp) -> list[snmp.Association]:
        if agent.host == "::2":
            return [snmp.Association("02:00:5e:10:00:01", None)]
        raise UserError(f"{agent.host}: no answer")

    monkeypatch.setattr(discovery, "associations", answer)
    seen, wrong = discovery.look(config.read(text))
    assert [(sighting.mac, sighting.ap) for sighting in seen] == [("02:00:5e:10:00:01", "b")]
    assert wrong == ["::1: no answer; ::3: no answer"]


@pytest.mark.parametrize("value", [0, 1, 127, 128, 255, 256, 1 << 30])
def test_numbers_survive_their_encoding(value: int) -> None:
    ((tag, content),) = snmp.fields(snmp.integer(value))
    assert (tag, int.from_bytes(content, "big", signed=True)) == (snmp.INTEGER, value)
    oid = (1, 3, 6, value, 2)
    assert snmp.oid_of(snmp.oid_bytes(oid)) == oid


def test_any_bytes_are_an_answer_or_ignored() -> None:
    message = snmp.field(snmp.SEQUENCE, snmp.integer(1) + snmp.field(snmp.OCTETS, b"public"))
    for cut in range(len(message)):
        assert snmp.rows_of(message[:cut], 1) is None
