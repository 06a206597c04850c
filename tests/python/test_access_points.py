"""The table of default settings of access points: lasthop and its engine use the same values."""

import json
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.importing import hostapd, iw, openwrt
from lasthop.importing.scenario import as_toml
from lasthop.scenario.access_points import EDCA, FACTS, KINDS, burst, queue, table
from lasthop.scenario.typed import CellScenario, Node

from .conftest import Lasthop

CATEGORIES = ("voice", "video", "best-effort", "background")

RADIO = """\
config wifi-device 'radio1'
	option type 'mac80211'
	option band '{band}'
	option channel 'auto'
	option htmode '{htmode}'
config wifi-iface 'default_radio1'
	option device 'radio1'
	option mode 'ap'
"""


def cell_of(text: str) -> CellScenario:
    known = lh.check(text).typed
    assert isinstance(known, CellScenario)
    return known


def edca(node: Node, category: str) -> tuple[float | None, ...]:
    own = node.access(category)
    return own.aifsn, own.cwmin, own.cwmax, own.txop_limit_s


@pytest.mark.parametrize("category", CATEGORIES)
def test_access_parameters_are_those_of_the_engine(category: str) -> None:
    known = cell_of(
        'duration = "1 s"\n[cell]\nphy = "802.11ac"\nedca = "hostapd"\n[station.a]\ndownload = 1\n'
    )
    for node, whose in ((known.cell.ap, "access point"), (known.stations[0], "station")):
        *own, txop_s = edca(node, category)
        fact = EDCA[whose][category]
        assert own == [fact.aifsn, fact.cwmin, fact.cwmax]
        assert (txop_s or 0.0) == pytest.approx(fact.txop_s, abs=1e-12)


@pytest.mark.parametrize("name", FACTS)
def test_each_fact_has_a_source_and_is_a_key_of_a_cell(name: str) -> None:
    fact = FACTS[name]
    phy = fact.hops[-1] if fact.hops else "802.11ax"
    text = f'duration = "1 s"\n[cell]\nphy = "{phy}"\n{fact.line}\n[station.a]\ndownload = 1\n'
    assert lh.check(text)
    assert len(fact.source) > 40
    assert f"| {name} | `{fact.line}` |" in table()


@pytest.mark.parametrize(
    ("band", "generation", "has_burst"),
    [
        ("5 GHz", "802.11ac", True),
        ("5 GHz", "802.11ax", True),
        ("5 GHz", "802.11be", True),
        ("5 GHz", "802.11n", False),
        ("5 GHz", None, False),
        ("2.4 GHz", "802.11ax", False),
        ("6 GHz", "802.11ax", False),
    ],
)
def test_openwrt_bursts_at_5_ghz_from_80211ac_on(
    band: str, generation: str | None, has_burst: bool
) -> None:
    assert (burst(band, generation) is not None) == has_burst


def test_older_cells_have_the_nearest_queue() -> None:
    assert queue("802.11ax", of_mac80211=True).value == "{ mac80211 = {} }"
    assert queue("802.11g", of_mac80211=True).value == "{ fq_codel = {} }"
    assert queue("802.11ax", of_mac80211=False).value == "1000"


def test_import_openwrt_has_the_cell_of_init(lasthop: Lasthop, tmp_path: Path) -> None:
    """`init` and `import` must give a cell the same settings, because results depend on them. With
    the settings of one access point, a near station had 42 Mb/s and a far station 17 Mb/s. With the
    settings of another access point, the stations had 99 and 5 Mb/s.
    """
    lasthop("init", "x.toml", "--yes", "--hop", "ax", "--queue", "openwrt")
    path = tmp_path / "wireless"
    path.write_text(RADIO.format(band="5g", htmode="HE80"))
    ours = cell_of(Path("x.toml").read_text("utf-8"))
    theirs = cell_of(as_toml(openwrt.network(path, 2)))
    assert theirs.cell.ap.queue == ours.cell.ap.queue
    for category in CATEGORIES:
        assert edca(theirs.cell.ap, category) == edca(ours.cell.ap, category)
        assert edca(theirs.stations[0], category) == edca(ours.stations[0], category)


def test_every_importer_prints_the_facts_that_it_assumed(tmp_path: Path) -> None:
    conf, dump, wireless = (tmp_path / name for name in ("hostapd.conf", "dump", "wireless"))
    conf.write_text("interface=wlan0\nhw_mode=a\nchannel=36\nieee80211n=1\nieee80211ac=1\n")
    dump.write_text(
        "Station 02:00:00:00:00:01 (on wlan0)\n\ttx bytes:\t900\n"
        "\ttx bitrate:\t866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2\n"
    )
    wireless.write_text(RADIO.format(band="5g", htmode="VHT80"))
    for seen in (hostapd.network(conf, 2), iw.network(dump), openwrt.network(wireless, 2)):
        text = " ".join(as_toml(seen).replace("\n#", " ").split())
        assert "ap_queue = { mac80211 = {} }" in text
        assert seen.facts
        assert all(fact in FACTS.values() for fact in seen.facts)
        for fact in seen.facts:
            assert f"Assumed: {fact.source[0].lower()}{fact.source[1:]}" in text


@pytest.mark.parametrize(
    ("band", "htmode", "burst_s"),
    [
        ("5g", "VHT80", 2e-3),
        ("5g", "EHT160", 2e-3),
        ("5g", "HT40", None),
        ("2g", "HE40", None),
        ("6g", "HE160", None),
    ],
)
def test_imported_radios_have_their_bursts(
    band: str, htmode: str, burst_s: float | None, tmp_path: Path
) -> None:
    path = tmp_path / "wireless"
    path.write_text(RADIO.format(band=band, htmode=htmode))
    known = cell_of(as_toml(openwrt.network(path, 2)))
    assert known.cell.ap.access("best-effort").txop_limit_s == burst_s
    assert known.stations[0].access("best-effort").txop_limit_s is None


def test_kinds_are_made_of_facts() -> None:
    assert all(fact in FACTS.values() for kind in KINDS.values() for fact in kind.facts)


NS3 = """\
duration = "2 s"
warmup = "0.5 s"
replications = 1
[cell]
phy = "802.11n"
band = "5 GHz"
{}[station.a]
udp_down = {{ rate = "120 Mbps", packet = "1472 B" }}
"""


def test_check_names_the_setting_behind_the_default_of_ns_3(
    lasthop: Lasthop, tmp_path: Path
) -> None:
    """The ns-3 example wifi-aggregation.cc has 59 to 60 Mb/s for a single station at HtMcs7. The
    default settings of lasthop give 57 Mb/s, and `check` prints the setting that causes this.
    """
    goodput_mbps = []
    for edca, is_printed in (("", True), ('edca = "hostapd"\n', False)):
        path = tmp_path / "x.toml"
        path.write_text(NS3.format(edca))
        done = lasthop("check", path)
        line = 'ns-3 and hostapd set no limit: use cell.edca = "hostapd"'
        assert (line in done.stdout) == is_printed
        tree = json.loads(lh.simulate(path).to_json())
        goodput_mbps.append(tree["cells"][0]["goodput_bps"]["mean"] / 1e6)
    assert goodput_mbps[0] == pytest.approx(57.0, abs=0.3)
    assert 59.0 < goodput_mbps[1] < 60.0
