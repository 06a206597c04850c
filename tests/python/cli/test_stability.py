"""`lasthop stability`: results, JSON, and one line for each mistake."""

import json
import re
from pathlib import Path

import pytest

from lasthop.cli.stability.answers import certain

from ..conftest import Lasthop

pytestmark = pytest.mark.usefixtures("coarse_pictures")

COMMANDS = ["models", "equilibrium", "roots", "hopf", "chart", "normal-form", "cycle", "integrate"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(lasthop: Lasthop, command: str) -> None:
    done = lasthop("stability", command, "--help")
    assert done.returncode == 0
    assert f"lasthop stability {command}" in done.stdout
    assert "--json" in done.stdout
    assert not re.search(r"<\w+>|[{}]", done.stdout)


def test_no_command_lists_them(lasthop: Lasthop) -> None:
    done = lasthop("stability")
    assert done.returncode == 0
    assert all(command in done.stdout for command in COMMANDS)


def test_models_and_their_parameters_are_listed(lasthop: Lasthop) -> None:
    listed = json.loads(lasthop("stability", "models", "--json").stdout)
    assert {"red", "threshold", "vbs"} <= set(listed["models"])
    assert "red-fig2a" in lasthop("stability", "models").stdout
    text = lasthop("stability", "models", "red-fig3a").stdout
    assert "gamma = 0.032" in text
    described = json.loads(lasthop("stability", "models", "red", "--json").stdout)
    assert described["parameters"][0]["name"] == "tcp"


def test_equilibrium_reports_its_stability(lasthop: Lasthop) -> None:
    text = lasthop("stability", "equilibrium", "red-fig2a").stdout
    assert text.startswith("stable: a disturbance decays")
    assert max(map(len, text.splitlines())) <= 80
    answer = json.loads(
        lasthop("stability", "equilibrium", "red", "--set", "rtt=200 ms", "--json").stdout
    )
    assert answer["stable"] is False
    assert answer["states"]["window"] == pytest.approx(20.1, abs=0.1)
    assert {each["equation"]: each["holds"] for each in answer["conditions"]} == {
        "004 (16)": False,
        "004 (18)": True,
    }


def test_roots_are_listed_with_the_correction_of_newton(lasthop: Lasthop) -> None:
    answer = json.loads(lasthop("stability", "roots", "threshold", "--json").stdout)
    assert answer["stable"] is True
    assert len(answer["roots"]) == len(answer["unpolished"]) == 6
    assert "pair" in lasthop("stability", "roots", "threshold").stdout


def test_hopf_finds_the_point_of_the_paper(lasthop: Lasthop) -> None:
    done = lasthop("stability", "hopf", "red", "--over", "rtt=10ms..1s", "--json")
    [point] = json.loads(done.stdout)["points"]
    assert round(point["value"], 4) == 0.0848
    assert point["unstable_above"] is True
    assert "0.0848341" in lasthop("stability", "hopf", "red", "--over", "rtt=10ms..1s").stdout
    none = lasthop("stability", "hopf", "red", "--over", "rtt=10ms..50ms").stdout
    assert none.startswith("no Hopf point: the equilibrium is stable")


@pytest.mark.slow
def test_chart_is_drawn_and_described(lasthop: Lasthop, tmp_path: Path) -> None:
    over = ["--over", "capacity=50..500", "--over", "rtt=10ms..300ms"]
    picture = tmp_path / "chart.svg"
    done = lasthop("stability", "chart", "red", *over, "--size", "10", "--out", picture)
    assert "stability boundary: from capacity" in done.stdout
    assert picture.read_text().startswith("<?xml")
    answer = json.loads(lasthop("stability", "chart", "red", *over, "--size", "4", "--json").stdout)
    assert len(answer["rightmost_root_real"]) == 4
    assert answer["hopf_curves"][0]["boundary"][0] is True


def test_normal_form_reports_the_kind(lasthop: Lasthop) -> None:
    over = ["--over", "rtt=10ms..1s"]
    [point] = json.loads(lasthop("stability", "normal-form", "red", *over, "--json").stdout)[
        "points"
    ]
    assert point["supercritical"] is False
    assert point["mu2"] < 0.0 < point["beta2"]
    assert " sub" in lasthop("stability", "normal-form", "red", *over).stdout
    assert (
        "no Hopf point"
        in lasthop("stability", "normal-form", "red", "--over", "k=0.7..0.71").stdout
    )


def test_cycles_are_listed_and_drawn(lasthop: Lasthop, tmp_path: Path) -> None:
    words = ["stability", "cycle", "threshold", "--over", "q_th=30..60", "--count", "3"]
    picture = tmp_path / "cycles.svg"
    text = lasthop(*words, "--out", picture).stdout
    assert text.startswith("super-critical Hopf point at q_th = 38.8")
    assert re.search(r"the branch continues beyond q_th = [\d.]+: --count 3 is reached", text)
    assert picture.exists()
    [branch] = json.loads(lasthop(*words, "--json").stdout)["branches"]
    assert len(branch["cycles"]) == 3
    assert all(cycle["stable"] for cycle in branch["cycles"])


def test_motion_is_summarised_and_drawn(lasthop: Lasthop, tmp_path: Path) -> None:
    words = ["stability", "integrate", "threshold", "--until", "40 s", "--start", "window=70"]
    picture = tmp_path / "motion.svg"
    text = lasthop(*words, "--out", picture).stdout
    assert re.search(
        r"from 28 s on: (at equilibrium|the oscillation of the window is still decaying)", text
    )
    assert picture.exists()
    answer = json.loads(lasthop(*words, "--json").stdout)
    assert len(answer["time_s"]) == len(answer["states"]["window"])
    assert answer["states"]["window"][0] == 70.0


ROUTER = """\
name = "router"
duration = "30 s"
queue = { limit = 300, red = { min_th = 20, max_th = 60 } }
dumbbell = { flows = 20, access = "50 Mbps", bottleneck = "30 Mbps", rtt = "150 ms" }
tcp = { congestion = "compound", window = 1000, delayed_ack = false }
"""


@pytest.fixture
def router(tmp_path: Path) -> Path:
    path = tmp_path / "router.toml"
    path.write_text(ROUTER)
    return path


def test_scenario_becomes_a_fluid_with_its_parameters_printed(
    lasthop: Lasthop, router: Path
) -> None:
    text = lasthop("stability", "equilibrium", router).stdout
    assert text.startswith(f"fluid model of {router}")
    assert re.search(r"capacity +125\.0 +packets/s", text)
    assert re.search(r"gamma +0\.002666", text)
    assert re.search(r"queue of all flows +2\d\.\d\d +packets", text)
    assert "\nunstable: a disturbance grows" in text
    assert max(map(len, text.splitlines()[1:])) <= 80


def test_settings_of_a_scenario_are_key_paths(lasthop: Lasthop, router: Path) -> None:
    short = lasthop("stability", "equilibrium", router, "--set", "dumbbell.rtt=10 ms", "--json")
    answer = json.loads(short.stdout)
    assert answer["stable"] is True
    assert answer["scenario"] == "router"
    assert answer["parameters"]["tcp"] == "compound-reno"
    assert answer["parameters"]["min_th"] == 20.0


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("roots", []),
        ("hopf", ["--over", "rtt=10ms..1s"]),
        ("normal-form", ["--over", "rtt=10ms..1s"]),
        ("cycle", ["--over", "rtt=10ms..1s", "--count", "3"]),
        ("integrate", ["--until", "5 s"]),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                ("chart", ["--over", "rtt=10ms..1s", "--over", "max_th=30..300", "--size", "5"]),
                ("cycle", ["--over", "rtt=100ms..150ms", "--count", "2", "--constrained"]),
            )
        ),
    ],
)
def test_every_command_takes_a_scenario(
    lasthop: Lasthop, router: Path, command: str, words: list[str]
) -> None:
    plain = lasthop("stability", command, router, *words)
    assert plain.returncode == 0
    assert "fluid model of" in plain.stdout
    answer = json.loads(lasthop("stability", command, router, *words, "--json").stdout)
    assert answer["parameters"]["flows"] == 20


