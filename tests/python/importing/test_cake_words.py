"""Words of tc-cake(8) as a scenario's table `queue.cake`."""

import tomllib

import pytest

import lasthop as lh
from lasthop.importing.cake_words import Cake, read_words

LINE = 'from = "home"\nto = "provider"\nrate = "1 Gbps"\n'


def warned(cake: Cake) -> str:
    return "\n".join(note.text for note in cake.notes if note.warns)


@pytest.mark.parametrize(
    ("words", "table"),
    [
        ("", "{}"),
        ("unlimited nowash egress split-gso nonat raw diffserv3 internet", "{}"),
        ("bandwidth 18mbit", '{ bandwidth = "18 Mbps" }'),
        ("bandwidth 18Mbit unlimited", "{}"),
        ("bandwidth 1mbps", '{ bandwidth = "8 Mbps" }'),
        ("bandwidth 1mibit", '{ bandwidth = "1.048576 Mbps" }'),
        ("bandwidth 900000", '{ bandwidth = "900 kbps" }'),
        ("besteffort flows", '{ diffserv = "besteffort", isolation = "flows" }'),
        ("diffserv", '{ diffserv = "diffserv4" }'),
        ("dual-srchost nat", '{ isolation = "dual-srchost", nat = true }'),
        ("ack-filter", '{ ack_filter = "conservative" }'),
        ("ack-filter-aggressive", '{ ack_filter = "aggressive" }'),
        ("ack-filter no-ack-filter", "{}"),
        ("rtt 50ms", '{ rtt = "50 ms" }'),
        ("rtt 1500us", '{ rtt = "1.5 ms" }'),
        ("satellite", '{ rtt = "1000 ms" }'),
        ("metro", '{ rtt = "10 ms" }'),
        ("memlimit 8Mb", '{ memory_limit = "8388608 B" }'),
        (
            "bandwidth 10mbit overhead 40 mpu 64 atm ingress",
            '{ bandwidth = "10 Mbps", overhead = "40 B", mpu = "64 B", link_layer = "atm", '
            "ingress = true }",
        ),
        ("bandwidth 10mbit overhead 40 raw", '{ bandwidth = "10 Mbps" }'),
        ("ingress overhead 44", "{}"),
    ],
)
def test_words_become_keys(words: str, table: str) -> None:
    cake = read_words(words)
    assert cake.table() == table
    assert cake.notes == []
    assert tomllib.loads(f"cake = {table}")
    line = f"[link.line]\n{LINE}queue = {{ cake = {table} }}"
    lh.check(f"duration = '1 s'\n{line}\n[flow.a]\nfrom = 'home'\nto = 'provider'\n")


@pytest.mark.parametrize(
    ("word", "overhead", "link_layer", "mpu"),
    [
        # tc-cake(8), section "Manual overhead specification" and the sections that follow
        ("conservative", 48, "atm", 0),
        ("ipoa-vcmux", 8, "atm", 0),
        ("ipoa-llcsnap", 16, "atm", 0),
        ("bridged-vcmux", 24, "atm", 0),
        ("bridged-llcsnap", 32, "atm", 0),
        ("pppoa-vcmux", 10, "atm", 0),
        ("pppoa-llc", 14, "atm", 0),
        ("pppoe-vcmux", 32, "atm", 0),
        ("pppoe-llcsnap", 40, "atm", 0),
        ("pppoe-ptm", 30, "ptm", 0),
        ("bridged-ptm", 22, "ptm", 0),
        ("docsis", 18, "none", 64),
        ("ethernet", 38, "none", 84),
        ("ethernet ether-vlan ether-vlan", 46, "none", 84),
        ("bridged-ptm ether-vlan", 26, "ptm", 0),
    ],
)
def test_framings_set_the_overhead(word: str, overhead: int, link_layer: str, mpu: int) -> None:
    cake = read_words(word)
    assert (cake.overhead_bytes, cake.link_layer, cake.mpu_bytes) == (overhead, link_layer, mpu)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("wash", "it would clear the DSCPs after the queue"),
        ("fwmark 0xff", "the mark of a packet would select its tin"),
        ("no-split-gso", "here each packet is one segment"),
        ("autorate-ingress", "here the bandwidth is constant"),
        ("via-ethernet", "obsolete: tc ignores it"),
        ("ether-phy", "as overhead 20 does"),
        ("frobnicate", '"frobnicate" is no word of tc-cake(8)'),
        ("overhead -4", "a negative overhead is simulated as 0 B"),
        ("overhead 999", "expected at most 256 bytes"),
        ("mpu many", 'mpu "many"'),
        ("interplanetary", "the nearest supported RTT is 100 s"),
        ("rtt 1us", "the nearest supported RTT is 20 us"),
        ("bandwidth fast", 'bandwidth "fast" is no quantity of tc'),
        ("bandwidth", 'bandwidth "" is no quantity of tc'),
        ("memlimit 8parsec", 'memlimit "8parsec" is no quantity'),
    ],
)
def test_a_word_without_effect_has_one_line_of_warning(words: str, text: str) -> None:
    cake = read_words(words, "eqdisc_opts")
    (note,) = cake.notes
    assert text in note.text
    assert note.text.startswith("eqdisc_opts: ")
    assert "\n" not in note.text


def test_later_words_replace_earlier_ones() -> None:
    cake = read_words("besteffort overhead 18 diffserv4", cake=read_words("bandwidth 5mbit nat"))
    assert (cake.bandwidth_bps, cake.diffserv, cake.overhead_bytes) == (5e6, "diffserv4", 18)
    assert cake.nat
    assert warned(cake) == ""
