"""A simulation that is stepped from Python: exact results, errors of one line, and threads."""

import gc
import json
import os
import pickle
import signal
import threading
from itertools import pairwise
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.answers.quantities import registry

from .conftest import EXAMPLES, SMALL

SEVEN = EXAMPLES / "seven-downloads.toml"
SHORT = {"duration": "6 s", "warmup": "1 s"}
VSB = {
    "duration": "6 s",
    "warmup": "1 s",
    "cell": {"phy": "802.11b"},
    "vsb": {"rate": "3 Mbps"},
    "station": {"sender": {"upload": 3}, "reader": {"download": 1}},
    "gateway": {"wan": "eth0", "lan": "wlan0"},
}


def test_a_session_that_changes_nothing_is_a_simulation() -> None:
    expected = lh.simulate(SMALL, replications=1, seed=5, series="0.5 s", frames=50, tails=True)
    with lh.Session(SMALL, seed=5, series="0.5 s", frames=50, tails=True) as session:
        while session.now_s < session.duration_s:
            session.step(0.3)
            session.read()
        result = session.finish()
    assert result == expected
    assert result.to_json() == expected.to_json()
    assert result.record == expected.record
    assert result.frames().equals(expected.frames())


def test_a_replication_has_its_own_streams() -> None:
    third = lh.simulate(SMALL, replications=3).sample_tree["flows"]
    with lh.Session(SMALL, replication=2) as session:
        own = session.finish().sample_tree["flows"]
    for name, quantities in third.items():
        assert own[name]["goodput_bps"] == quantities["goodput_bps"][2:]


@pytest.mark.parametrize(
    ("path", "value"),
    [("cell.ap.cwmin", 3), ("cell.cwmin", 7), ("station.sta.cwmax", 31), ("cell.ap_queue", 5)],
)
def test_a_change_at_the_start_is_that_of_the_scenario(path: str, value: int) -> None:
    with lh.Session(SEVEN, settings=SHORT) as session:
        session.set(path, value)
        result = session.finish()
    expected = lh.simulate(SEVEN, replications=1, settings={**SHORT, path: value})
    assert result.to_json() == expected.to_json()
    assert session.changes == [(0.0, path, str(value))]


def test_the_capacity_is_changed_and_read() -> None:
    with lh.Session(VSB) as session:
        session.run_until(3.0)
        assert session.values("links", "capacity_bps", now=True) == {"vsb": 3e6}
        before = session.values("cells", "goodput_bps")["cell"]
        session.set("vsb.rate", "500 kbps")
        session.run_until(6.0)
        session.read()
        assert session.values("links", "capacity_bps", now=True) == {"vsb": 5e5}
        assert session.values("cells", "goodput_bps")["cell"] < before / 3
        assert session.changeable()["vsb.rate"] == (5e5, "500 kbps", "bit/s", 1.0, 1e11)


def test_a_reading_has_names_and_units_of_the_registry() -> None:
    with lh.Session(VSB) as session:
        session.step(2)
        reading = session.read()
    labels = {"name", "station", "direction", "class"}
    for name, items in {**reading, **reading["now"]}.items():
        for item in items if isinstance(items, list) else ():
            for quantity in item.keys() - labels:
                assert name in registry()[quantity].lists, quantity
    assert reading["interval_s"] == reading["time_s"] == 2.0


def test_changeable_settings_can_be_set_to_their_own_text() -> None:
    with lh.Session(VSB) as session:
        session.step(0.5)
        for path, setting in session.changeable().items():
            session.set(path, setting.text)
            assert setting.least <= setting.greatest
        changed = session.finish()
    assert changed == lh.simulate(VSB, replications=1)


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (
            "cell.ap.cwmin",
            99999,
            "set('cell.ap.cwmin', 99999): `cell.ap.cwmin`: 99999 is too large",
        ),
        ("cell.ap.cwmin", 2000, "2000 is above cwmax; expected a whole number from 0 to 1023"),
        ("cell.ap.cwmni", 3, "`cell.ap.cwmni`: unknown key"),
        ("vsb.rate", "fast", "set('vsb.rate', 'fast'): `vsb.rate`: \"fast\""),
        (
            "tcp.window",
            9,
            "`tcp.window`: 9 cannot be set during a simulation; other keys can, such as "
            "cell.ap.cwmin",
        ),
        ("vsb.rate", "estimated", "`vsb.rate`: estimated cannot be set during a simulation"),
        ("gateway.lan", "wlan1", "`gateway.lan`: wlan1 cannot be set during a simulation"),
    ],
)
def test_invalid_changes_are_refused_in_one_line(path: str, value: object, line: str) -> None:
    with lh.Session(VSB) as session:
        session.step(1)
        with pytest.raises(lh.UserError) as caught:
            session.set(path, value)
        assert line in str(caught.value)
        assert "\n" not in str(caught.value)
        assert session.changes == []
        assert session.finish() == lh.simulate(VSB, replications=1)


