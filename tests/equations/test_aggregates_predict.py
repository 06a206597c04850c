"""Predictions for scenarios with an aggregating cell, and messages about scenarios that are not
supported.
"""

import pytest

import lasthop as lh
from lasthop.models import ConvergenceError, ModelError, predict
from lasthop.models.aggregates.assumptions import senders
from lasthop.models.aggregates.sending import Mpdus, Sending


def scenario(station=None, cell=None, aggregation=None, *, station_count=1, **more):
    tables = {
        "name": "aggregates",
        "duration": "1 s",
        "cell": {
            "phy": "802.11ax",
            "width": "80 MHz",
            "streams": 2,
            "txop_limit": "none",
            **({} if cell and "phy" in cell else {"packet_padding": "0 us"}),
            "aggregation": {"mpdus": 64, **(aggregation or {})},
            **(cell or {}),
        },
        "station": {"s": {"udp_down": "greedy", **(station or {})}},
    }
    if station_count > 1:
        tables["station"]["more"] = {"count": station_count - 1, "udp_up": "greedy"}
    return lh.Scenario({**tables, **more})


def sending(scenario_) -> Sending:
    (first, _), *_ = senders(scenario_.typed)
    return first


def cell_bps(scenario_) -> float:
    return predict(scenario_.typed, "aggregates")["cells"][0]["goodput_bps"]["mean"]


NS3 = {"durations": "ns-3"}
SHORT = {"guard_interval": "0.4 us"}
HT = {"phy": "802.11n", "width": "20 MHz", **SHORT}


@pytest.mark.parametrize(
    ("cell", "mpdus", "mbps"),
    [
        ({**HT, **NS3}, 42, 130.45),
        ({"phy": "802.11ac", "streams": 1, **NS3}, 64, 339.11),
        (NS3, 64, 859.46),
        (NS3, 256, 1055.22),
        (HT, 42, 130.34),
        ({"phy": "802.11ac", "streams": 1}, 64, 338.50),
        ({}, 64, 861.0),
    ],
)
def test_closed_forms_of_one_station(cell, mpdus, mbps) -> None:
    # The cycle consists of AIFS, 7.5 slots, the PPDU, SIFS and the BlockAck. Each MPDU of 1538
    # bytes has 1472 bytes of payload.
    assert cell_bps(scenario(cell=cell, aggregation={"mpdus": mpdus})) == pytest.approx(
        mbps * 1e6, rel=1e-3
    )


def test_ppdus_end_at_limits_of_mpdus_bytes_and_time() -> None:
    sender = sending(scenario())
    assert sender.first == Mpdus(64, 64, 64 * 1544 - 2)
    most = {"bytes": "10000 B"}
    assert sending(scenario(aggregation=most)).first == Mpdus(6, 6, 6 * 1544 - 2)
    sender = sending(scenario(aggregation={"time": "0.2 ms"}))
    count = sender.first.count
    assert sender.ppdu_ns(count * 1544 - 2) <= 200_000 < sender.ppdu_ns((count + 1) * 1544 - 2)
    # A TXOP that is too short for a single MPDU still contains one MPDU.
    sender = sending(scenario(cell={"txop_limit": "100 us"}))
    assert sender.mpdus(50_000, opens=True).count == 1
    assert sender.mpdus(50_000, opens=False).count == 0


def test_amsdus_are_filled_packet_by_packet() -> None:
    sender = sending(scenario(aggregation={"mpdus": 3, "amsdu": "3100 B"}))
    # The subframes have 14 + 8 + 1500 bytes. The first subframe is padded to 1524 bytes.
    assert sender.packets_per_mpdu == 2
    assert sender.first == Mpdus(3, 6, 2 * 3080 + 4 + 30 + 1524 + 1522)
    # The last MPDU has room for only one packet.
    cut = sending(scenario(aggregation={"mpdus": 3, "amsdu": "3100 B", "bytes": "8000 B"}))
    assert cut.first == Mpdus(3, 5, 2 * 3080 + 4 + 1538)


def test_an_opportunity_is_filled_to_its_limit() -> None:
    limit_ns = 2_528_000
    sender = sending(scenario(cell={"txop_limit": "2.528 ms"}))
    access = sender.exchange(64)
    assert access.sizes is not None
    assert access.sizes[:-1] == (64,) * (len(access.sizes) - 1)
    assert 1e9 * access.exchange_s <= limit_ns
    longer = sender.ppdu_ns((access.sizes[-1] + 1) * 1544 - 2) - sender.ppdu_ns(
        access.sizes[-1] * 1544 - 2
    )
    assert 1e9 * access.exchange_s + longer > limit_ns
    limited = sending(scenario(cell={"txop_limit": "2.528 ms", "txop_packets": 2}))
    assert limited.exchange(64).sizes == (64, 64)


def test_rts_precedes_long_ppdus() -> None:
    by_size = sending(scenario(cell={"rts_threshold": "1000 B"}))
    by_time = sending(scenario(cell={"rts_longer_than": "100 us"}))
    never = sending(scenario())
    for protected in (by_size, by_time):
        assert protected.exchange(64).first_frame_s == pytest.approx(28e-6)
        ahead_s = protected.exchange(64).exchange_s - never.exchange(64).exchange_s
        assert ahead_s == pytest.approx(28e-6 + 28e-6 + 32e-6)


