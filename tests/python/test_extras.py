"""Commands in an environment without optional packages, and messages about missing packages."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from lasthop.extras import EXTRAS, missing

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
    program = BARE.format(names=set(EXTRAS))
    command = [sys.executable, "-c", program, *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


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
    given = json.dumps([[str(tmp_path_factory.mktemp("bare")), args] for args in commands])
    program = IN_TURN.format(names=set(EXTRAS))
    done = subprocess.run(
        [sys.executable, "-c", program, given], capture_output=True, text=True, check=True
    )
    results = map(Outcome._make, json.loads(done.stdout))
    return dict(zip(commands, results, strict=True))


HOTSPOT = str(EXAMPLES / "hotspot.toml")
SHORT = ("--set", "duration=20 s", "--set", "warmup=8 s", "--replications", "2")


NO_EXTRA: list[tuple[str, ...]] = [
    ("check", HOTSPOT),
    ("schema",),
    ("simulate", HOTSPOT, *SHORT),
    ("simulate", HOTSPOT, *SHORT, "--json"),
    ("gateway", "--help"),
    ("init", "--yes", "first.toml"),
    ("import", "iw", str(ROOT / "tests/samples/iw/ath10k-client.txt")),
]
NEEDING: list[tuple[tuple[str, ...], str]] = [
    (("predict", HOTSPOT), "numpy"),
    (("compare", HOTSPOT), "numpy"),
    (("sweep", HOTSPOT, "--over", "seed=1,2"), "pyarrow"),
    (("simulate", HOTSPOT, "--out", "there"), "pandas"),
    (("tune", HOTSPOT, "--for", "throughput"), "numpy"),
    (("reproduce", "hotspot-1"), "numpy"),
    (("stability", "models"), "numpy"),
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


def test_simulate_needs_no_extra_in_a_new_process(tmp_path: Path) -> None:
    done = bare(tmp_path, "simulate", HOTSPOT, *SHORT)
    assert done.returncode == 0, done.stderr
    assert done.stdout


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
    assert f"needs {package}, which is not installed" in line
    assert args[0] in line
    assert hint == f"hint: pip install 'lasthop[{EXTRAS[package]}]'"
    assert done.files == []


def test_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for package, extra in EXTRAS.items():
        names = [each.split(">=")[0] for each in extras[extra]]
        assert package.replace("_", "-") in names
        assert missing(package).hint == f"pip install 'lasthop[{extra}]'"
    base = {each.split(">=")[0] for each in project["dependencies"]}
    assert base == {"rich", "typer"}


ASKED = {"stations": "pandas", "plot()": "matplotlib"}


@pytest.mark.parametrize("what", ASKED)
def test_a_table_or_picture_says_which_package_it_needs(what: str, tmp_path: Path) -> None:
    head, _, _ = BARE.format(names=set(EXTRAS)).partition("from lasthop.cli")
    program = head + (
        f"import lasthop as lh\nr = lh.simulate({HOTSPOT!r}, replications=1)\n"
        f"try:\n    r.{what}\nexcept lh.UserError as e:\n    print(e, e.hint)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f"needs {ASKED[what]}, which is not installed" in done.stdout, done.stderr
    assert "pip install 'lasthop[science]'" in done.stdout
