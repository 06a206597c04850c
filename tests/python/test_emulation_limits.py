"""What the emulator refuses, before it makes anything."""

import pytest

import lasthop as lh
from lasthop.emulation.limits import check

CELL = 'duration = "9 s"\ncell = { phy = "802.11b" }\n'


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ('[station.a]\nudp_up = "1 Mbps"', "flow a/udp-up/1 is UDP; the emulator has TCP"),
        (
            "[station.a]\ndownload = { connections = 1, segments = 9 }",
            "flow a/down/1 is finite; the emulator has flows that last",
        ),
        (
            '[station.a]\nsensor_up = "1 s"',
            "flow a/sensor-up/1 is a sensor's; the emulator has flows that last",
        ),
        (
            'tcp.congestion = "compound"\n[station.a]\ndownload = 1',
            "flow a/down/1: congestion compound; the emulator has reno, newreno, cubic",
        ),
        (
            'stagger = "1 s"\n[station.a]\ndownload = 1',
            None,
        ),
    ],
)
def test_what_it_cannot_do_is_said_in_one_line(tmp_path, rest, message):
    path = tmp_path / "x.toml"
    path.write_text(CELL + rest)
    scenario = lh.Scenario(path)
    if message is None:
        check(scenario)
        return
    with pytest.raises(lh.UserError) as caught:
        check(scenario)
    assert str(caught.value) == f"{path}: {message}"
    assert caught.value.hint == "simulate does not need real time"


def test_a_comparison_is_refused_before_it_simulates(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(CELL + '[station.a]\nudp_up = "1 Mbps"')
    with pytest.raises(lh.UserError, match="the emulator has TCP"):
        lh.compare(path, emulate=True)