def test_an_older_station_has_its_own_ppdus() -> None:
    old = sending(scenario({"phy": "802.11a"}))
    assert (old.standard, old.most_mpdus, old.first.count) == (None, 1, 1)
    ht = sending(scenario({"phy": "802.11n"}))
    assert ht.ppdu is not None
    assert (ht.ppdu.width_mhz, ht.ppdu.coding, ht.first.count) == (40, "bcc", 42)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"station": {"download": 1}}, "`station.s.download` is TCP"),
        ({"station": {"count": 2}}, "sends to several stations"),
        ({"station": {"udp_down": "5 Mbps"}}, "offers 5 Mb/s where 861 Mb/s fit"),
        ({"station": {"udp_up": "greedy", "queue": 63}}, "has room for 63 packets"),
        ({"station": {"snr": "20 dB"}}, "`station.s.snr`"),
        ({"station": {"power_save": "10 ms", "udp_down": "2 Gbps"}}, "power_save"),
        (
            {"station": {"udp_up": "greedy", "aifsn": 7}},
            "several AIFSN: 3, 7",
        ),
        (
            {"station": {"error": 0.1}, "cell": {"txop_limit": "2 ms"}},
            '`txop_limit` is not "none"',
        ),
        ({"wire": {"rate": "800 Mbps"}}, "`wire.rate`"),
        ({"wire": {"loss": 0.1}}, "`wire.loss` = 0.1"),
    ],
)
def test_unsupported_features_are_refused(change, message) -> None:
    with pytest.raises(ModelError) as caught:
        predict(scenario(**change).typed, "aggregates")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("aggregation", "message"),
    [
        ({"bytes": "50000 B"}, "room for 32 MPDUs of a window of 64"),
        ({"bar_after_failure": True}, "bar_after_failure"),
    ],
)
def test_losses_need_room_for_the_window(aggregation, message) -> None:
    with pytest.raises(ModelError) as caught:
        predict(scenario({"error": 0.1}, aggregation=aggregation).typed, "aggregates")
    assert message in str(caught.value)


def test_failures_in_a_row_of_a_single_sender_depend_on_each_other() -> None:
    # If the only MPDU of a PPDU is lost, the next PPDU contains the same MPDU. If failures were
    # independent, the goodput would be 92.87 Mb/s; the simulated goodput is 87.42 +- 0.37.
    lossy = scenario({"error": 0.5}, {"packet_padding": "16 us"}, {"mpdus": 8})
    assert cell_bps(lossy) == pytest.approx(87.42e6, rel=0.005)


@pytest.mark.parametrize(
    ("station", "cell", "aggregation", "message"),
    [
        ({"error": 0.2}, {}, {"reorder_timeout": "1 ms"}, "`aggregation.reorder_timeout` = 1 ms"),
        ({"error": 0.3}, {"ack_timeout": "300 us"}, {}, "`cell.ack_timeout`"),
        ({"error": 0.5, "udp_up": "greedy"}, {}, {"mpdus": 8}, "of the PPDUs lost completely"),
        ({"error": 0.9}, {}, {"mpdus": 256, "attempts": 255}, "(assumption"),
    ],
)
def test_losses_break_the_named_assumptions(station, cell, aggregation, message) -> None:
    with pytest.raises(ModelError) as caught:
        predict(scenario(station, cell, aggregation).typed, "aggregates")
    assert message in str(caught.value)


@pytest.mark.slow
def test_too_many_losses_do_not_converge() -> None:
    lossy = scenario({"error": 0.5}, {}, {"mpdus": 256, "attempts": "unlimited"})
    with pytest.raises(ConvergenceError, match=r"losses of 0\.5 in a window of 256"):
        predict(lossy.typed, "aggregates")


def test_a_window_without_slots_suits_a_single_sender_only() -> None:
    none = {"cwmin": 0, "cwmax": 0}
    assert cell_bps(scenario(cell=none)) > cell_bps(scenario())
    several = scenario({"udp_up": "greedy"}, none)
    with pytest.raises(ConvergenceError, match="collide always"):
        predict(several.typed, "aggregates")


def test_too_many_senders_are_refused_with_the_estimate() -> None:
    crowd = scenario({"udp_down": "greedy", "udp_up": "greedy"}, station_count=8_000)
    with pytest.raises(lh.TooCostlyError, match="8001 senders"):
        predict(crowd.typed, "aggregates")


def test_stations_that_are_alike_are_one_kind() -> None:
    # If the 400 stations were solved as different contenders, the prediction would exceed its time
    # limit by far.
    crowd = scenario({"udp_up": "greedy"}, station_count=400)
    assert 0 < cell_bps(crowd) < cell_bps(scenario())


def test_a_rate_just_above_what_fits_is_doubted() -> None:
    answer = predict(scenario({"udp_down": "900 Mbps"}).typed, "aggregates")
    assert any("offers 900 Mb/s" in warning for warning in answer["warnings"])
    answer = predict(scenario({"udp_down": "1 Gbps"}).typed, "aggregates")
    assert answer["warnings"] == []


@pytest.mark.parametrize("table", [{}, {"aggregation": {"mpdus": 64}}])
def test_a_category_is_predicted_with_its_own_aggregates(table) -> None:
    """Voice frames are not aggregated unless the table of voice says so. With the parameters of
    best effort, the prediction equals that of best effort.
    """
    access = {"aifsn": 2, "cwmin": 3, "cwmax": 7}
    voice = {"udp_down": {"rate": "greedy", "category": "voice"}}
    own = scenario(voice, {"voice": {**access, "txop_limit": "none", **table}}, station_count=1)
    mpdus = table.get("aggregation", {"mpdus": 1})
    same = scenario(cell=access, aggregation=mpdus)
    assert sending(own).most_mpdus == mpdus["mpdus"]
    assert cell_bps(own) == cell_bps(same)
