"""Scenarios that the emulator refuses before it changes anything."""

from pathlib import Path

import pytest

import lasthop as lh
from lasthop import _core
from lasthop.cli import main
from lasthop.emulated.ignored import unfollowed
from lasthop.emulated.users import with_users
from lasthop.emulation.limits import (
    check,
    check_programs,
    datagrams_per_second,
    filling_s,
)
from lasthop.emulation.programs import Program

CELL = 'duration = "9 s"\ncell = { phy = "802.11b" }\n'


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ('[station.a]\nudp_up = "greedy"', None),
        ('vsb = {}\n[station.a]\ndownload = 1\npower_save = "0 s"\nping_loss = 1', None),
        (
            "vsb = {}\n[station.a]\ndownload = 1\n"
            'pings.late = { at = "1 s", ping_delay = "300 ms" }',
            None,
        ),
        (
            '[station.a]\nudp_up = { rate = "1 Mbps", header = "40 B" }',
            "flow a/udp-up/1: headers of 40 B: expected 28 B, those of IPv4 and UDP",
        ),
        (
            '[station.a]\nudp_up = { rate = "16 Mbps", packet = "100 B" }',
            "20000 datagrams per second: expected up to 10000",
        ),
        (
            'tcp.mss = "80 B"\n[station.a]\ndownload = 1',
            "flow a/down/1: mss of 80 B: expected at least 88 B, the minimum of the kernel's TCP",
        ),
        ("[station.a]\ndownload = { connections = 1, segments = 9 }", None),
        (
            '[station.a]\ndownload = 1\nchannel.rain = { at = "1 s", error = 0.1 }',
            None,
        ),
        ('[station.a]\nsensor_up = "1 s"', None),
        (
            '[station.a]\nsensor_up = { every = "1 s", size = "3 B" }',
            "flow a/sensor-up/1: reports of 3 B: expected at least 4 B",
        ),
        (
            'tcp.congestion = "africa"\n[station.a]\ndownload = 1',
            "flow a/down/1: congestion africa: expected one of reno, newreno, cubic, cubic_linux, "
            "bbr, compound, illinois",
        ),
        (
            'tcp.congestion = "bbr3"\n[station.a]\ndownload = 1',
            "flow a/down/1: congestion bbr3: the kernels of emulations have no BBR v3: expected "
            "bbr, which is version 1",
        ),
        ('tcp.congestion = "compound"\n[station.a]\ndownload = 1', None),
        (
            'stagger = "1 s"\n[station.a]\ndownload = 1',
            None,
        ),
    ],
)
def test_a_scenario_beyond_the_limits_is_refused_in_one_line(tmp_path, rest, message):
    path = tmp_path / "x.toml"
    path.write_text(CELL + rest)
    scenario = lh.Scenario(path)
    if message is None:
        check(scenario)
        return
    with pytest.raises(lh.UserError) as caught:
        check(scenario)
    assert str(caught.value) == f"{path}: {message}"
    assert caught.value.hint == "simulate it instead: lasthop simulate"


def test_a_comparison_is_refused_before_it_simulates(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(CELL + 'tcp.congestion = "africa"\n[station.a]\ndownload = 1')
    with pytest.raises(
        lh.UserError, match="congestion africa: expected one of reno, newreno, cubic"
    ):
        lh.compare(path, emulate=True)


WIRED = {"duration": "9 s", "dumbbell": {"bottleneck": "8 Mbps"}}
ON_AIR = {"duration": "9 s", "csma": {"beta": 200, "k": 10, "link": {"1": {}}}}
PRICED = {"aqm": False, "r_max": 0.1, "service_rate": 6000}
QUICK = {"duration": "9 s", "csma": {**PRICED, "link": {"1": {}}}}
CLASSES = {"class": {"all": {"share": 1, "station": "a"}}}


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ({**WIRED, "flow": {"f": {}}}, None),
        ({**WIRED, "flow": {"f": {"udp": "1 Mbps"}}}, None),
        ({**WIRED, "flow": {"f": {"web": 3}}}, None),
        (
            {**WIRED, "flow": {"f": {"web": 300}, "g": {"web": 301}}},
            "601 web connections per second: expected up to 500",
        ),
        ({**ON_AIR, "flow": {"f": {"route": ["1"]}}}, None),
        (
            {**ON_AIR, "flow": {"f": {"route": ["1"]}}, "tcp": {"congestion": "africa"}},
            "flow f: congestion africa: expected one of reno, newreno, cubic, cubic_linux, "
            "bbr, compound, illinois",
        ),
        (
            {**QUICK, "flow": {"f": {"route": ["1"], "udp": "greedy"}}},
            "12000 datagrams per second: expected up to 10000",
        ),
        (
            {
                "duration": "9 s",
                "cell": {"phy": "802.11g", "ap_queue": {"vbs": CLASSES}},
                "station": {"a": {"download": 1}},
            },
            None,
        ),
    ],
)
def test_networks_and_shared_buffers_are_emulated(scenario, message):
    reno = {"tcp": {"congestion": "reno"}, **scenario}
    if message is None:
        check(lh.Scenario(reno))
        return
    with pytest.raises(lh.UserError) as caught:
        check(lh.Scenario(reno))
    assert str(caught.value).endswith(message)


