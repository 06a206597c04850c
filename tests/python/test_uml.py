"""User-mode Linux, tested without a boot: choice of the kernel, error messages, and copies of
changed files.
"""

import json
import os
import stat
import threading
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.cli import emulate as command_line
from lasthop.emulated.emulation import Emulation
from lasthop.emulation import limits, replicate, virtual
from lasthop.emulation.programs import Program
from lasthop.emulation.request import Request
from lasthop.errors import UserError
from lasthop.uml import boot, init, kernel, store
from lasthop.uml.boot import State

from .conftest import Lasthop

NEEDED = "".join(f"CONFIG_{name}=y\n" for name in ("UML", *kernel.NEEDED))


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(kernel.VARIABLE, raising=False)
    monkeypatch.setattr(kernel.shutil, "which", lambda program: None)


def program(path: Path, version: str = "6.1.176", configuration: str = NEEDED) -> Path:
    """Write a program that prints a version and a configuration in the format of a kernel."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'#!/bin/sh\ncase $1 in --version) echo {version};; *) cat << "e"\n{configuration}e\nesac\n'
    )
    path.chmod(0o755)
    return path


def test_without_a_kernel_the_package_is_named() -> None:
    with pytest.raises(UserError, match="no user-mode Linux found") as refused:
        kernel.find_kernel()
    assert "apt install user-mode-linux" in str(refused.value.hint)


def test_the_variable_is_first_then_the_newest_built_kernel_then_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = program(tmp_path / "linux.uml")
    monkeypatch.setattr(kernel.shutil, "which", lambda _: str(installed))
    assert kernel.find_kernel().version == "6.1.176"
    for name, built_at_s in (("old", 1.0), ("new", 2.0)):
        folder = store.kernel_folder() / name
        program(folder / "linux", f"6.12-{name}")
        (folder / store.INFORMATION).write_text(
            f'{{"version": "6.12-{name}", "source": "linux-source-6.12", '
            f'"built_at_s": {built_at_s}, "processor_s": 700.0}}'
        )
    assert kernel.find_kernel().version == "6.12-new"
    monkeypatch.setenv(kernel.VARIABLE, str(program(tmp_path / "mine", "7.0")))
    assert kernel.find_kernel().version == "7.0"


INFORMATION = {"version": "6.12", "source": "here", "built_at_s": 1.0, "processor_s": 700.0}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "kernel.json: No such file or directory"),
        ("nonsense", "kernel.json: Expecting value"),
        ("[1, 2]", "kernel.json: expected an object"),
        (json.dumps({**INFORMATION, "version": 6}), "version: 6: expected a text"),
        (json.dumps({**INFORMATION, "source": None}), "source: null: expected a text"),
        (
            json.dumps({**INFORMATION, "built_at_s": "soon"}),
            'built_at_s: "soon": expected a number from 0 to 4e+09',
        ),
        (json.dumps({**INFORMATION, "built_at_s": 1e300}), "built_at_s: 1e+300: expected"),
        (json.dumps({**INFORMATION, "processor_s": float("nan")}), "processor_s: NaN: expected"),
    ],
)
def test_a_damaged_kernel_is_listed_and_removed_but_not_used(
    content: str | None, problem: str, lasthop: Lasthop
) -> None:
    folder = store.kernel_folder() / "a1"
    program(folder / "linux")
    if content is not None:
        (folder / store.INFORMATION).write_text(content)
    with pytest.raises(UserError, match="no user-mode Linux found"):
        kernel.find_kernel()
    done = lasthop("kernel", "list")
    assert (done.returncode, problem in done.stderr) == (0, True), done.stderr
    done = lasthop("kernel", "remove", "a1")
    assert (done.returncode, done.stdout) == (0, "a1 is removed\n")
    assert not folder.exists()


def test_a_cache_folder_with_a_relative_path_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert store.cache_folder() == Path.home() / ".cache" / "lasthop"


@pytest.mark.parametrize("content", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho hello\n", ""])
def test_another_program_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    path = tmp_path / "other"
    path.write_text(content)
    path.chmod(0o755)
    monkeypatch.setenv(kernel.VARIABLE, str(path))
    with pytest.raises(UserError, match=f"^LASTHOP_UML={path}: .*expected a user-mode Linux"):
        kernel.find_kernel()


def test_a_kernel_without_a_needed_option_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = NEEDED.replace("CONFIG_TUN=y\n", "# CONFIG_TUN is not set\n")
    monkeypatch.setenv(kernel.VARIABLE, str(program(tmp_path / "k", configuration=lacking)))
    with pytest.raises(UserError, match=r"Linux 6\.1\.176 lacks CONFIG_TUN"):
        kernel.find_kernel()


def test_changed_files_are_copied_and_removed_files_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, folder = tmp_path / "changes", tmp_path / "folder"
    for path in (changes / "sub", folder / "old"):
        path.mkdir(parents=True)
    for path, text in {
        changes / "sub" / "new": "1",
        changes / "same": "2",
        folder / "same": "before",
        folder / "untouched": "3",
        folder / "gone": "4",
        folder / "old" / "inside": "5",
    }.items():
        path.write_text(text)
    (changes / "same").chmod(0o755)
    (changes / "link").symlink_to("same")
    for name in ("gone", "old"):
        os.mknod(changes / name, stat.S_IFCHR, 0)
    monkeypatch.setattr(init, "PROBLEMS", tmp_path / "problems")
    init.copy_changes(changes, folder)
    names = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    assert names == {"sub", "sub/new", "same", "link", "untouched"}
    assert (folder / "same").read_text() == "2"
    assert (folder / "same").stat().st_mode & 0o777 == 0o755
    assert (folder / "link").readlink() == Path("same")
    assert (tmp_path / "problems").read_text() == ""


def test_changed_files_that_cannot_be_copied_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, folder = tmp_path / "changes", tmp_path / "folder"
    undecodable, longest = os.fsdecode(b"\xff"), "x" * 255
    changes.mkdir()
    for name in ("was a folder", "refused"):
        (folder / name).mkdir(parents=True)
        (folder / name / "inside").touch()
    for name in ("was a folder", longest, undecodable, "refused"):
        (changes / name).write_text("new")
    os.mkfifo(changes / f"pipe{undecodable}")
    monkeypatch.setattr(init, "PROBLEMS", tmp_path / "problems")
    copyfile = init.shutil.copyfile

    def full_at_refused(path: Path, target: Path) -> None:
        if path.name == "refused":
            raise OSError(28, "No space left on device")
        copyfile(path, target)

    monkeypatch.setattr(init.shutil, "copyfile", full_at_refused)
    init.copy_changes(changes, folder)
    assert {path.name for path in folder.iterdir() if path.is_file()} == {
        *("was a folder", longest, undecodable)
    }
    assert (folder / "refused" / "inside").exists()
    assert len(list(folder.iterdir())) == 4
    assert (tmp_path / "problems").read_bytes().splitlines() == [
        b"pipe\xff: not a file, a folder or a symbolic link",
        b"refused: No space left on device",
    ]


def test_a_user_without_a_home_has_no_stored_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(store.Path, "home", unknown)
    assert store.built_kernels() == []


def test_a_folder_of_the_kernel_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/proc/self")
    with pytest.raises(UserError, match=r"^the current folder is /proc/\d+: not supported"):
        virtual.current_folder()


def test_runs_with_programs_are_sequential(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def emulated(scenario: lh.Scenario, **_: object) -> Emulation:
        threads.append(threading.get_ident())
        return Emulation({"duration_s": 1.0}, scenario)

    monkeypatch.setattr(replicate, "emulate", emulated)
    others = [Program.of_shell("a", "true")]
    replicate.replicate(request_of(duration="1 s").scenario, 3, virtual=True, others=others)
    assert threads == 3 * [threading.get_ident()]


def test_left_over_folders_are_removed_and_folders_in_use_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boot.tempfile, "tempdir", str(tmp_path))
    left_over = tmp_path / f"{boot.PREFIX}left"
    left_over.mkdir()
    (left_over / "lock").touch()
    with boot.exchange_folder() as (used, _):
        boot.remove_left_overs()
        assert used.exists()
    assert list(tmp_path.iterdir()) == []


def request_of(**settings: str) -> Request:
    """Return a request to run a small scenario."""
    scenario = lh.Scenario(
        {"cell": {"phy": "802.11g"}, "station": {"a": {"download": 1}}, **settings}
    )
    return Request(scenario, None, (), False, {}, None, None, {}, False, (), False, True, 3600.0)


def test_output_is_printed_while_it_grows_and_a_run_that_would_take_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = BytesIO()
    monkeypatch.setattr(virtual.sys, "stdout", TextIOWrapper(output))
    reports: list[tuple[float, float]] = []
    monitor = virtual.RunMonitor(
        request_of(duration="100 s"), lambda *each: reports.append(each), 200.0
    )
    monitor.update(State(tmp_path, 1.0))
    (tmp_path / "stdout").write_bytes(b"one\n")
    (tmp_path / virtual.PROGRESS).write_text("    1.000000")
    monitor.update(State(tmp_path, 3.0))
    with (tmp_path / "stdout").open("ab") as file:
        file.write(b"\xfftwo")
    (tmp_path / virtual.PROGRESS).write_text("   11.000000")
    monitor.update(State(tmp_path, 22.0))
    assert output.getvalue() == b"one\n\xfftwo"
    assert reports == [(0.0, 100.0), (1.0, 100.0), (11.0, 100.0)]
    (tmp_path / virtual.PROGRESS).write_text("   12.000000")
    # 11 simulated seconds took 29 s of CPU time. The total is 32 + 88 * 29 / 11 = 264 s.
    with pytest.raises(UserError, match=r"would take about 264 s .*, 2\.6 s per simulated second"):
        monitor.update(State(tmp_path, 32.0))


def test_the_command_line_has_the_same_defaults() -> None:
    assert command_line.LONGEST_S == limits.LONGEST_S
    assert command_line.MAX_PROCESSOR_S == boot.MAX_PROCESSOR_S


def test_a_limit_of_processor_time_needs_simulated_time(lasthop: Lasthop, tmp_path: Path) -> None:
    file = tmp_path / "cell.toml"
    file.write_text('duration = "5 s"\ncell = { phy = "802.11g" }\nstation.a = { download = 1 }\n')
    done = lasthop("emulate", str(file), "--max-time", "5s")
    assert done.returncode == 2
    assert done.stderr.startswith("error: --max-time: limits only runs in simulated time")