def test_times_out_of_reach_are_refused() -> None:
    with lh.Session(SMALL) as session:
        session.run_until(2.0)
        for wrong in (1.0, -1.0, 4.5, float("nan"), float("inf")):
            with pytest.raises(lh.UserError, match=r"expected a time from 2 s, .* to 4 s, its end"):
                session.run_until(wrong)
        for wrong in (0.0, -1.0, float("nan"), float("inf")):
            with pytest.raises(lh.UserError, match="expected a time above 0"):
                session.step(wrong)
        session.step(100)
        assert session.now_s == session.duration_s == 4.0
        session.run_until(4.0)
        with pytest.raises(lh.UserError, match=r"step\(0\.5\): the session is at 4 s, its end"):
            session.step(0.5)
        with pytest.raises(lh.UserError, match="to 4 s, its end"):
            session.run_until(5)
    with pytest.raises(lh.UserError, match="replication=-1"):
        lh.Session(SMALL, replication=-1)


def test_times_are_numbers_or_text_with_a_unit() -> None:
    with lh.Session(SMALL) as session:
        session.step("250 ms")
        session.run_until("1.5 s")
        assert session.now_s == 1.5
        for wrong in ("1", "1 Mbps", "soon", None):
            line = rf"step\({wrong!r}\): expected a number of seconds, or text with its unit"
            with pytest.raises(lh.UserError, match=line):
                session.step(wrong)  # type: ignore[arg-type]
        assert session.now_s == 1.5


def test_a_session_shows_scenario_and_time() -> None:
    session = lh.Session(SEVEN, settings=SHORT)
    session.step(2.5)
    name = f"Session({str(SEVEN)!r}: {session.scenario['name']!r}, "
    assert repr(session) == name + "at 2.5 s of 6 s)"
    session.close()
    assert repr(session) == name + "it is over)"


def test_a_refusal_says_whether_it_lists_all_that_can_change() -> None:
    with lh.Session(VSB) as session:
        with pytest.raises(lh.UserError, match=r"; other keys can, such as \S+") as caught:
            session.set("tcp.window", 9)
        count = len(session.changeable())
        assert caught.value.hint == f"Session.changeable() lists all {count}"
    wired = {"duration": "2 s", "dumbbell": {"flows": 2, "bottleneck": "1 Mbps", "rtt": "20 ms"}}
    with lh.Session(wired) as session:
        every = ", ".join(session.changeable())
        with pytest.raises(lh.UserError, match=f"; what can change is {every}$"):
            session.set("tcp.window", 9)
    graph = EXAMPLES / "csma.toml"
    with (
        lh.Session(graph) as session,
        pytest.raises(lh.UserError, match=r"; nothing of this scenario can$"),
    ):
        session.set("tcp.window", 9)


def test_missing_values_are_named() -> None:
    with lh.Session(SMALL) as session:
        session.step(1)
        with pytest.raises(lh.UserError, match="no list 'flow' in the reading"):
            session.values("flow", "goodput_bps")
        with pytest.raises(lh.UserError, match="flows have no 'goodput'; there are goodput_bps"):
            session.values("flows", "goodput")
        assert session.values("flows", "completion_s") == {}


def test_a_finished_session_says_so() -> None:
    finished = lh.Session(SMALL)
    finished.finish()
    closed = lh.Session(SMALL)
    closed.close()
    closed.close()
    for session in (finished, closed):
        for ask in (session.read, session.finish, session.changeable, lambda s=session: s.step(1)):
            with pytest.raises(lh.UserError, match="session: it is over"):
                ask()


def threads_of(name: str) -> int:
    files = Path("/proc/self/task").glob("*/comm")
    return sum(file.read_text().strip() == name for file in files)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
