"""Valid files, unusual sources, and disturbances: the gateway continues, and ends cleanly."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from commands import lasthop
from lab import (
    GATEWAY,
    Child,
    Lab,
    entered,
    gateway_text,
    leftovers,
    log_in,
    number_of,
    process_of,
    sh,
    station_v4,
    take_back,
    wait_until,
)
from lasthop.daemon import state as daemon_state
from lasthop.daemon import verbs
from lasthop.daemon.service_kind import ServiceContext
from lasthop.daemon.state import State
from lasthop.enforce.gateway import config, operate
from lasthop.enforce.gateway.config import Gateway
from lasthop.enforce.gateway.service import GatewayService
from lasthop.enforce.gateway.shaper import Shaper
from lasthop.errors import UserError
from lasthop.linux import offload
from traffic import transfers


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab(stations=2, rate_bps=None) as lab:
        yield lab


@pytest.fixture
def directory(lab: Lab, tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    with entered(GATEWAY):
        take_back(tmp_path)
        assert leftovers() == []


class Running:
    """A gateway service in this process, without its loop. Tests call the functions of the loop."""

    def __init__(self, directory: Path, text: str) -> None:
        self.text = text
        self.state = State(directory)
        self.service = GatewayService(ServiceContext(self.read(), self.state, self.read))
        self.service.up()

    def read(self) -> Gateway:
        return config.read(self.text)

    def reload(self, text: str) -> list[str]:
        self.text = text
        return self.service.reload()

    def sent(self) -> tuple[int, int]:
        """Return the interface index of the IFB, and the bytes that its classes have sent since the
        IFB was created.
        """
        shaper = self.service.shaping.shaper
        total = sum(each.sent_bytes for each in shaper.counters().values())
        return shaper.running().ifb.number, total


@pytest.fixture
def running(directory: Path) -> Iterator[Running]:
    with entered(GATEWAY):
        running = Running(directory, gateway_text(2))
    yield running
    with entered(GATEWAY):
        running.service.down()
    running.service.close()


@pytest.mark.parametrize("rate", ["100 Gbps", "34.4 Gbps", "1 kbps"])
def test_every_rate_that_is_allowed_is_the_kernels(running: Running, rate: str) -> None:
    with entered(GATEWAY):
        assert running.reload(gateway_text(2, rate=rate)) == []
        shown = sh("tc class show dev lh-lan classid 6c68:1")
    number, unit = rate.split()
    bits = float(number) * {"kbps": 1e3, "Gbps": 1e9}[unit]
    words = shown.split()
    units = {"Kbit": 1e3, "Mbit": 1e6, "Gbit": 1e9, "bit": 1}
    for key in ("rate", "ceil"):
        rate_words = words[words.index(key) + 1]
        name = next(unit for unit in units if rate_words.endswith(unit))
        assert float(rate_words.removesuffix(name)) * units[name] == pytest.approx(bits, rel=1e-3)


def test_an_access_point_with_another_name_is_taken_over(running: Running) -> None:
    aps = """
