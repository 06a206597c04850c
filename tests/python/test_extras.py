"""Commands in an environment without optional packages, and messages about missing packages."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from lasthop.answers.saving import COLUMNS_FILE
from lasthop.cli import main
from lasthop.extras import (
    EXTRA_OF_PACKAGE,
    PACKAGES_OF_ACTION,
    PACKAGES_OF_EXTRA,
    error_for_action,
    missing,
)

from .conftest import EXAMPLES

ROOT = Path(__file__).parents[2]

BARE = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
from lasthop.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""Program that runs the command line without the optional packages."""


def bare(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    program = BARE.format(names=set(EXTRA_OF_PACKAGE))
    command = [sys.executable, "-c", program, *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def absent_without(*extras: str) -> set[str]:
    """Return the optional packages that these extras do not install."""
    return {package for package, extra in EXTRA_OF_PACKAGE.items() if extra not in extras}


IN_TURN = (
    BARE.partition("from lasthop.cli")[0]
    + """
import contextlib, io, json, os
from lasthop.cli import main
outcomes = []
for folder, args in json.loads(sys.argv[1]):
    os.chdir(folder)
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = main(args)
    outcomes.append([code, stdout.getvalue(), stderr.getvalue(), os.listdir()])
print(json.dumps(outcomes))
"""
)
"""Program that runs several commands without the optional packages, each in its own folder."""


class Outcome(NamedTuple):
    """Exit code and output of a command."""

    returncode: int
    stdout: str
    stderr: str
    files: list[str]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Outcome]:
    """Return the outcome of each command in `NO_EXTRA` and `NEEDING`, run without the optional
    packages.
    """
    commands = [*NO_EXTRA, *(args for args, _ in NEEDING)]
    folders = [tmp_path_factory.mktemp("bare") for _ in commands]
    return dict(zip(commands, in_turn(set(EXTRA_OF_PACKAGE), folders, commands), strict=True))


def in_turn(
    absent: set[str], folders: Iterable[Path], commands: Iterable[tuple[str, ...]]
) -> list[Outcome]:
    """Run commands in one new process that cannot import the packages `absent`."""
    given = json.dumps([[str(f), args] for f, args in zip(folders, commands, strict=True)])
    done = subprocess.run(
        [sys.executable, "-c", IN_TURN.format(names=absent), given],
        capture_output=True,
        text=True,
        check=True,
    )
    return [Outcome._make(each) for each in json.loads(done.stdout)]


HOTSPOT = str(EXAMPLES / "hotspot.toml")
SHORT = ("--set", "duration=20 s", "--set", "warmup=8 s", "--replications", "2")


INIT = ("init", "--yes", "first.toml")
NO_EXTRA: list[tuple[str, ...]] = [
    ("check", HOTSPOT),
    ("schema",),
    ("simulate", HOTSPOT, *SHORT),
    ("simulate", HOTSPOT, *SHORT, "--json"),
    ("simulate", HOTSPOT, *SHORT, "--out", "there"),
    ("sweep", HOTSPOT, *SHORT, "--over", "cell.ap_queue=5,75", "--out", "there"),
    ("gateway", "--help"),
    INIT,
    ("import", "iw", str(ROOT / "tests/samples/iw/ath10k-client.txt")),
]
NEEDING: list[tuple[tuple[str, ...], str]] = [
    (("predict", HOTSPOT), "numpy"),
    (("compare", HOTSPOT), "numpy"),
    (("sweep", HOTSPOT, "--over", "seed=1,2", "--plot"), "matplotlib"),
    (("simulate", HOTSPOT, "--plot", "here.png"), "matplotlib"),
    (("tune", HOTSPOT, "--for", "throughput"), "numpy"),
    (("explain", HOTSPOT), "scipy"),
    (("what-if", HOTSPOT, "--case", "a: cell.ap_queue=5"), "scipy"),
    (("plot", HOTSPOT), "matplotlib"),
    (("reproduce", "hotspot-1"), "scipy"),
    (("stability", "models"), "numpy"),
    (("stability", "roots", "red-fig2a"), "scipy"),
    (("workbench", HOTSPOT), "starlette"),
    (("import", "pcap", str(ROOT / "tests/samples/pcap/wpa-eap-tls.pcap.gz")), "dpkt"),
]


@pytest.mark.parametrize(
    "args", NO_EXTRA, ids=lambda args: " ".join(each for each in args[:2] if "/" not in each)
)
def test_some_commands_need_no_extra(
    args: tuple[str, ...], outcomes: dict[tuple[str, ...], Outcome]
) -> None:
    done = outcomes[args]
    assert done.returncode == 0, done.stderr
    assert done.stdout or done.files == ["first.toml"]


@pytest.mark.parametrize(
    ("args", "command"),
    [(NO_EXTRA[2], f"lasthop explain {HOTSPOT} --for fairness"), (INIT, "explain first.toml")],
    ids=["simulate", "init"],
)
def test_a_proposed_command_names_its_extra(
    args: tuple[str, ...], command: str, outcomes: dict[tuple[str, ...], Outcome]
) -> None:
    expected = f'{command} (first run `pip install "lasthop[models]"`)\n'
    assert expected in outcomes[args].stdout


def test_simulate_needs_no_extra_in_a_new_process(tmp_path: Path) -> None:
    done = bare(tmp_path, "simulate", HOTSPOT, *SHORT)
    assert done.returncode == 0, done.stderr
    assert done.stdout


EDCA = str(EXAMPLES / "seven-downloads.toml")
VBS = str(EXAMPLES / "vbs.toml")
BRIEF = ("--set", "duration=2 s", "--set", "warmup=1 s", "--replications", "2")
TUNE = ("tune", HOTSPOT, *BRIEF, "--for", "fairness")
WITH_EXTRAS = [
    pytest.param("check", ("science",), ("check", HOTSPOT), id="check"),
    pytest.param("predict", ("science",), ("predict", HOTSPOT, "--plot", "p.png"), id="predict"),
    pytest.param(
        "simulate",
        ("science",),
        ("simulate", HOTSPOT, *BRIEF, "--plot", "p.svg", "--out", "saved"),
        id="simulate",
    ),
    pytest.param(
        "compare",
        ("science",),
        ("compare", HOTSPOT, *BRIEF, "--plot", "p.png"),
        id="compare",
        marks=pytest.mark.slow,
    ),
    pytest.param(
        "sweep",
        ("science",),
        ("sweep", HOTSPOT, *BRIEF, "--over", "cell.ap_queue=5,75", "--out", "saved", "--plot"),
        id="sweep",
        marks=pytest.mark.slow,
    ),
    pytest.param("tune", ("science",), (*TUNE, "--no-txop", "--no-pifs"), id="tune"),
    pytest.param(
        "tune --out",
        ("science",),
        (*TUNE, "--out", "saved"),
        id="tune --out",
        marks=pytest.mark.slow,
    ),
    pytest.param("predict", ("science", "models"), ("predict", EDCA), id="predict with scipy"),
    pytest.param(
        "predict",
        ("science", "models"),
        ("predict", VBS, "--plot", "p.png"),
        id="predict vbs --plot",
        marks=pytest.mark.slow,
    ),
    pytest.param("stability models", ("science",), ("stability", "models"), id="stability models"),
    pytest.param(
        "stability", ("science", "models"), ("stability", "roots", "red-fig2a"), id="stability"
    ),
    pytest.param(
        "stability",
        ("science", "models"),
        ("stability", "hopf", "red-fig2a", "--over", "rtt=50ms..100ms", "--plot", "p.png"),
        id="stability --plot",
        marks=pytest.mark.slow,
    ),
    pytest.param(
        "what-if",
        ("science", "models"),
        ("what-if", HOTSPOT, *BRIEF, "--case", "a: cell.ap_queue=5"),
        id="what-if",
    ),
    pytest.param(
        "explain FILE", ("science", "models"), ("explain", HOTSPOT, *BRIEF[:4]), id="explain"
    ),
    pytest.param(
        "what-if",
        ("science", "models"),
        ("what-if", HOTSPOT, *BRIEF, "--case", "a: cell.ap_queue=5", "--out", "saved", "--plot"),
        id="what-if --plot",
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize(("command", "extras", "args"), WITH_EXTRAS)
def test_a_command_and_its_picture_need_only_these_extras(
    command: str, extras: tuple[str, ...], args: tuple[str, ...], tmp_path: Path
) -> None:
    assert {
        EXTRA_OF_PACKAGE[package] for package in PACKAGES_OF_ACTION.get(f"lasthop {command}", ())
    } <= {*extras}
    [done] = in_turn(absent_without(*extras), [tmp_path], [args])
    assert done.returncode == 0, done.stderr
    assert done.stdout
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    has_picture = any(path.suffix in (".png", ".svg", ".pdf") for path in files)
    assert has_picture == ("--plot" in args or "--out" in args), files
    assert not [path for path in files if path.suffix == ".parquet"]
    has_csv = any(path.suffix == ".csv" for path in files)
    assert any(path.name == COLUMNS_FILE for path in files) == has_csv == ("--out" in args)


def test_a_saved_result_is_drawn_and_replaced_with_only_science(tmp_path: Path) -> None:
    runs = ("simulate", HOTSPOT, *BRIEF, "--out", "saved")
    commands = [runs, runs, ("plot", "saved", "--plot", "p.png")]
    for done in in_turn(absent_without("science"), [tmp_path] * 3, commands):
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "p.png").exists()
    (tmp_path / "saved/stations.csv").write_text("name,my_notes\n")
    [refused] = in_turn(absent_without("science"), [tmp_path], [runs])
    assert refused.returncode == 2
    assert "stations.csv: exists and is not a table of lasthop" in refused.stderr


def test_every_command_in_the_table_runs_with_its_extras() -> None:
    tested = {str(each.values[0]) for each in WITH_EXTRAS}
    tested |= {args[0] for args, _ in NEEDING}
    needing = {
        name.removeprefix("lasthop ") for name in PACKAGES_OF_ACTION if name.startswith("lasthop ")
    }
    assert needing <= tested


def test_a_model_that_needs_another_extra_names_it(tmp_path: Path) -> None:
    commands = [
        ("predict", VBS),
        ("predict", EDCA),
        ("compare", VBS),
        ("stability", "roots", VBS),
        ("tune", EDCA, "--for", "throughput", "--out", "saved"),
    ]
    done = in_turn(absent_without("science"), [tmp_path] * len(commands), commands)
    for args, outcome in zip(commands, done, strict=True):
        assert (outcome.returncode, outcome.stdout, outcome.files) == (2, "", [])
        line, hint = outcome.stderr.splitlines()
        assert ": package scipy is not installed" in line, args
        assert hint == 'hint: run `pip install "lasthop[models]"`'


def test_parquet_files_of_another_installation_are_not_replaced_without_pyarrow(
    tmp_path: Path,
) -> None:
    args = ("simulate", HOTSPOT, *SHORT, "--out", "saved")
    assert main([*args[:-1], str(tmp_path / "saved")]) == 0
    before = {path: path.read_bytes() for path in (tmp_path / "saved").iterdir()}
    [refused] = in_turn(absent_without("science"), [tmp_path], [args])
    assert (refused.returncode, refused.stdout) == (2, "")
    line, hint = refused.stderr.splitlines()
    assert ".parquet: package pyarrow is not installed" in line
    assert hint == 'hint: run `pip install "lasthop[tables]"`'
    assert {path: path.read_bytes() for path in (tmp_path / "saved").iterdir()} == before


@pytest.mark.parametrize(
    ("args", "package"), NEEDING, ids=lambda each: each if isinstance(each, str) else each[0]
)
def test_a_command_whose_extra_is_missing_names_it(
    args: tuple[str, ...], package: str, outcomes: dict[tuple[str, ...], Outcome]
) -> None:
    done = outcomes[args]
    assert (done.returncode, done.stdout) == (2, "")
    line, hint = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert f": package {package} is not installed" in line
    assert args[0] in line or "pictures" in line
    named = hint.removeprefix('hint: run `pip install "lasthop[').removesuffix(']"`').split(",")
    assert any(package in PACKAGES_OF_EXTRA[extra] for extra in named)
    assert done.files == []


def test_the_hint_names_the_extras_of_all_missing_packages() -> None:
    both = missing("scipy", "numpy", "matplotlib")
    assert both.hint == 'run `pip install "lasthop[models,science]"`'
    assert missing("gymnasium", "numpy").hint == 'run `pip install "lasthop[learn]"`'


@pytest.mark.parametrize(
    ("action", "extra"), [("metrics", "gateway"), ("metrics of relays", "relay")]
)
def test_the_hint_about_metrics_names_the_extra_of_the_command(action: str, extra: str) -> None:
    error = error_for_action(action, lambda package: False)
    assert error is not None
    assert str(error) == f"{action}: package prometheus-client is not installed"
    assert error.hint == f'run `pip install "lasthop[{extra}]"`'


def test_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for package, extra in EXTRA_OF_PACKAGE.items():
        names = [each.split(">=")[0] for each in extras[extra]]
        assert package.replace("_", "-") in names
        assert missing(package).hint == f'run `pip install "lasthop[{extra}]"`'
    base = {each.split(">=")[0] for each in project["dependencies"]}
    assert base == {"rich", "typer"}


ASKED = {"stations": "pandas", "plot()": "matplotlib"}


@pytest.mark.parametrize("what", ASKED)
def test_a_table_or_picture_says_which_package_it_needs(what: str, tmp_path: Path) -> None:
    head, _, _ = BARE.format(names=set(EXTRA_OF_PACKAGE)).partition("from lasthop.cli")
    program = head + (
        f"import lasthop as lh\nr = lh.simulate({HOTSPOT!r}, replications=1)\n"
        f"try:\n    r.{what}\nexcept lh.UserError as e:\n    print(e, e.hint)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f": package {ASKED[what]} is not installed" in done.stdout, done.stderr
    assert f'pip install "lasthop[{EXTRA_OF_PACKAGE[ASKED[what]]}]"' in done.stdout