ALL = {
    "equilibrium": [],
    "roots": [],
    "hopf": ["--over", "rtt=1ms..2ms"],
    "normal-form": ["--over", "rtt=1ms..2ms"],
    "chart": ["--over", "rtt=1ms..2ms", "--over", "max_th=30..60", "--size", "5"],
    "cycle": ["--over", "rtt=1ms..2ms"],
    "integrate": ["--until", "5 s"],
}


@pytest.mark.parametrize("command", ALL)
def test_a_file_without_an_equilibrium_is_named_with_the_reason(
    lasthop: Lasthop, router: Path, command: str
) -> None:
    """With 125 packets/s per flow and a round-trip time of 1 ms, the window would be less than two
    packets.
    """
    settings = ["--set", "dumbbell.rtt=1 ms", "--set", "dumbbell.flows=200"]
    done = lasthop("stability", command, router, *settings, *ALL[command])
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = [line for line in done.stderr.splitlines() if line.startswith("error")]
    assert line.startswith(f"error: {router}: model red: no equilibrium: a window would settle at")
    assert "least_rest = 2" in line


def test_a_pi_queue_shows_its_loop_next_to_the_designed_loop(
    lasthop: Lasthop, router: Path
) -> None:
    pi = ["--set", "queue={ limit = 300, pi = 50 }"]
    text = lasthop("stability", "equilibrium", router, *pi).stdout
    assert re.search(r"\na +1\.822000e-05 +\d\.\d{6}e-0\d +1/packet\n", text)
    assert re.search(r"\nphase margin +[\d.]+ +[\d.]+ +degrees\n", text)
    answer = json.loads(lasthop("stability", "equilibrium", router, *pi, "--json").stdout)
    assert answer["model"] == "pi"
    assert answer["parameters"]["target"] == 50.0
    assert answer["loop"]["a"] == 1.822e-5
    assert answer["loop"].keys() == answer["designed"].keys()
    assert (answer["loop"]["phase_margin_degrees"] > 0.0) == answer["stable"]
    far = ["--set", 'flow.far={ count = 5, rtt = "300 ms" }']
    groups = json.loads(lasthop("stability", "equilibrium", router, *pi, *far, "--json").stdout)
    assert groups["designed"] is None
    assert groups["loop"]["crossover"] > 0.0
    fluids = lasthop("stability", "roots", router, *pi, "--set", "target=20")
    assert "queue.pi.target" in fluids.stderr