ap.{a} = {{ snmp.agent = "127.0.0.1:9", rate = "5 Mbps" }}
ap.b = {{ subnets = "10.99.0.0/16", wce.interval = "20 ms", rate = "estimated" }}
[gateway.station.s9]
address = "10.99.0.1"
ap = "b"
"""
    text = gateway_text(0, "").replace('rate = "5 Mbps"\n', "")
    with entered(GATEWAY):
        assert running.reload(text + aps.format(a="a")) == []
        from lasthop.enforce.gateway.roster import Sighting

        seen = [Sighting("02:00:00:00:00:01", config.ip_address(station_v4(0)), ap="a")]
        running.service.stations.roster.see(seen, 0.0)
        running.service.stations.settle(running.service.stations.roster.stations())
        assert running.reload(text + aps.format(a="other")) == []
        # an observation in progress may still report the old name
        running.service.stations.roster.see(seen, 0.0)
        running.service.stations.settle(running.service.stations.roster.stations())
        third = aps.format(a="a").replace("ap.b", "ap.c").replace('"b"', '"c"')
        assert running.reload(text + third) == []
        running.service.rates.ping()
        assert set(running.service.rates.estimators) == {"c"}
        assert running.service.status()["shaping"]


def test_every_error_in_the_loop_is_a_fault(running: Running) -> None:
    def wrong() -> None:
        raise StopIteration("nobody")

    service = running.service
    service.loop.guarded(wrong)
    assert service.status()["faults"] == ["StopIteration: nobody"]
    assert service.reload(lambda: next(iter(()))) == ["StopIteration: "]
    assert service.status()["shaping"]
    with entered(GATEWAY):
        assert service.shaping.shaper.faults() == []


def test_a_refused_file_touches_nothing(running: Running) -> None:
    assert transfers(station_v4(0))
    with entered(GATEWAY):
        number, total = running.sent()
        assert total > 10_000
        text = gateway_text(2)
        for bad, why in (
            (text.replace('"wan"', '"wam"', 1), "interface wam: no interface has this name"),
            (text.replace('lan = "lan"', 'lan = "lo"'), 'gateway.lan: "lo" differs from'),
            (
                text + 'ap.a.interface = "lam"\nap.b.interface = "lan"\n',
                "interface lam: no interface",
            ),
        ):
            (message,) = running.reload(bad)
            assert message.startswith(why)
            assert running.sent()[0] == number
            assert running.sent()[1] >= total
        assert running.service.shaping.shaper.faults() == []


def test_filters_that_others_remove_are_missed(running: Running) -> None:
    shaper = running.service.shaping.shaper
    layout = shaper.running()
    wan, lan = layout.to_block.number, layout.from_block.number
    for removal, what in (
        (f"tc filter del block {wan} pref 1", f"filters of block {wan} are gone"),
        (f"tc filter del block {lan} pref 1", f"filters of block {lan} are gone"),
        ("tc filter del dev lh-lan parent 6c68: pref 1", "filters of dev lh-lan are gone"),
    ):
        with entered(GATEWAY):
            assert shaper.faults() == []
            sh(removal)
            assert shaper.faults() == [what]
            running.service.heal()
            assert running.service.shaping.faults == []
    assert transfers(station_v4(0))


def test_the_program_for_flows_is_missed(running: Running) -> None:
    with entered(GATEWAY):
        assert running.reload(gateway_text(2, 'fairness = "flow"\nflow_leaves = 3')) == []
        assert running.service.shaping.shaper.faults() == []
        sh("tc filter del dev lh-lan parent 6c68:1")
        assert running.service.shaping.shaper.faults() == ["the filter of wlan's flows is gone"]


def test_interfaces_with_other_names_are_given_back(lab: Lab, directory: Path) -> None:
    gateway = config.read(gateway_text(2).replace('wan = "wan"', 'wan = "usb"'))
    with entered(GATEWAY):
        sh("ip link add usb type veth peer name usb2")
        offload.set_merging("usb", True)
        with Shaper(gateway, log_in(directory)) as shaper:
            shaper.up(gateway.stations)
            sh("ip link set usb name usb9")
            sh("ip link set lh-lan down; ip link set lh-lan name odd")
            assert shaper.faults() == ["interface lh-lan is gone", "interface usb is gone"]
            assert shaper.down() == []
            assert leftovers() == []
            assert "odd" not in sh("ip -o link")
            assert offload.merges("usb9")
        sh("ip link del usb9")
    assert transfers(station_v4(0))


def test_changes_that_cannot_be_undone_stay_in_the_log(
    lab: Lab, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = config.read(gateway_text(2))

    def refuse(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with entered(GATEWAY), Shaper(gateway, log_in(directory)) as shaper:
        offload.set_merging("wan", True)
        shaper.up(gateway.stations)
        with monkeypatch.context() as patch:
            patch.setattr(offload, "set_merging", refuse)
            assert shaper.down() == ["[Errno 5] Input/output error"]
        assert log_in(directory).records()
        assert not offload.merges("wan")
        assert shaper.down() == []
        assert offload.merges("wan")
        offload.set_merging("wan", False)


def test_names_that_begin_alike_have_interfaces_of_their_own(lab: Lab, tmp_path: Path) -> None:
    names = ("enp0s31f6.1001", "enp0s31f6.1002")
    with entered(GATEWAY):
        shapers = []
        try:
            for k, name in enumerate(names):
                for device, peer in ((name, f"p{k}"), (f"w{k}", f"q{k}")):
                    sh(f"ip link add {device} type veth peer name {peer}; ip link set {device} up")
                text = gateway_text(1).replace('lan = "lan"', f'lan = "{name}"')
                gateway = config.read(text.replace('wan = "wan"', f'wan = "w{k}"'))
                directory = tmp_path / str(k)
                directory.mkdir()
                shapers.append(Shaper(gateway, log_in(directory)))
                shapers[k].up(gateway.stations)
            assert [shaper.faults() for shaper in shapers] == [[], []]
            assert shapers[0].down() == []
            assert shapers[1].faults() == []
            assert shapers[1].down() == []
            assert leftovers() == []
        finally:
            for k, shaper in enumerate(shapers):
                shaper.close()
                with suppress(AssertionError):
                    sh(f"ip link del {names[k]}; ip link del w{k}")


def test_down_finds_a_gateway_whose_file_has_changed(lab: Lab, directory: Path) -> None:
    file = directory / "cafe.toml"
    good = gateway_text(2)
    other, broken = good.replace('lan = "lan"', 'lan = "lo"'), "[gateway\n"

    def use_own_run_directory() -> None:
        daemon_state.RUN = directory / "run"

    def act(text: str, verb: str) -> tuple[int, str]:
        file.write_text(text)
        return lasthop("gateway", verb, file, before=use_own_run_directory)

    code, printed = act(good, "up")
    assert code == 0, printed
    code, printed = act(other, "up")
    assert code == 2
    assert f"{file}: the gateway of this file is already up, under {directory}/run" in printed
    state = directory / f"run/lan@{number_of(GATEWAY)}"
    assert f"end it by `lasthop gateway down {file} --state {state}`" in printed
    code, printed = act(other, "status")
    assert (code, station_v4(0) in printed) == (0, True), printed
    assert act(broken, "down") == (0, "down\n")
    with entered(GATEWAY):
        assert leftovers() == []
    code, printed = act(good, "up")
    os.kill(process_of(printed), signal.SIGKILL)
    wait_until(lambda: not State(state).is_held(), "the end of the process")
    assert act(other, "down") == (0, "reverted 2 changes of a process that was killed\n")
    with entered(GATEWAY):
        assert leftovers() == []
    code, printed = act(broken, "down")
    assert (code, f"error: {file}:1" in printed) == (2, True), printed


def test_a_full_disk_is_reported_in_a_line(lab: Lab, tmp_path: Path) -> None:
    import ctypes

    small = tmp_path / "small"
    small.mkdir()
    file = tmp_path / "cafe.toml"
    file.write_text(gateway_text(2))

    def up() -> tuple[str, list[str]]:
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.unshare(0x00020000) == 0  # CLONE_NEWNS: the mount ends with this process
        sh(f"mount --make-rprivate /; mount -t tmpfs -o size=16k none {small}")
        sh(f"head -c 100k /dev/zero > {small}/ballast || true")
        try:
            verbs.up(operate.GATEWAY, str(file), config.read(file), (), small)
        except UserError as error:
            return str(error), leftovers()
        return "", leftovers()

    message, left = Child(GATEWAY, up).result()
    assert message == f"{small}/lock: No space left on device"
    assert left == []
