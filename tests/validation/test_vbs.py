"""Virtual buffer sharing in the cell of paper 000: two classes of five downloads, in runs of 200
s.
"""

from functools import cache
from pathlib import Path

import pytest

import lasthop
from lasthop.studies.study import Run
from lasthop.studies.vbs import cell, fig18
from lasthop.warnings.settings import DRIFT

EXAMPLES = Path(__file__).parents[2] / "examples"
ERRORS = (0.0, 0.1, 0.2, 0.3)
ATTEMPTS = (4, 8)
SHARED = {
    "corrected": {},
    "regulated": {"algorithm": "regulated"},
    "partition": {"algorithm": "partition"},
}
HELD = ("corrected", "regulated")
"""Algorithms that keep the queue at its target. The partition is not in the list, because its
buffers are full only at times.
"""


@cache
def means(error: float, attempts: int, law: str | None) -> dict[str, float]:
    """Return goodputs [Mb/s], occupancy [packets] and fraction of time without packets [-], from
    two replications.
    """
    queue = cell.BUFFER if law is None else cell.shares(**SHARED[law])
    stations = cell.classes(error)
    scenario = cell.scenario("x", stations, queue=queue, attempts=attempts, replications=2)
    return _read(scenario)


def _read(scenario: dict[str, object]) -> dict[str, float]:
    summary = lasthop.simulate(scenario).summary
    values = {
        prefix: sum(
            station["goodput_bps"]["mean"] / 1e6
            for station in summary["stations"]
            if station["name"].startswith(prefix)
        )
        for prefix in ("high", "low")
    }
    queue = summary["queues"][0]
    values["occupancy"] = queue["occupancy_packets"]["mean"]
    values["empty"] = queue.get("empty_fraction", {"mean": None})["mean"]
    return values


def aggregate(values: dict[str, float]) -> float:
    return values["high"] + values["low"]


def test_without_shares_the_queue_is_long_and_the_gap_grows() -> None:
    runs = [means(error, 4, None) for error in ERRORS]
    ratios = [run["high"] / run["low"] for run in runs]
    assert all(run["occupancy"] > 80.0 for run in runs)
    assert ratios[1] < ratios[2] < ratios[3]
    assert ratios[3] > 1.4


@pytest.mark.parametrize("law", HELD)
@pytest.mark.parametrize("attempts", ATTEMPTS)
@pytest.mark.parametrize("error", ERRORS)
def test_shares_hold_the_ratio_and_the_occupancy(error: float, attempts: int, law: str) -> None:
    run = means(error, attempts, law)
    assert run["high"] / run["low"] == pytest.approx(1.0, abs=0.06)
    # Algorithm 1 truncates bursts, so that the mean queue is a little below the target.
    # The regulator keeps the mean at the target of 60 packets.
    assert run["occupancy"] == pytest.approx(60.0, abs=6.0 if law == "corrected" else 2.0)
    assert run["empty"] == 0.0


@pytest.mark.parametrize("law", HELD)
@pytest.mark.parametrize("attempts", ATTEMPTS)
@pytest.mark.parametrize("error", ERRORS)
def test_shares_cost_no_more_than_equal_shares(error: float, attempts: int, law: str) -> None:
    """The total goodput is within 3 % of the total of a drop-tail queue with the same fractions of
    frames of both classes.

    Frames of class 2 take longer. Therefore the total goodput is larger if class 1 has more than
    half of the frames, as with a plain drop-tail queue. The test corrects for this effect.
    """
    plain, run = means(error, attempts, None), means(error, attempts, law)
    fast = aggregate(means(0.0, attempts, None))
    part = plain["high"] / aggregate(plain)
    # The goodput of class 1 is a fraction `part` of the total goodput, called aggregate.
    # The equation is 1 / aggregate = part / fast + (1 - part) / slow.
    slow = (1.0 - part) / (1.0 / aggregate(plain) - part / fast)
    own = run["high"] / aggregate(run)
    same_mixture = 1.0 / (own / fast + (1.0 - own) / slow)
    assert aggregate(run) == pytest.approx(same_mixture, rel=0.03)
    if (error, attempts) != (0.3, 4):
        assert aggregate(run) == pytest.approx(aggregate(plain), rel=0.03)


