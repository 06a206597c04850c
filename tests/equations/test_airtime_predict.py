"""Predictions for stations that share one queue, messages about scenarios that are not supported,
and values taken from a run.
"""

import pytest

import lasthop as lh
from lasthop.errors import UserError
from lasthop.models import ModelError, choose, predict
from lasthop.models.airtime import Options
from lasthop.scenario.queues import Mac80211
from lasthop.scenario.typed import CellScenario


def scenario(station=None, cell=None, near=None, **more) -> lh.Scenario:
    far = {"streams": 1, "mcs": 0, "udp_down": "greedy", **(station or {})}
    near = {"count": 2, "mcs": 7, "streams": 2, "udp_down": "greedy", **(near or {})}
    tables = {"near": near, "far": far}
    given = {name: {k: v for k, v in own.items() if v is not None} for name, own in tables.items()}
    return lh.Scenario(
        {
            "duration": "1 s",
            "cell": {
                "phy": "802.11n",
                "width": "20 MHz",
                "guard_interval": "0.4 us",
                "txop_limit": "none",
                "ap_queue": 200,
                **(cell or {}),
            },
            "station": given,
            **more,
        }
    )


def behind_mac80211(**keys: object) -> lh.Scenario:
    """Return the scenario with the queue of a Linux access point."""
    source = {"rate": "100 Mbps"}
    queue = {"mac80211": keys}
    return scenario({"udp_down": source}, {"ap_queue": queue}, near={"udp_down": source})


def shares(answer) -> list[float]:
    """Return, for each station, its fraction of the air time of all PPDUs."""
    fractions = [station["airtime_fraction"]["mean"] for station in answer["stations"]]
    return [each / sum(fractions) for each in fractions]


def test_the_airtime_model_is_chosen_for_downlink_cells_and_mac80211() -> None:
    assert choose(scenario().typed) == "airtime"
    assert choose(behind_mac80211().typed) == "airtime"
    upload = scenario(near={"count": 1, "udp_down": None, "udp_up": "greedy"})
    assert choose(upload.typed) == "aggregates"
    down = scenario({"udp_down": None, "download": 1})
    assert choose(down.typed) == "aggregates"
    # No other model supports mac80211. The message therefore states in one line what this model
    # does not support.
    own = {"udp_down": None, "download": 1}
    tcp = scenario(own, {"ap_queue": {"mac80211": {}}}, near=own).typed
    assert choose(tcp) == "airtime"
    with pytest.raises(ModelError, match=r"`station.near.download` is TCP") as caught:
        predict(tcp, "airtime")
    assert len(caught.value.folded) == 1


def test_the_queue_of_the_scenario_decides() -> None:
    fair = behind_mac80211().typed
    assert isinstance(fair, CellScenario)
    assert isinstance(fair.cell.ap.queue, Mac80211)
    assert shares(predict(fair, "airtime")) == pytest.approx([1 / 3] * 3, abs=1e-3)
    own = behind_mac80211(airtime_fairness=False, aql=False).typed
    rounds = predict(own, "airtime")
    assert (rounds["order"], predict(fair, "airtime")["order"]) == ("rounds", "airtime")
    with pytest.raises(ModelError, match="`airtime_fairness`: what the device holds"):
        predict(behind_mac80211(airtime_fairness=False).typed, "airtime")
    # The stations take turns, and each sends one aggregate. Air time is therefore proportional to
    # the duration of the exchanges, and throughput to the number of their packets.
    mpdus = [row["downlink_mpdus_per_ppdu"]["mean"] for row in rounds["stations"]]
    goodputs = [row["goodput_bps"]["mean"] for row in rounds["stations"]]
    assert goodputs[0] / goodputs[2] == pytest.approx(mpdus[0] / mpdus[2])
    assert mpdus == [42, 42, 3]
    # The option replaces the queue of the scenario, which is not mac80211.
    other = predict(scenario().typed, "airtime", {"queue": "airtime"})
    assert shares(other) == pytest.approx([1 / 3] * 3, abs=1e-3)
    assert other["options"] == {"queue": "airtime", "aggregates": None}


def test_a_fifo_gives_all_stations_the_same_and_the_slow_station_the_air() -> None:
    answer = predict(scenario().typed, "airtime")
    goodputs = [row["goodput_bps"]["mean"] for row in answer["stations"]]
    assert goodputs == pytest.approx([goodputs[0]] * 3)
    assert shares(answer)[2] > 0.85
    assert sum(row["airtime_fraction"]["mean"] for row in answer["stations"]) < 1
    # twice the load gives twice the throughput
    twice = scenario({"udp_down": "8 Mbps"}, near={"udp_down": "16 Mbps"})
    got = [row["goodput_bps"]["mean"] for row in predict(twice.typed, "airtime")["stations"]]
    assert got[0] == pytest.approx(2 * got[2])


def test_greedy_sources_behind_a_wire_offer_its_rate() -> None:
    alone = predict(scenario().typed, "airtime")["stations"]
    total_bps = sum(row["goodput_bps"]["mean"] for row in alone)
    fast = predict(scenario(wire={"rate": "100 Mbps"}).typed, "airtime")["stations"]
    assert [row["goodput_bps"]["mean"] for row in fast] == pytest.approx(
        [row["goodput_bps"]["mean"] for row in alone], rel=0.02
    )
    slow = scenario(wire={"rate": f"{total_bps / 1e6:.3f} Mbps"}).typed
    with pytest.raises(ModelError, match=r"`station.near.udp_down` offers .* Mb/s where"):
        predict(slow, "airtime")


