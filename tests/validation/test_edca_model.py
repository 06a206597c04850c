"""Paper 003, section 6: the 802.11e model, compared with the simulation of the same cell.

Every run has five replications of 200 s and a fixed seed. The half width of its 95 % interval is
asserted to be below 0.3 %. The minimum RTO is 1 s. With 200 ms, senders time out without a loss if
many stations contend, which violates the model's assumption A4.
"""

from pathlib import Path

import pytest

import lasthop as lh

EXAMPLE = Path(__file__).parents[2] / "examples" / "seven-downloads.toml"
PIFS = {"cell.ap.aifsn": 1, "cell.ap.cwmin": 0, "cell.ap.cwmax": 0}


def settings(direction="download", **access):
    other = {"download": 0, "upload": 1} if direction == "upload" else {}
    return {
        **{f"station.sta.{key}": value for key, value in other.items()},
        **{key.replace("__", "."): value for key, value in access.items()},
    }


def simulated(changes):
    """Return the goodput [bit/s], the active stations, and the collision rate of a station."""
    result = lh.simulate(EXAMPLE, replications=5, settings={"tcp.min_rto": "1 s", **changes})
    cell = result.cells.iloc[0]
    assert cell.goodput_bps_ci95 < 0.003 * cell.goodput_bps
    return cell.goodput_bps, cell.active_stations, result.stations["collision_rate"].mean()


def predicted(changes):
    prediction = lh.predict(EXAMPLE, model="edca", settings=changes)
    cell = prediction.cells.iloc[0]
    return cell.goodput_bps, cell.active_stations, prediction.stations["collision_rate"].mean()


@pytest.mark.parametrize("direction", ["download", "upload"])
@pytest.mark.parametrize("cwmin", [31, 63, 127, 255])
def test_from_cwmin_31_on_model_and_simulation_agree_within_one_per_cent(direction, cwmin):
    changes = settings(direction, cell__cwmin=cwmin)
    goodput, active, _ = simulated(changes)
    model_goodput, model_active, _ = predicted(changes)
    assert goodput == pytest.approx(model_goodput, rel=0.01)
    assert active == pytest.approx(model_active, rel=0.1)


@pytest.mark.parametrize(("cwmin", "least", "most"), [(15, 0.01, 0.02), (3, 0.09, 0.14)])
def test_below_the_model_promises_too_much(cwmin, least, most):
    """With exponential backoff, nodes that collided keep larger windows. Stations then accumulate
    packets and collide more often than in the model.
    """
    changes = settings(cell__cwmin=cwmin)
    goodput, active, collisions = simulated(changes)
    model_goodput, model_active, model_collisions = predicted(changes)
    assert least < 1 - goodput / model_goodput < most
    assert active > model_active
    assert collisions > model_collisions


@pytest.mark.parametrize(("ap", "station"), [(4, 4), (8, 4), (2, 2)])
def test_fifo_bursts_of_super_packets_within_one_per_cent(ap, station):
    changes = settings(cell__txop_packets=station, cell__ap__txop_packets=ap)
    assert simulated(changes)[0] == pytest.approx(predicted(changes)[0], rel=0.01)


@pytest.mark.slow
def test_pifs_access_is_best_where_a_fifth_of_the_attempts_collide():
    cwmins = (15, 23, 31, 39, 51, 63)
    runs = [simulated({**PIFS, "cell.cwmin": cwmin}) for cwmin in cwmins]
    best = max(range(len(runs)), key=lambda k: runs[k][0])
    assert runs[best][2] == pytest.approx(0.2, abs=0.035)
    for run, cwmin in zip(runs, cwmins, strict=True):
        assert run[0] == pytest.approx(predicted({**PIFS, "cell.cwmin": cwmin})[0], rel=0.01)


@pytest.mark.parametrize("cwmin", [31, 63])
def test_with_pifs_access_a_slot_per_success_is_the_whole_difference(cwmin):
    """The only difference between the DCF and 802.11e at PIFS access is one slot per success. When
    the medium becomes idle, a frozen counter of the DCF has at least one remaining slot. A counter
    of 802.11e may be 0.
    """
    changes = {**PIFS, "cell.cwmin": cwmin}
    model = predicted(changes)[0]
    assert simulated({**changes, "cell.countdown": "dcf"})[0] < 0.994 * model
    assert simulated({**changes, "cell.countdown": "edca"})[0] == pytest.approx(model, rel=0.003)


def test_throughput_jumps_where_acks_find_the_medium_idle():
    """The throughput is 5 % higher if stations take at least 308 us to process a segment. After
    this time, SIFS, MAC ACK and AIFS are over, so that the TCP ACK finds the medium idle.
    """
    without, before, at = (
        simulated({"tcp.ack_processing": f"{delay} us"})[0] for delay in (0, 307, 308)
    )
    assert before == pytest.approx(without, rel=0.002)
    assert at / before == pytest.approx(1.05, abs=0.01)