@pytest.mark.parametrize("error", [0.1, 0.3])
def test_a_partition_agrees_with_the_model(error: float) -> None:
    """The goodput agrees within 3 % and the queue within 10 %. These tolerances were set before the
    first run.
    """
    scenario = cell.scenario(
        "x", cell.classes(error), queue=cell.shares(**SHARED["partition"]), replications=4
    )
    run, answer = _read(scenario), lasthop.predict(scenario, model="vbs").summary
    for prefix in ("high", "low"):
        predicted = sum(
            station["goodput_bps"]["mean"] / 1e6
            for station in answer["stations"]
            if station["name"].startswith(prefix)
        )
        assert run[prefix] == pytest.approx(predicted, rel=0.03), prefix
    occupancy = answer["queues"][0]["occupancy_packets"]["mean"]
    assert run["occupancy"] == pytest.approx(occupancy, rel=0.1)


@pytest.mark.parametrize("phase", range(3))
def test_the_regulator_holds_the_ratio_while_users_come_and_go(phase: int) -> None:
    change = fig18.CHANGES_S[phase]
    window = (change + fig18.REST_S, change + fig18.LENGTH_S)
    point = fig18.STUDY.points[f"regulated-{window[0]}-{window[1]}"]
    run = _read({**point, "replications": 3})
    assert run["high"] / run["low"] == pytest.approx(fig18.TARGET, rel=0.05)


@pytest.mark.parametrize("law", HELD)
def test_shares_hold_after_the_channel_of_a_class_has_changed(law: str) -> None:
    """At 100 s the error probability p_w of the second class increases from 0 to 0.3. At 200 s it
    returns to 0.
    """
    changes = {100: ("rain", 0.3), 200: ("sun", 0.0)}

    def run(queue: object, seconds: tuple[float, float]) -> dict[str, float]:
        stations = cell.classes(0.0)
        stations["low"]["channel"] = {
            name: {"at": f"{at} s", "error_down": error}
            for at, (name, error) in changes.items()
            if at < seconds[1]
        } or {"none": {"at": "1 s", "error_down": 0.0}}
        return _read(cell.scenario("x", stations, queue=queue, seconds=seconds, replications=3))

    phases = ((20, 100), (115, 200), (215, 300))
    clear, rainy, after = (run(cell.shares(**SHARED[law]), phase) for phase in phases)
    for phase in (clear, rainy, after):
        assert phase["high"] / phase["low"] == pytest.approx(1.0, abs=0.06)
    # After the channel has changed, frames of the second class take longer.
    assert aggregate(rainy) < 0.9 * aggregate(clear)
    assert aggregate(after) == pytest.approx(aggregate(clear), rel=0.02)
    without = run(cell.BUFFER, phases[1])
    assert without["high"] / without["low"] > 1.4


def test_the_example_holds_halves_in_rain_and_with_guests() -> None:
    """The test reads the goodput of both classes in each phase of examples/rain.toml, from 5 s
    after each change.
    """
    scenario = lasthop.Scenario(EXAMPLES / "rain.toml")
    phases = {"clear": (15, 40), "rain": (45, 80), "guests": (92, 110)}

    def goodputs(settings: dict[str, object]) -> dict[str, tuple[float, float]]:
        recorded = lasthop.Scenario(scenario, {"record.series_interval": "1 s", **settings})
        series = lasthop.simulate(recorded).series
        flows = series[(series["list"] == "flows") & (series["quantity"] == "goodput_bps")]
        by_phase = {}
        for phase, (begin, end) in phases.items():
            rows = flows[(flows["time_s"] > begin) & (flows["time_s"] <= end)]
            near = rows["name"].str.startswith("near")
            both = (rows["value"][near].sum(), rows["value"][~near].sum())
            by_phase[phase] = tuple(each / (end - begin) / 1e6 for each in both)
        return by_phase

    shared = goodputs({"replications": 1})
    for near, far in shared.values():
        assert near / far == pytest.approx(1.0, abs=0.06)
    assert sum(shared["rain"]) < 0.9 * sum(shared["clear"])
    plain = goodputs({"replications": 1, "cell.ap_queue": "{ limit = 100 }"})
    assert plain["rain"][0] / plain["rain"][1] > 1.3
    assert plain["guests"][1] / plain["guests"][0] > 1.2