@pytest.mark.parametrize(
    ("tcp", "named"),
    [
        ("sack = true, prr = true, initial_window = 10, delayed_ack = false", []),
        ("ecn = true, initial_window = 3", ["initial_window", "ecn"]),
        ('congestion = "compound"', []),
        ('congestion = "compound", compound.gamma = 20', ["compound"]),
    ],
)
def test_settings_that_the_kernel_ignores_are_named(tmp_path, tcp, named):
    path = tmp_path / "x.toml"
    path.write_text(f"{CELL}tcp = {{ {tcp} }}\n[station.a]\ndownload = 2\nudp_up = 'greedy'\n")
    names = [line.partition(" ")[0] for line in unfollowed(lh.Scenario(path).typed)]
    assert names == [f"`tcp.{name}`" for name in named]


@pytest.mark.parametrize(
    ("rest", "rate_bps"),
    [
        ("", 11e6),
        ('wire.rate = "20 Mbps"', 20e6),
        ('wire.rate = "1 Mbps"', 1e6),
        ("wire.rate = { trace = [12, 24] }", 2e6),
        ('link.l = { from = "n", to = "s", back_rate = "3 Mbps" }\nwire.rate = "1 Mbps"', 3e6),
        ("vsb = {}", 11e6),
        ('vsb.rate = "30 Mbps"', 30e6),
        # A greedy source sends more than the rate of the link.
        # The excess compensates for losses before the queue of the link.
        # Without a link, a greedy source sends at the rate of frames on the air.
        ('wire = { rate = "5 Mbps", loss = 0.1 }', 5e6 * 1.1 / 0.9),
        ("wire = { rate = { trace = [12, 24] }, loss = 0.2 }", 2e6 * 1.2 / 0.8),
        ("wire.loss = 0.1", 11e6 / 0.9),
        (
            'link.l = { from = "n", to = "s", loss.every = 2 }\n'
            'wire = { rate = "1 Mbps", loss.every = 5 }',
            1e6 * 1.6 / 0.4,
        ),
        ('link.l = { from = "n", to = "s", loss = 0.5 }\nwire.loss.every = 5', 11e6 / 0.4),
        ('wire.loss = 0.1\nvsb.rate = "30 Mbps"', 30e6 * 1.1 / 0.9),
        ('link.l = { from = "n", to = "s", rate = "1 Mbps" }\nwire.loss = 0.5', 1e6),
    ],
)
def test_a_greedy_downlink_is_sent_at_the_rate_of_the_first_link_on_its_path(
    tmp_path, rest, rate_bps
):
    path = tmp_path / "x.toml"
    at = ', server = "s"' if "link" in rest else ""
    source = f'[station.a]\nudp_down = {{ rate = "greedy"{at} }}\n'
    cell = CELL.replace(" }", ', node = "n" }') if at else CELL
    path.write_text(f"{cell}{rest}\n{source}")
    typed = lh.Scenario(path).typed
    sent = datagrams_per_second(typed.udp_flows[0], typed)
    assert sent == pytest.approx(rate_bps / (8 * 1472))


