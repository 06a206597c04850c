"""Inspection of the kernel's settings after an event."""

import pytest

from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.inspection import ALL, BLOCKS, Part, parts_of
from lasthop.enforce.gateway.layout import Layout
from lasthop.linux import links, tc
from lasthop.linux.events import Event
from lasthop.linux.tc import Device

LAYOUT = Layout(config.read('[gateway]\nwan = "wan"\nlan = "lan"\n'), Device("lh-lan", 9))
ROOT, LEAF = tc.ROOT, 0x6C680100


@pytest.mark.parametrize(
    ("event", "parts"),
    [
        (Event(links.NEWLINK, 2, 0), {Part.INTERFACES}),
        (Event(links.DELLINK, 9, 0), {Part.INTERFACES}),
        (Event(tc.DELQDISC, 2, tc.INGRESS), {Part.INTERFACES}),
        (Event(tc.NEWCLASS, 9, ROOT), {Part.CLASSES}),
        (Event(tc.NEWQDISC, 9, LEAF), {Part.CLASSES}),
        (Event(tc.DELFILTER, 9, 0x6C680000), {Part.FILTERS}),
        (Event(tc.DELFILTER, -1, LAYOUT.to_block.number), {Part.TO_BLOCK}),
        (Event(tc.NEWFILTER, -1, LAYOUT.from_block.number), {Part.FROM_BLOCK}),
        (Event(48, 0, 0), BLOCKS),
        (Event(100, 9, 0x6C680000), set[Part]()),
    ],
)
def test_an_event_triggers_the_inspection_of_its_part(event: Event, parts: set[Part]) -> None:
    assert parts_of({event}, LAYOUT) == parts


def test_an_unknown_event_triggers_a_full_inspection() -> None:
    assert parts_of(None, LAYOUT) == ALL
    assert parts_of(set(), LAYOUT) == set()