UNEQUAL = [((5, 5), 0.2), ((8, 2), 0.5)]
"""Cases for unequal targets: the numbers of users of both classes, and the target share of the
first class. The targets differ from the shares of the users.
"""


def first_share(users: tuple[int, int], share: float, law: str, **tcp: object) -> float:
    """Return the goodput of the first class as a fraction of the total, on a channel without
    errors. [-]
    """
    stations = {
        name: {"count": count, "download": 1}
        for name, count in zip(("high", "low"), users, strict=True)
    }
    queue = cell.shares(share, **SHARED[law])
    scenario = cell.scenario("x", stations, queue=queue, replications=2)
    scenario["tcp"] = {**scenario["tcp"], **tcp}
    run = _read(scenario)
    return run["high"] / aggregate(run)


@pytest.mark.parametrize(("users", "share"), UNEQUAL)
def test_the_regulator_holds_unequal_targets(users: tuple[int, int], share: float) -> None:
    assert first_share(users, share, "regulated") == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(("users", "share"), UNEQUAL)
def test_algorithm_1_leaves_unequal_targets_nearer_to_the_connections(
    users: tuple[int, int], share: float
) -> None:
    """With Algorithm 1, the share of a class differs from its target: it is nearer to the fraction
    of connections that the class has. The drift is a tenth to a quarter of the way from the target
    to this fraction. `DRIFT` in `lasthop.warnings` is the upper limit, from 20 such runs.
    """
    way = users[0] / sum(users) - share
    drift = (first_share(users, share, "corrected") - share) / way
    assert 0.1 < drift < DRIFT + 0.02


def test_the_drift_is_of_the_time_below_the_target_occupancy() -> None:
    """Shares differ from their targets only while the queue is below its target occupancy. UDP
    datagrams always keep the queue at the target occupancy, so that the shares are exact.
    """
    source = {"count": 5, "udp_down": {"rate": "4 Mbps", "arrivals": "poisson"}}
    stations = {"high": source, "low": source}
    scenario = cell.scenario("x", stations, queue=cell.shares(0.2), replications=2)
    run = _read(scenario)
    assert run["high"] / aggregate(run) == pytest.approx(0.2, abs=0.005)
    assert run["occupancy"] > 60.0
    gentle = first_share((5, 5), 0.2, "corrected", compound={"beta": 0.25})
    assert gentle - 0.2 < 0.7 * (first_share((5, 5), 0.2, "corrected") - 0.2)


def test_sensors_get_through_only_with_shares() -> None:
    from lasthop.studies.vbs import sensor

    part = {}
    for queue in sensor.QUEUES:
        point = {**sensor.STUDY.points[f"mixed-{queue}"], "replications": 3}
        result = lasthop.simulate(point)
        samples: dict[str, dict[str, dict[str, list[float]]]] = {"flows": {}}
        for row in result.samples.itertuples(index=False):
            if row.list == "flows":
                flow = samples["flows"].setdefault(row.name, {})
                flow.setdefault(row.quantity, []).append(row.value)
        quantity = sensor.reports("down", "report_delivery")(Run(samples))
        part[queue] = float(quantity.samples.mean())
    assert part["drop_tail"] < 0.9
    assert part["vbs"] > 0.99
    assert part["regulated"] > 0.99
