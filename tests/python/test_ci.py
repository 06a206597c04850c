"""The CPU budget, the parts of `make test-long` that must be run, and skipped tests."""

import importlib.util
import json
import subprocess
from pathlib import Path
from types import ModuleType

import measure
import pytest

import skips
from lasthop import _core

ROOT = Path(__file__).resolve().parents[2]


def loaded(path: str) -> ModuleType:
    """Import a script of the checkout and return its module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


budget = loaded(".ci/budget.py")
long = loaded(".ci/long.py")
inventory = loaded("tests/inventory.py")


@pytest.mark.parametrize(
    ("units", "limit", "expected"),
    [
        (100.0, 100.0, ""),
        (101.0, 100.0, "warning: above its limit"),
        (150.0, 100.0, "warning: above its limit"),
        (151.0, 100.0, "FAILED: above 1.5 times its limit"),
        (1.0, None, "FAILED: no limit in .ci/budget.toml"),
    ],
)
def test_a_stage_warns_above_its_limit_and_fails_above_one_and_a_half_times_it(
    units: float, limit: float | None, expected: str
) -> None:
    assert budget.verdict(units, limit) == expected


def test_the_unit_is_the_mean_of_loop_and_compile(tmp_path: Path) -> None:
    file = tmp_path / "unit.json"
    file.write_text(
        json.dumps([{"loop_s": 1.0, "compile_s": 2.0}, {"loop_s": 2.0, "compile_s": 3.0}])
    )
    assert budget.unit_s(file) == 4.0


def test_a_report_fails_with_a_stage_that_failed_or_is_above_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The stages take 100 and 200 CPU seconds. A unit is 2 s, and the limits are 60 units."""
    (tmp_path / "budget.toml").write_text("[limits]\na = 60\nb = 60\ntotal = 200\n")
    monkeypatch.setattr(budget, "HERE", tmp_path)
    stages = tmp_path / "stages"
    stages.write_text("a\t50\t100\t0\nb\t90\t200\t0\n")
    a, b = budget.read_stages(stages)
    assert budget.report([a], 2.0)
    assert not budget.report([a._replace(status=1)], 2.0)
    assert not budget.report([a, b], 2.0)
    assert "b" in capsys.readouterr().out.splitlines()[-2]


def test_a_report_without_stages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no stage was measured"):
        budget.read_stages(tmp_path / "stages")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a repository with a file that belongs to the part `tcp`, and a file that does not."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench/kernel_tcp.py").write_text("1")
    (tmp_path / "README.md").write_text("1")
    monkeypatch.setattr(long, "ROOT", tmp_path)
    monkeypatch.setattr(long, "RECORD", tmp_path / "long.toml")
    monkeypatch.setattr(long, "BEGUN", tmp_path / "target")
    return tmp_path


def test_a_part_is_due_until_it_passes_and_after_its_files_change(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def due() -> list[str]:
        capsys.readouterr()
        long.due()
        return [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]

    assert due() == list(long.COVERS)
    long.begin("tcp")
    assert "tcp" in due()
    long.passed("tcp")
    assert "tcp" not in due()
    (checkout / "README.md").write_text("2")
    assert "tcp" not in due()
    (checkout / "bench/kernel_tcp.py").write_text("2")
    assert "tcp" in due()


def test_the_command_that_runs_the_parts_that_are_due_is_printed(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def command() -> str:
        capsys.readouterr()
        long.due()
        return capsys.readouterr().err

    others = [part for part in long.COVERS if part != "tcp"]
    for part in others:
        long.begin(part)
        long.passed(part)
    assert command() == "run: make test-long PART=tcp\n"
    long.begin("tcp")
    long.passed("tcp")
    assert command() == ""
    long.RECORD.unlink()
    assert command() == f"run: make test-long PART='{' '.join(long.COVERS)}'\n"


def test_a_part_whose_files_change_while_it_runs_stays_due(checkout: Path) -> None:
    long.begin("tcp")
    (checkout / "bench/kernel_tcp.py").write_text("2")
    long.passed("tcp")
    assert long.recorded() == {}


@pytest.mark.parametrize(
    ("part", "file"),
    [
        ("laws", "crates/engine/tests/suite/laws.rs"),
        ("rust", "bench/instructions.py"),
        ("python", "docs/guide/tuning.md"),
        ("python", "tests/cpu_bounds.py"),
        ("validation", "docs/claims.py"),
        ("kernel", "bench/uml.py"),
        ("tcp", "bench/measure.py"),
    ],
)
def test_a_part_covers_the_files_that_its_tests_read(part: str, file: str) -> None:
    assert file in long.files_of(part)


def report_of(outcome: str) -> pytest.TestReport:
    """Return the report of a test that ended with this outcome."""
    place = ("tests/test_x.py", 3, "Skipped: needs busybox")
    location = ("tests/test_x.py", None, "test_y")
    report = pytest.TestReport("tests/test_x.py::test_y", location, {}, "passed", None, "setup")
    report.outcome, report.longrepr = outcome, place  # type: ignore[assignment]
    return report


@pytest.mark.parametrize(
    ("ci", "listed", "outcome"),
    [
        ("true", {}, "failed"),
        ("true", {"tests/test_x.py::*": "why"}, "skipped"),
        ("", {}, "skipped"),
    ],
)
def test_a_skip_fails_with_ci_unless_it_is_listed(
    monkeypatch: pytest.MonkeyPatch, ci: str, listed: dict[str, str], outcome: str
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(skips, "allowed_skips", lambda: listed)
    report = report_of("skipped")
    skips.refuse_skip(report)
    assert report.outcome == outcome
    if outcome == "failed":
        assert "needs busybox" in str(report.longrepr)


def test_a_missing_test_needs_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after, removed = (tmp_path / name for name in ("before", "after", "removed.toml"))
    before.write_text("a.py::test_a\na.py::test_b[1]\n")
    after.write_text("a.py::test_a\n")
    monkeypatch.setattr(inventory, "REMOVED", removed)
    removed.write_text("[removed]\n")
    assert inventory.compare(before, after) == 1
    removed.write_text('[removed]\n"a.py::test_b[*]" = "a smaller test checks the same"\n')
    assert inventory.compare(before, after) == 0


WITHOUT_LASTHOP = ("bbr3_second.py", "cake_page.py", "connection_costs.py", "webassembly.py")
"""Benches that do not run the installed lasthop. Files named `*_inside.py` are not in the list,
because other benches start them.
"""


def test_benches_require_a_release_build() -> None:
    texts = {path.name: path.read_text("utf-8") for path in (ROOT / "bench").glob("*.py")}
    mains = {name: text for name, text in texts.items() if "__main__" in text}
    assert len(mains) > 20
    lacking = [name for name, text in mains.items() if "    require_release_build()" not in text]
    started = [name for name in lacking if not name.endswith("_inside.py")]
    assert sorted(started) == sorted(WITHOUT_LASTHOP)


@pytest.mark.parametrize(("profile", "refused"), [("debug", True), ("release", False)])
def test_a_debug_build_is_refused(
    monkeypatch: pytest.MonkeyPatch, profile: str, refused: bool
) -> None:
    monkeypatch.setattr(_core, "PROFILE", profile)
    if refused:
        with pytest.raises(SystemExit, match="lasthop is a debug build: benches need a release"):
            measure.require_release_build()
    else:
        measure.require_release_build()
