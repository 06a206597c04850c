"""lasthop on Windows and macOS: a Linux process without the modules and names that these systems
lack.

`other_system.py` describes what this process cannot imitate. The tests of texts made from paths use
the paths of Windows.
"""

import ast
import errno
import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest

import lasthop as lh
from lasthop import linux_only
from lasthop.batch.part import DamagedError, Part
from lasthop.cli import boundary, screen
from lasthop.cli.completion.keys import contents
from lasthop.cli.listing import COMMANDS, GROUPS
from lasthop.linux_only import is_linux_only
from lasthop.progress import interruption
from lasthop.scenario.files import in_utf8, not_there, text_of
from lasthop.workbench import service

from . import other_system
from .conftest import EXAMPLES, SMALL, Lasthop
from .test_imports import modules

SCRIPT = Path(other_system.__file__)
SAMPLES = Path(__file__).parents[1] / "samples"

REMEDIES = {"darwin": "run it in a Linux virtual machine", "win32": "run it in WSL 2"}
IN_THE_PATH = "run it on the Linux machine between the guests and the Internet"


def run_on(
    system: str, folder: Path, commands: list[tuple[list[str], str | None]], *, everything: bool
) -> dict[str, Any]:
    """Run commands in a process that resembles another system; return the report."""
    asked = json.dumps({"system": system, "commands": commands, "everything": everything})
    environment = {**os.environ, "PYTHONWARNDEFAULTENCODING": "1"}
    command = [sys.executable, "-W", "ignore::EncodingWarning", str(SCRIPT)]
    done = subprocess.run(
        command, input=asked, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


# -- in a process without the names of Linux ---------------------------------------------------


@pytest.fixture(scope="module", params=["win32", "darwin"])
def quick_report(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, Any]]:
    """Return a system, and the report of commands that need no optional package."""
    folder = tmp_path_factory.mktemp("quick")
    (folder / "small.toml").write_text(SMALL)
    refused: list[tuple[list[str], str | None]] = [
        ([name, "--help"], None) for name in linux_only.COMMANDS
    ]
    runs: list[tuple[list[str], str | None]] = [
        (["check", "small.toml"], "ascii"),
        (["simulate", "small.toml", "--jobs", "2"], "cp1252"),
        (["check", str(EXAMPLES / "csma.toml")], "cp1252"),
    ]
    return request.param, run_on(request.param, folder, [*refused, *runs], everything=False)


def test_a_command_that_needs_linux_prints_an_error_and_the_remedy(
    quick_report: tuple[str, dict[str, Any]],
) -> None:
    system, report = quick_report
    for name, done in zip(linux_only.COMMANDS, report["commands"], strict=False):
        remedy = IN_THE_PATH if name in ("gateway", "queue") else REMEDIES[system]
        lines = f"error: `lasthop {name}` needs Linux\nhint: {remedy}\n"
        assert (done["code"], done["out"], done["err"].replace("\r", "")) == (2, "", lines)


def test_a_function_that_needs_linux_raises_an_error_with_the_remedy(
    quick_report: tuple[str, dict[str, Any]],
) -> None:
    system, report = quick_report
    assert report["refusals"] == {
        "emulate": f"`lasthop.emulate` needs Linux: {REMEDIES[system]}",
        "relay.Server": f"`lasthop.relay.Server` needs Linux: {REMEDIES[system]}",
        "compare": f"`lasthop.compare(emulate=True)` needs Linux: {REMEDIES[system]}",
        "import": f"`lasthop.relay` needs Linux: {REMEDIES[system]}",
    }
    assert report["public_names"] == sorted(lh.__all__)


def test_other_commands_import_nothing_that_needs_linux(
    quick_report: tuple[str, dict[str, Any]],
) -> None:
    _, report = quick_report
    done = report["commands"][len(linux_only.COMMANDS) :]
    assert [each["code"] for each in done] == [0, 0, 0]
    assert "error" not in "".join(each["err"] for each in done)
    assert report["linux_before"] == report["linux_after"] == []


def test_ctrl_c_is_quiet_from_the_start_on(quick_report: tuple[str, dict[str, Any]]) -> None:
    _, report = quick_report
    assert report["starts_quietly"]


SHORT = ["--set", "duration=6 s", "--set", "warmup=2 s", "--replications", "2"]
CELL = str(EXAMPLES / "hotspot.toml")

OVER = ["--over", "capacity=50..500", "--over", "rtt=10ms..300ms"]