@pytest.mark.parametrize("model", ["parking-lot", "parking-lot-instant", "red-groups", "vbs"])
def test_every_model_reports_its_equilibrium(lasthop: Lasthop, model: str) -> None:
    done = lasthop("stability", "equilibrium", model)
    assert done.returncode == 0
    assert re.match(r"(un)?stable: a disturbance", done.stdout)


def test_a_part_of_a_range_without_an_equilibrium_is_reported(
    lasthop: Lasthop, router: Path
) -> None:
    done = lasthop("stability", "hopf", router, "--over", "flows=10..1000")
    [line] = [line for line in done.stdout.splitlines() if line.startswith("no equilibrium")]
    assert re.fullmatch(r"no equilibrium above flows = [\d.]+: .*least_rest = 2.*", line)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(
            ["chart", "red", "--over", "capacity=50..500", "--over", "rtt=10ms..300ms", "--size=4"],
            marks=pytest.mark.slow,
        ),
        ["cycle", "threshold", "--over", "q_th=30..60", "--count", "2"],
        ["cycle", "threshold", "--over", "q_th=30..60", "--count", "2", "--constrained"],
        ["integrate", "threshold", "--until", "5 s"],
    ],
)
def test_a_picture_is_written_in_addition_to_json(
    lasthop: Lasthop, tmp_path: Path, words: list[str]
) -> None:
    picture = tmp_path / "picture.svg"
    done = lasthop("stability", *words, "--json", "--out", picture)
    json.loads(done.stdout)
    # If a chart takes more than five seconds, as on a busy machine, the command also prints notes.
    lines = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert lines == [f"picture: {picture}"]
    assert picture.exists()


