"""Groups of stations in the kernel: damage is repaired."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from damage import snapshot
from lab import GATEWAY, Lab, entered, gateway_text, leftovers, log_in, sh
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.shaper import Shaper

GROUPS = 'group.one = { stations = "s0, s1", share = 2 }\ngroup.unlisted.max = "3 Mbps"'
DAMAGES = {
    "the share of a group": "tc class change dev lh-lan parent 6c68:1 classid 6c68:ffff "
    "htb rate 96bit ceil 5mbit quantum 1514",
    "the largest rate of a group": "tc class change dev lh-lan parent 6c68:1 classid 6c68:fffe "
    "htb rate 96bit ceil 5mbit quantum 1514",
    "a leaf inside a group": "tc class change dev lh-lan parent 1:1 classid 1:100 "
    "htb rate 96bit ceil 50kbit quantum 1514",
    "the queue of a station": "tc qdisc change dev lh-lan parent 1:100 pfifo limit 2",
    "a class of others inside a group": "tc class add dev lh-lan parent 1:1 classid 1:999 "
    "htb rate 1mbit",
    "the hierarchy inside a group is removed": "tc qdisc del dev lh-lan parent 6c68:ffff",
    "filters inside a group are removed": "tc filter del dev lh-lan parent 1:",
    "all is removed": "tc qdisc del dev lh-lan root",
}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab(stations=3, rate_bps=None) as lab:
        yield lab


@pytest.mark.parametrize("has_programs", [True, False])
def test_damages_of_groups_are_repaired(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_programs: bool
) -> None:
    if not has_programs:
        monkeypatch.setattr(Shaper, "has_programs", lambda _: False)
    gateway = config.read(gateway_text(3, GROUPS))
    with entered(GATEWAY), Shaper(gateway, log_in(tmp_path)) as shaper:
        shaper.up(gateway.stations)
        assert shaper.faults() == []
        before = [snapshot(), of_groups()]
        for what, harm in DAMAGES.items():
            sh(harm)
            differences = shaper.differences()
            assert differences, what
            shaper.repair(differences)
            shaper.repair(
                shaper.differences()
            )  # the objects inside a missing hierarchy are only repaired after it
            assert shaper.faults() == [], what
            assert [snapshot(), of_groups()] == before, what
        assert shaper.down() == []
        assert leftovers() == []


def of_groups() -> list[str]:
    """Return the filters inside groups, without numbers that the kernel chooses."""
    shown = sh("tc filter show dev lh-lan parent 1:; tc filter show dev lh-lan parent 2:")
    return [line.split(" id ")[0].split("fh 8")[0] for line in shown.splitlines()]
