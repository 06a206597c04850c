import os
import signal
import threading
import time
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.simulation.simulate import Progress

from .conftest import EXAMPLES, SMALL

LONG = SMALL.replace('duration = "4 s"', 'duration = "2000 s"')


def test_the_example_gives_the_stored_bytes(hotspot: Path) -> None:
    expected = (EXAMPLES / "hotspot.result.json").read_text()
    assert lh.simulate(hotspot, jobs=1).to_json() == expected
    assert lh.simulate(hotspot, jobs=2).to_json() == expected


def test_seed_and_replications_replace_those_of_the_scenario() -> None:
    result = lh.simulate(SMALL, seed=7, replications=2)
    assert (result.seed, result.replications) == (7, 2)
    assert result.to_json() == lh.simulate(SMALL, settings={"seed": 7, "replications": 2}).to_json()
    assert result.to_json() != lh.simulate(SMALL, replications=2).to_json()


def test_series_and_frames_do_not_change_the_result() -> None:
    plain = lh.simulate(SMALL).to_json()
    assert lh.simulate(SMALL, series="0.5 s", frames=100).to_json() == plain


def test_threads_must_be_at_least_one() -> None:
    with pytest.raises(lh.UserError, match="jobs=0"):
        lh.simulate(SMALL, jobs=0)
    with pytest.raises(lh.UserError, match="at most 1024 threads"):
        lh.simulate(SMALL, jobs=10**30)


def test_progress_counts_replications_and_simulated_time() -> None:
    seen: list[Progress] = []
    lh.simulate(LONG, jobs=1, progress=seen.append)
    assert seen
    assert all(p["replications"] == 3 and p["total_s"] == 6000 for p in seen)
    times = [p["simulated_s"] for p in seen]
    assert times == sorted(times)
    assert times[-1] <= 6000


def test_python_threads_run_while_the_engine_works() -> None:
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.wait(0.001):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    lh.simulate(LONG, replications=10, jobs=1)
    elapsed = time.monotonic() - start
    stop.set()
    thread.join()
    # The engine releases the GIL every 50 ms to check for Ctrl-C.
    # The thread must count at twice this rate or faster.
    # On an idle machine it counts a thousand times per second.
    assert counted > elapsed / 0.025


def test_a_callback_that_returns_false_keeps_finished_replications() -> None:
    def stop_after_two(progress: Progress) -> bool:
        return progress["replications_done"] < 2

    with pytest.warns(RuntimeWarning, match=r"interrupted: the result has \d+ of 500 replications"):
        result = lh.simulate(LONG, replications=500, jobs=1, progress=stop_after_two)
    assert result.interrupted
    assert 2 <= result.replications < 500
    expected = lh.simulate(LONG, replications=result.replications)
    assert result.to_json() == expected.to_json()


def test_a_callback_that_stops_before_the_first_result_is_not_ctrl_c() -> None:
    endless = SMALL.replace('duration = "4 s"', 'duration = "100000 s"')
    for no in (False, 0):
        with pytest.raises(lh.Stopped, match="progress stopped the run") as caught:
            lh.simulate(endless, replications=1, jobs=1, progress=lambda seen, no=no: no)
        assert caught.value.finished is None
    assert not issubclass(lh.Stopped, KeyboardInterrupt)
    assert issubclass(lh.Stopped, Exception)
    with pytest.raises(lh.Stopped):
        lh.compare(endless, replications=1, jobs=1, progress=lambda seen: False)


def test_exception_of_the_callback_ends_the_run() -> None:
    def fail(progress: Progress) -> bool:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        lh.simulate(LONG, replications=500, progress=fail)


def test_ctrl_c_keeps_finished_replications() -> None:
    sent = False

    def press(progress: Progress) -> None:
        nonlocal sent
        if progress["replications_done"] >= 1 and not sent:
            sent = True
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.warns(RuntimeWarning, match="interrupted"):
        result = lh.simulate(LONG, replications=500, jobs=1, progress=press)
    assert result.interrupted
    assert result.replications >= 1


def test_ctrl_c_before_the_first_result_is_a_keyboard_interrupt() -> None:
    endless = SMALL.replace('duration = "4 s"', 'duration = "100000 s"')
    sent = False

    def press(progress: Progress) -> None:
        nonlocal sent
        if not sent:
            sent = True
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        lh.simulate(endless, replications=1, jobs=1, progress=press)