PORTABLE_COMMANDS: list[list[str]] = [
    ["--version", "--verbose"],
    ["--help"],
    ["schema"],
    ["init", "first.toml", "--yes"],
    ["check", "small.toml"],
    ["predict", CELL, "--plot", "predicted.png"],
    ["simulate", "small.toml", "--out", "result", "--plot", "simulated.svg", "--jobs", "2"],
    ["simulate", "small.toml", "--json", "--pcapng", "air.pcapng"],
    ["compare", CELL, *SHORT, "--plot", "compared.pdf"],
    ["compare", CELL, *SHORT, "--measured", "result/result.json"],
    ["sweep", "small.toml", "--over", "seed=1,2,3", "--jobs", "2", "--out", "swept", "--plot"],
    ["sweep", "small.toml", "--over", "seed=1,2,3,4", "--jobs", "2", "--out", "swept"],
    ["tune", CELL, *SHORT, "--for", "delay", "--jobs", "2"],
    ["what-if", CELL, *SHORT, "--case", "short: cell.ap_queue=20", "--jobs", "2"],
    ["explain", CELL, *SHORT, "--jobs", "2"],
    ["explain", "jain"],
    ["stability", "models"],
    ["stability", "hopf", "red", "--over", "rtt=10ms..1s"],
    ["stability", "chart", "red", *OVER, "--size", "4", "--out", "chart.png"],
    ["import", "iw", str(SAMPLES / "iw" / "fabfi-access-point.txt"), "--out", "iw.toml"],
    ["import", "hostapd", str(SAMPLES / "hostapd" / "debian-example.conf")],
    ["import", "pcap", str(SAMPLES / "pcap" / "wpa-Induction.pcap.gz")],
    ["plot", "result"],
    ["plot", "swept"],
    ["reproduce", "hotspot-1", "--quick"],
    ["completion", "bash"],
    ["completion", "answer", "zsh", "kernel", "remove", ""],
]
"""Commands that work on every system, in an order in which later commands read earlier files."""