def test_aggregates_of_a_run_replace_those_of_the_model() -> None:
    text = {"aggregates": "near-1=20, near-2=20.5, far=2"}
    answer = predict(scenario().typed, "airtime", text)
    taken = [row["downlink_mpdus_per_ppdu"]["mean"] for row in answer["stations"]]
    assert taken == [20, 20.5, 2]
    again = predict(scenario().typed, "airtime", {"aggregates": answer["options"]["aggregates"]})
    assert again == answer
    # Channel errors are supported if the aggregate sizes are given. One in twenty packets is
    # retransmitted.
    lossy = predict(scenario({"error": 0.05}).typed, "airtime", {**text, "queue": "airtime"})
    clean = predict(scenario().typed, "airtime", {**text, "queue": "airtime"})
    got, without = (row["stations"][2]["goodput_bps"]["mean"] for row in (lossy, clean))
    assert got == pytest.approx(0.95 * without)


def test_members_of_a_group_have_its_aggregates_unless_they_set_their_own() -> None:
    def given(sizes: dict[str, float]) -> object:
        return predict(scenario().typed, "airtime", {"aggregates": sizes})["options"]

    each = {"near-1": 20.0, "near-2": 20.0, "far": 2.0}
    assert given({"near": 20.0, "far": 2.0}) == {"queue": None, "aggregates": each}
    assert given({"near": 9.0, "near-2": 20.0, "far": 2.0}) == {
        "queue": None,
        "aggregates": {**each, "near-1": 9.0},
    }


@pytest.mark.parametrize(
    ("queue", "percent"),
    [("fifo", [5, 5, 90]), ("rounds", [10, 11, 79]), ("airtime", [33, 33, 33])],
)
def test_the_shares_that_are_quoted_are_those_of_turns(queue, percent) -> None:
    """The aggregate sizes are those of Hoiland-Jorgensen et al. (2017), as quoted in another
    source.
    """
    sizes = {"near-1": 4.47, "near-2": 5.08, "far": 1.92}
    answer = predict(scenario().typed, "airtime", {"queue": queue, "aggregates": sizes})
    assert [100 * share for share in shares(answer)] == pytest.approx(percent, abs=0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"station": {"udp_down": None, "download": 1}}, "`station.far.download` is TCP"),
        ({"station": {"udp_up": "1 Mbps"}}, "`station.far.udp_up` sends to the access point"),
        ({"station": {"udp_down": "9 Mbps"}}, "greedy sources leave no room"),
        ({"station": {"error": 0.1}}, "option `aggregates` reads their means from a run"),
        ({"station": {"snr": "5 dB", "mcs": None}}, "`station.far.snr`"),
        (
            {
                "cell": {"ap_queue": {"limit": 200, "red": {"min_th": 5, "max_th": 15}}},
                "station": {"udp_down": "20 Mbps"},
                "near": {"udp_down": "20 Mbps"},
            },
            "red` manages the queue",
        ),
        ({"wire": {"rate": "5 Mbps"}}, "`wire.rate`"),
        ({"wire": {"loss": 0.1}}, "`wire.loss` = 0.1"),
        (
            {"station": {"udp_down": "1 Mbps"}, "near": {"udp_down": "1 Mbps"}},
            "offers 1 Mb/s where",
        ),
        (
            {"station": {"udp_down": "1 kbps"}, "near": {"udp_down": "1 kbps"}},
            "offers 0.001 Mb/s where",
        ),
    ],
)
def test_unsupported_features_are_refused(change, message) -> None:
    with pytest.raises(ModelError) as caught:
        predict(scenario(**change).typed, "airtime")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"near": 20}, "option `aggregates` lacks far"),
        ({"near-1": 20, "near-2": 20, "far": 4}, "its limits allow 3"),
        (
            {"near": 20, "far": 2, "old": 1},
            "`aggregates` names old, and the access point sends to near-1, near-2, far",
        ),
    ],
)
def test_aggregates_that_cannot_be_are_refused(sizes, message) -> None:
    with pytest.raises(ModelError) as caught:
        predict(scenario().typed, "airtime", {"aggregates": sizes})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"aggregates": "near"}, '"=near"'),
        ({"aggregates": "near=0.5"}, '"near=0.5"'),
        ({"aggregates": "near=nan"}, '"near=nan"'),
        ({"aggregates": "a=1,a=2"}, "twice"),
        ({"aggregates": {"near": True}}, '"near=True"'),
        ({"aggregates": 7}, '"7" is no mapping'),
        ({"queue": "lifo"}, "queue = 'lifo' is none of fifo, rounds, airtime"),
        ({"beta": 1}, 'option "beta": unknown'),
    ],
)
def test_invalid_options_are_refused(given, message) -> None:
    with pytest.raises(UserError) as caught:
        Options.of(given, "airtime")
    assert message in str(caught.value)
    assert "None" not in str(caught.value)


@pytest.mark.parametrize("table", [{}, {"aggregation": {"mpdus": 32}}])
def test_a_category_is_predicted_with_its_own_aggregates(table) -> None:
    """Voice frames are not aggregated unless the table of voice says so. With the parameters of
    best effort, the prediction equals that of best effort.
    """
    access = {"aifsn": 2, "cwmin": 3, "cwmax": 7}
    source = {"rate": "greedy", "category": "voice"}
    of_voice = {"voice": {**access, "txop_limit": "none", **table}}
    own = scenario({"udp_down": source}, of_voice, near={"udp_down": source})
    same = scenario(cell={**access, "aggregation": table.get("aggregation", {"mpdus": 1})})
    predicted, expected = (
        predict(scenario_.typed, "airtime")["stations"] for scenario_ in (own, same)
    )
    assert predicted == expected