def test_range_without_a_cycle_says_that_nothing_is_drawn(lasthop: Lasthop, tmp_path: Path) -> None:
    picture = tmp_path / "picture.svg"
    words = ["stability", "cycle", "threshold", "--over", "q_th=10..20", "--out", picture]
    assert lasthop(*words).stderr == f"warning: {picture}: not drawn: the range has no Hopf point\n"


@pytest.mark.parametrize("command", ["hopf", "normal-form", "cycle"])
def test_an_undefined_rule_is_refused_with_the_file(
    lasthop: Lasthop, router: Path, command: str
) -> None:
    words = [command, router, "--set", "tcp.congestion=africa", "--over", "rtt=10ms..20ms"]
    done = lasthop("stability", *words)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"error: {router}: model red: no equilibrium: ")


def test_extreme_values_cause_no_warning_of_numpy(lasthop: Lasthop) -> None:
    done = lasthop("stability", "equilibrium", "red", "--set", "alpha=1e-300")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_setting_by_its_fluid_name_is_refused_with_its_key_path(
    lasthop: Lasthop, router: Path
) -> None:
    done = lasthop("stability", "roots", router, "--set", "rtt=20 ms")
    assert done.returncode == 2
    assert "key path" in done.stderr
    assert "dumbbell.rtt" in done.stderr


def test_cycles_beyond_the_limits_of_a_queue_are_marked(lasthop: Lasthop) -> None:
    done = lasthop(
        "stability", "cycle", "red-dumbbell", "--over", "rtt=30ms..100ms", "--count", "8"
    )
    assert "queue below 0" in done.stdout
    assert "--constrained" in done.stderr


def test_parameters_of_a_scenario_are_listed(lasthop: Lasthop, router: Path) -> None:
    text = lasthop("stability", "models", router).stdout
    assert "tcp = compound-reno" in text
    assert "gamma = 0.00266" in text  # the value in use, not the unused value
    listed = json.loads(lasthop("stability", "models", router, "--json").stdout)
    assert listed["parameters"][0]["value"] == "compound-reno"


@pytest.mark.slow
def test_motions_under_constraints_are_listed_and_drawn(lasthop: Lasthop, tmp_path: Path) -> None:
    words = ["stability", "cycle", "red-dumbbell", "--over", "rtt=30ms..40ms", "--count", "2"]
    picture = tmp_path / "motions.svg"
    text = lasthop(*words, "--constrained", "--out", picture).stdout
    rows = [line.split() for line in text.splitlines() if re.match(r"0\.0\d", line)]
    assert rows[0][1:4] == ["0", "0", "-"]
    assert float(rows[1][1]) > 1.0
    assert picture.exists()
    motions = json.loads(lasthop(*words, "--constrained", "--json").stdout)["motions"]
    assert motions[0]["up"]["period_s"] is None
    assert motions[1]["down"]["states"]["queue"]["most"] > 2.0


def test_a_scenario_without_a_fluid_model_is_refused(lasthop: Lasthop, router: Path) -> None:
    done = lasthop("stability", "roots", router, "--set", "tcp.congestion=cubic")
    assert done.returncode == 2
    assert done.stdout == ""
    error, hint = done.stderr.splitlines()
    assert error.startswith(
        f"error: {router}: model red: breaks the assumption that each loss shrinks the window"
    )
    assert (
        "`tcp.congestion` = cubic grows by the time since the last loss; expected reno, newreno, "
        in error
    )
    assert hint.startswith("hint: run `lasthop simulate`")
    missing = lasthop("stability", "roots", "absent.toml").stderr
    assert missing.splitlines()[0] == "error: absent.toml: no such file"