@pytest.mark.slow
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_all_other_commands_work(system: str, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    encodings = [None, "cp1252"]
    commands = [(args, encodings[at % 2]) for at, args in enumerate(PORTABLE_COMMANDS)]
    report = run_on(system, tmp_path, commands, everything=True)
    failed = [
        (" ".join(args), done["code"], done["err"])
        for args, done in zip(PORTABLE_COMMANDS, report["commands"], strict=True)
        if done["code"] != 0
    ]
    assert failed == []
    assert report["linux_after"] == []
    assert report["imports"] == {
        f"lasthop.{name}": f"NeedsLinuxError: `lasthop.{name}` needs Linux"
        for name in linux_only.LINUX_PACKAGES
    }
    ours = [name for name in report["files"] if name.endswith((".toml", ".json", ".csv", ".html"))]
    assert {"first.toml", "iw.toml", "result/result.json", "swept/manifest.json"} <= {*ours}


# -- in the code -------------------------------------------------------------------------------


def statements_at_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run when a module is imported."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from statements_at_import(statement.orelse)
            continue
        yield statement
        for part in ("body", "orelse", "finalbody"):
            yield from statements_at_import(getattr(statement, part, []))
        for handler in getattr(statement, "handlers", []):
            yield from statements_at_import(handler.body)


def imported_at_import(tree: ast.Module) -> Iterator[str]:
    """Yield the modules and objects that a module imports when it is imported itself."""
    for statement in statements_at_import(tree.body):
        if isinstance(statement, ast.Import):
            yield from (each.name for each in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield from (f"{statement.module}.{each.name}" for each in statement.names)


RELEVANT_CODE = re.compile(
    r"\b_?(os|signal|socket|select|time)\.|write_text|'w'|\"w\"|"
    rf"lasthop\.({'|'.join(linux_only.LINUX_PACKAGES)})\b|"
    rf"import ({'|'.join((*linux_only.LINUX_PACKAGES, *other_system.ABSENT_MODULES))})\b|"
    rf"from ({'|'.join(other_system.ABSENT_MODULES)})\b"
)
"""Texts of a module that the tests examine. To parse all modules takes seconds."""


@pytest.fixture(scope="module")
def portable_modules() -> dict[str, ast.Module]:
    """Return the syntax trees of the modules that need no Linux and have a match of
    `RELEVANT_CODE`, by name without `lasthop`.
    """
    files = {
        name.removeprefix("lasthop").removeprefix("."): path for name, path in modules().items()
    }
    texts = {
        name: path.read_text("utf-8") for name, path in files.items() if not is_linux_only(name)
    }
    return {name: ast.parse(text) for name, text in texts.items() if RELEVANT_CODE.search(text)}


def test_imports_at_import_are_found() -> None:
    tree = ast.parse(
        "import a\nif x:\n    from b import c\ntry:\n    import d\nexcept E:\n    import e\n"
        "if TYPE_CHECKING:\n    import f\ndef g():\n    import h\nclass I:\n    import j\n"
    )
    assert [*imported_at_import(tree)] == ["a", "b.c", "d", "e", "j"]


def test_no_other_module_imports_what_needs_linux(portable_modules: dict[str, ast.Module]) -> None:
    wrong = [
        f"{name} imports {other}"
        for name, tree in portable_modules.items()
        for other in imported_at_import(tree)
        if (is_linux_only(other.removeprefix("lasthop.")) and other.startswith("lasthop."))
        or other.partition(".")[0] in other_system.ABSENT_MODULES
    ]
    assert wrong == ["progress.interruption imports posix"]  # On Windows, it imports nt.


def test_every_package_that_needs_linux_exists_and_refuses_other_systems() -> None:
    files = modules()
    for name in linux_only.LINUX_PACKAGES:
        assert f'require_linux("lasthop.{name}")' in files[f"lasthop.{name}"].read_text("utf-8")


def test_every_command_that_needs_linux_exists() -> None:
    assert {*linux_only.COMMANDS} <= {*COMMANDS, *GROUPS}


def test_the_install_guide_agrees_with_the_errors() -> None:
    guide = (Path(__file__).parents[2] / "docs/guide/install.md").read_text("utf-8")
    rows = [line.split("|") for line in guide.splitlines() if line.startswith("| `")]
    commands = {
        row[4].strip(): set(re.findall("`([a-z]+)`", row[1])) for row in rows if len(row) == 6
    }
    assert {f"lasthop {name}" for name in commands["no"]} == {*linux_only.COMMANDS_IN_THE_PATH}
    assert commands["no"] | commands["in WSL 2"] - {"compare"} == {*linux_only.COMMANDS}


GUARDED = {
    "doctor.privacy: os.getuid",
    "doctor.probe: os.geteuid",
    "doctor.probe: os.uname",
    "progress.interruption: _signal.pthread_kill",
    "simulation.simulate: os.sched_getaffinity",
    "workbench.service: os.killpg",
    "workbench.service: signal.SIGKILL",
}
"""Names that not all systems have, in code that asks before whether they exist, or whether this is
Linux.
"""


def test_no_other_module_uses_a_name_that_windows_lacks(
    portable_modules: dict[str, ast.Module],
) -> None:
    missing = other_system.MISSING["win32"]
    own = {f"cli.{name}" for name in linux_only.COMMANDS}
    used = {
        f"{name}: {node.value.id}.{node.attr}"
        for name, tree in portable_modules.items()
        if name not in own
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.attr in missing.get(node.value.id.removeprefix("_"), ())
    }
    assert used == GUARDED


# -- texts and files of Windows ----------------------------------------------------------------


@pytest.mark.parametrize("system", ["darwin", "win32", "freebsd14"])
def test_the_error_has_the_remedy_of_the_system(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(lh.UserError) as refusal:
        lh.emulate(SMALL)
    assert str(refusal.value) == "`lasthop.emulate` needs Linux"
    assert refusal.value.hint == REMEDIES.get(system, REMEDIES["darwin"])


def test_a_comparison_with_an_emulation_is_refused_before_it_is_simulated(
    lasthop: Lasthop, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lasthop("check", small).returncode == 0  # This imports the handling of Ctrl-C of Linux.
    monkeypatch.setattr(sys, "platform", "win32")
    done = lasthop("compare", small, "--virtual")
    assert (done.returncode, done.stdout) == (2, "")
    line = "error: `lasthop compare --virtual` needs Linux"
    assert done.stderr == f"{line}\nhint: {REMEDIES['win32']}\n"


def test_a_web_address_is_recognised_in_a_path_of_windows() -> None:
    path: Any = PureWindowsPath("https://example.org/a.toml")
    assert str(path) == r"https:\example.org\a.toml"
    refusal = not_there(path, True)
    assert str(refusal) == "https://example.org/a.toml: is an address; lasthop reads files"


def test_the_path_in_an_address_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    path: Any = PureWindowsPath("file:///C:/a.toml")
    assert not_there(path, True).hint == "its path is /C:/a.toml"
    monkeypatch.setattr(sys, "platform", "win32")
    assert not_there(path, True).hint == "its path is C:/a.toml"
    assert not_there(PureWindowsPath("file:///a.toml"), True).hint == "its path is /a.toml"  # type: ignore[arg-type]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_text_file_of_windows(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes("# Ü\r\nduration = 1\r\n".encode(encoding))
    assert text_of(path) == "# Ü\nduration = 1\n"
    assert contents(str(path)) == {"duration": 1}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_scenarios_and_results_of_powershell_are_read(tmp_path: Path, encoding: str) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    text = SMALL.replace("two downloaders", "zwei für µ").replace("\n", "\r\n")
    (tmp_path / "small.toml").write_bytes(f"{mark}{text}".encode(encoding))
    assert lh.check(tmp_path / "small.toml")["name"] == "zwei für µ"
    answer = lh.simulate(SMALL)
    (tmp_path / "result.json").write_bytes(f"{mark}{answer.to_json()}".encode(encoding))
    assert lh.load(tmp_path / "result.json").summary == answer.summary


def test_damaged_utf_16_is_not_decoded() -> None:
    assert in_utf8(b"\xff\xfea") == b"\xff\xfea"


class Stream(io.TextIOWrapper):
    """Standard output of Windows: a console, or a file with the encoding and line ends of
    Windows.
    """

    def __init__(self, *, is_console: bool) -> None:
        super().__init__(io.BytesIO(), encoding="cp1252", newline="\r\n")
        self._is_console = is_console

    def isatty(self) -> bool:
        return self._is_console

    def written(self) -> bytes:
        self.flush()
        content: bytes = self.buffer.getvalue()  # type: ignore[attr-defined]
        return content


@pytest.mark.parametrize(
    ("is_console", "variable", "written"),
    [
        (False, None, "a → ü\n".encode()),
        (False, "cp1252", b"a ? \xfc\r\n"),
        (True, None, b"a ? \xfc\r\n"),
    ],
)
def test_every_character_can_be_printed_on_windows(
    monkeypatch: pytest.MonkeyPatch, is_console: bool, variable: str | None, written: bytes
) -> None:
    streams = [Stream(is_console=is_console) for _ in range(2)]
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    if variable is not None:
        monkeypatch.setenv("PYTHONIOENCODING", variable)
    screen.print_every_character()
    for stream in streams:
        print("a → ü", file=stream)
        assert stream.written() == written


def test_files_have_the_same_line_ends_on_every_system(
    portable_modules: dict[str, ast.Module],
) -> None:
    calls = [
        (f"{name}:{node.lineno}", ast.unparse(node))
        for name, tree in portable_modules.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in ("open", "write_text")
    ]
    written = [each for each in calls if ".write_text(" in each[1] or "('w'" in each[1]]
    assert [where for where, call in written if "newline=" not in call] == []
    assert len(written) == 6


def test_an_ignored_interrupt_is_raised_again_without_pthread_kill(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("_signal.pthread_kill")

    def interrupted() -> None:
        interruption._raise_again(SimpleNamespace(exc_type=KeyboardInterrupt))
        for _ in range(1000):
            time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        interrupted()


def test_a_process_of_the_workbench_is_ended_without_process_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = []
    process: Any = SimpleNamespace(pid=0, kill=lambda: ended.append("killed"))
    monkeypatch.setattr(sys, "platform", "win32")
    service.end(process)
    assert ended == ["killed"]


def test_a_damaged_archive_is_closed_before_it_is_renamed(tmp_path: Path) -> None:
    path = tmp_path / "0123456789abcdef.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("about.json", "[]")
    with pytest.raises(DamagedError) as damage:
        Part(path)
    [part] = [
        entry.frame.f_locals["self"] for entry in damage.traceback if entry.name == "__init__"
    ]
    assert part._archive.fp is None


@pytest.mark.parametrize(
    ("system", "error", "ended"),
    [
        ("win32", OSError(errno.EINVAL, "Invalid argument"), True),
        ("win32", OSError(errno.EINVAL, "Invalid argument", "file.csv"), False),
        ("win32", OSError(errno.ENOSPC, "No space left on device"), False),
        ("linux", OSError(errno.EINVAL, "Invalid argument"), False),
    ],
)
def test_einval_without_a_file_name_means_a_closed_pipe_on_windows(
    system: str, error: OSError, ended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    assert boundary.reader_has_ended(error) is ended