def test_a_deleted_session_leaves_no_thread() -> None:
    gc.collect()
    before = threads_of("session")
    sessions = [lh.Session(SMALL) for _ in range(3)]
    assert threads_of("session") == before + 3
    sessions[0].step(1)
    sessions.pop().close()
    sessions.clear()
    gc.collect()
    assert threads_of("session") == before


LONG = SMALL.replace('duration = "4 s"', 'duration = "100000 s"')


def test_a_step_interrupted_by_ctrl_c_continues_later() -> None:
    with lh.Session(LONG) as session:
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            session.run_until(90_000.0)
        timer.join()
        seen = session.now_s
        assert 0 < seen < 90_000
        for ask in (session.read, lambda: session.set("cell.ap.cwmin", 3)):
            with pytest.raises(lh.UserError, match=r"interrupted on its way to 90000 s; run_until"):
                ask()
        with pytest.raises(lh.UserError, match="from 90000 s"):
            session.run_until(seen + 1)


def test_two_threads_cannot_use_the_same_session() -> None:
    with lh.Session(LONG) as session:
        begun = threading.Event()
        errors: list[BaseException] = []

        def work() -> None:
            begun.set()
            try:
                session.run_until(20_000.0)
            except BaseException as error:
                errors.append(error)

        other = threading.Thread(target=work)
        other.start()
        begun.wait()
        messages: set[str] = set()
        while other.is_alive():
            try:
                session.read()
            except lh.UserError as error:
                messages.add(str(error))
            other.join(0.01)
        assert errors == []
        assert messages == {"session: another thread is using it"}
        assert session.now_s == 20_000


# -- distributions -----------------------------------------------------------------------------


def test_distributions_have_the_samples_of_the_means(tmp_path: Path) -> None:
    result = lh.simulate(SMALL, replications=2, tails=True)
    every = result.distribution_list
    assert {(each["list"], each["quantity"]) for each in every} == {
        ("flows", "rtt_s"),
        ("queues", "sojourn_s"),
    }
    for each in every:
        edges, counts = each["edges_s"], each["counts"]
        assert len(edges) == len(counts) + 1
        assert all(low < high <= low * (1 + 1 / 32) for low, high in pairwise(edges))
        middle = sum(
            count * (low + high) / 2
            for count, (low, high) in zip(counts, pairwise(edges), strict=True)
        )
        if each["list"] == "flows":
            means = result.sample_tree["flows"][each["name"]]["rtt_s"]
            # The replications have nearly equal numbers of samples.
            # A cell of the histogram is 3 % wide.
            assert middle / sum(counts) == pytest.approx(sum(means) / 2, rel=0.05)
    table = result.distributions()
    assert list(table.columns) == ["list", "name", "quantity", "from_s", "to_s", "count"]
    assert table["count"].sum() == sum(sum(each["counts"]) for each in every)
    result.save(tmp_path)
    for again in (lh.load(tmp_path), pickle.loads(pickle.dumps(result))):
        assert isinstance(again, lh.Result)
        assert again.distribution_list == every
    flows = result.flows
    assert (flows["rtt_s"] < flows["rtt_p95_s"]).all()
    assert (flows["rtt_p95_s"] <= flows["rtt_p99_s"]).all()


def test_without_tails_there_are_no_distributions(tmp_path: Path) -> None:
    result = lh.simulate(SMALL, replications=1)
    assert result.distributions().empty
    assert "rtt_p95_s" not in result.flows
    result.save(tmp_path)
    record = json.loads((tmp_path / "record.json").read_text())
    assert "distributions" not in record
    record["distributions"] = [{"list": "flows", "name": "x", "quantity": "rtt_s", "edges_s": [1]}]
    (tmp_path / "record.json").write_text(json.dumps(record))
    with pytest.raises(lh.UserError, match="`distributions` are damaged"):
        lh.load(tmp_path)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_cannot_use_the_session() -> None:
    with lh.Session(SEVEN, settings=SHORT) as session:
        session.step(0.1)
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            messages = ""
            for use in (lambda: session.step(0.1), session.close):
                try:
                    use()
                except lh.UserError as error:
                    messages += str(error) + "\n"
            os.write(writes, messages.encode())
            os._exit(0)
        os.waitpid(child, 0)
        received = os.read(reads, 1000).decode()
        assert received.count("not of a fork") == 2
        session.step(0.1)
        for end in (reads, writes):
            os.close(end)