@pytest.mark.parametrize(
    ("source", "wire", "time_s"),
    [
        # 100 packets of 1500 B take 0.24 s at 5 Mb/s.
        ("greedy", {"rate": "5 Mbps", "queue": 100, "loss": 0.01}, 0.24),
        ("greedy", {"rate": {"trace": [2]}, "queue": 100}, 0.0),
        ("greedy", {}, 0.0),
        ("64 kbps", {"rate": "5 Mbps", "queue": 100}, 0.0),
    ],
)
def test_a_greedy_downlink_fills_the_queue_of_a_link_while_it_would_drain(source, wire, time_s):
    station = {"a": {"udp_down": source}}
    table = {"duration": "1 s", "cell": {"phy": "802.11g"}, "wire": wire, "station": station}
    typed = lh.Scenario(table).typed
    assert filling_s(typed.udp_flows[0], typed) == pytest.approx(time_s)


def test_programs_are_refused_on_a_conflict_graph():
    scenario = lh.Scenario({**ON_AIR, "flow": {"f": {"route": ["1"]}}})
    with pytest.raises(lh.UserError, match=r"`csma`: programs are not supported, since its links"):
        check_programs(scenario)
    check_programs(lh.Scenario({**WIRED, "flow": {"f": {}}}))


@pytest.mark.parametrize("virtual", [False, True])
def test_a_place_that_does_not_exist_is_refused_before_the_start(virtual):
    table = {"duration": "1 s", "cell": {"phy": "802.11g"}, "station": {"near": {"upload": 1}}}
    program = Program("nera", ["true"])
    with pytest.raises(lh.UserError, match="nera: no such place"):
        lh.emulate(lh.Scenario(table), foreground=program, virtual=virtual)
    with pytest.raises(lh.UserError, match="nera: no such place"):
        lh.emulate(lh.Scenario(table), others=[program], virtual=virtual)


def test_users_of_a_conflict_graph_are_flows_with_their_own_settings():
    flow = {"route": ["1"], "start": "2 s", "stop": "8 s", "window": 7}
    known = with_users(lh.Scenario({**ON_AIR, "flow": {"f": flow}}))
    assert [user.name for user in known.flows] == ["f"]
    assert (known.flows[0].start_s, known.flows[0].stop_s) == (2.0, 8.0)
    assert known.tcp_flows[0].tcp.window_packets == 7


def test_emulated_and_simulated_users_have_the_same_demand():
    """The numbers of connections and the lengths of responses equal those of a simulation."""
    flow = {"stop": "7 s", "web": {"connections": 30, "response": "2 kB"}}
    scenario = lh.Scenario({**WIRED, "warmup": "0 s", "seed": 5, "flow": {"f": flow}})
    asked = list(_core.Transactions(scenario.checked, 0))
    result = lh.simulate(scenario, replications=1).classes.loc["f"]
    assert len(asked) == result["connections_finished"] > 150
    starts_s = [each[0] for each in asked]
    assert starts_s == sorted(starts_s)
    assert starts_s[-1] < 7
    assert {each[3] for each in asked} == {2000}
    assert len({each[1] for each in asked}) > 10  # the lengths of requests are random
    with pytest.raises(ValueError, match="flow: 1 is no web source"):
        _core.Transactions(scenario.checked, 1)


def test_the_rule_of_a_user_equals_that_of_the_engine():
    flows = {"flow": {"f": {"route": ["1"]}}}
    rule = _core.MultiConnection(lh.Scenario({**ON_AIR, **flows}).checked, 0)
    assert [rule.step(rtt_s, 50.0) for rtt_s in (None, 1.99, None, 0.01)] == [1, 19, 19, 1]
    with pytest.raises(ValueError, match="flow: 1 is no user"):
        _core.MultiConnection(lh.Scenario({**ON_AIR, **flows}).checked, 1)


@pytest.mark.parametrize("command", ["emulate", "simulate"])
def test_a_capture_does_not_replace_its_scenario(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cell.toml"
    text = 'duration = "2 s"\nwarmup = "1 s"\ncell = { phy = "802.11g" }\nstation.a.upload = 1\n'
    path.write_text(text)
    assert main([command, str(path), "--pcapng", str(path)]) == 2
    assert "is the scenario, which would be overwritten" in capsys.readouterr().err
    assert path.read_text() == text