WRONG = {
    "unknown state": (["integrate", "red", "--start", "speed=1"], "`speed`: no such state", None),
    "no number": (
        ["integrate", "red", "--start", "queue=x"],
        "--start queue=x: expected a number",
        None,
    ),
    "no time": (["integrate", "red", "--until", "soon"], "is not a time", None),
    "unknown model": (["roots", "redd"], "neither a model", "did you mean red?"),
    "unknown parameter": (["roots", "red", "--set", "rt=1"], "`rt`", "did you mean rtt?"),
    "bad value": (["roots", "red", "--set", "rtt=-1"], "`rtt`: -1 is not", None),
    "no value": (["roots", "red", "--set", "rtt"], "expected NAME=VALUE", "--set"),
    "no equilibrium": (["roots", "red", "--set", "min_th=600"], "not below max_th", None),
    "no range": (["hopf", "red", "--over", "rtt=1"], "expected LOW..HIGH", "--over"),
    "empty range": (["hopf", "red", "--over", "rtt=2s..1s"], "2s is not below 1s", None),
    "no unit": (["hopf", "red", "--over", "rtt=5..500"], "5 is not a time such as", None),
    "a key path": (["hopf", "red", "--over", "dumbbell.rtt=1s..2s"], "is a key path", "rtt="),
    "no effect": (
        ["hopf", "red", "--set", "tcp=reno", "--over", "alpha=0.1..1"],
        "`alpha`: changes nothing",
        None,
    ),
    "a word over a range": (["hopf", "red", "--over", "tcp=1..2"], "`tcp`", None),
    "one axis": (["chart", "red", "--over", "rtt=1s..2s"], "--over: expected two parameters", None),
    "unknown command": (["root", "red"], "no such command 'root'", "did you mean roots?"),
    "unknown picture": (
        ["chart", "red", "--over", "rtt=1s..2s", "--over", "alpha=.1..1", "--out", "a.txt"],
        "or a name that ends in .png, .pdf, .svg",
        None,
    ),
}


@pytest.mark.parametrize("which", WRONG)
def test_a_mistake_is_reported_in_one_line(lasthop: Lasthop, which: str) -> None:
    words, message, hint = WRONG[which]
    done = lasthop("stability", *words)
    lines = done.stderr.splitlines()
    assert done.returncode == 2
    assert done.stdout == ""
    assert lines[0].startswith("error: ")
    assert message in lines[0]
    assert len(lines) <= 2
    if hint:
        assert lines[1].startswith("hint: ")
        assert hint in lines[1]


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (5.2025216, 1e-8, "5.203"),
        (5.2025216, 1e-3, "5.20"),
        (5.2025216, 0.3, "5"),
        (5.2025216, 0.7, "-"),
        (5.2025216, float("inf"), "-"),
        (138.94, 0.2, "139"),
        (8.1452e-4, 1e-9, "8.145e-04"),
        (8.1452e-4, 2e-6, "8.1e-04"),
        (0.0, 0.0, "0"),
    ],
)
def test_only_digits_that_hold_are_shown(value: float, error: float, shown: str) -> None:
    assert certain(value, error) == shown


@pytest.mark.slow
def test_a_range_may_have_a_step(lasthop: Lasthop) -> None:
    over = ["--over", "capacity=100..500:100", "--over", "rtt=10ms..90ms log 3"]
    chart = json.loads(lasthop("stability", "chart", "red", *over, "--json").stdout)
    assert chart["x"]["values"] == pytest.approx([100, 200, 300, 400, 500])
    assert chart["y"]["values"] == pytest.approx([0.01, 0.03, 0.09])
    done = lasthop("stability", "chart", "red", "--over", "rtt=1s..2s:", "--over", "gamma=1..2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected LOW..HIGH, optionally with :STEP or log N" in done.stderr
