"""Emulations in simulated time: repeatability, files, programs, limits and clean-up."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import pytest

import lasthop as lh
from lasthop.emulation.programs import Program
from lasthop.errors import UserError
from lasthop.uml.boot import PREFIX, CommandResult, run
from lasthop.uml.kernel import find_kernel
from lasthop.uml.repeatable import is_repeatable

pytestmark = pytest.mark.usefixtures("self_tested")

SCENARIO = {
    "name": "two stations",
    "seed": 3,
    "warmup": "0.5 s",
    "duration": "3 s",
    "cell": {"phy": "802.11g", "ap_queue": 50},
    "tcp": {"congestion": "cubic", "initial_rto": "0.5 s"},
    "station": {"one": {"download": 1}, "two": {}},
}
COMMAND = "pwd; cat read; echo printed >&2; date; echo written > new; rm read; exit 3"
MAX_PROCESSOR_S = 60.0
ENDLESS = ["sh", "-c", "while :; do :; done"]


@pytest.fixture(scope="module")
def self_tested(user_mode: None) -> bool:
    """Run the self-test of the kernel, and return its result. The self-test runs only once."""
    return is_repeatable(find_kernel())


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which this test's emulations create their temporary folders."""
    folder = tmp_path / "exchanges"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def processes_in(folder: Path) -> list[int]:
    """Return the processes whose working directory is in a folder."""
    processes = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if folder in Path(os.readlink(path / "cwd")).parents:
                processes.append(int(path.name))
        except OSError:
            continue
    return processes


def emulated_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> lh.Emulation:
    """Emulate the scenario with a program, from a new folder."""
    folder.mkdir()
    (folder / "read").write_text("input\n")
    monkeypatch.chdir(folder)
    program = Program.of_shell("two", f"ping -c 2 -i 0.2 server; {COMMAND}")
    return lh.emulate(
        SCENARIO,
        virtual=True,
        foreground=program,
        follow=["initial_rto"],
        max_time_s=MAX_PROCESSOR_S,
    )


def test_a_program_runs_and_its_files_are_copied_to_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    emulation = emulated_in(tmp_path / "folder", monkeypatch)
    printed = capfd.readouterr()
    assert emulation.summary["time"] == "simulated"
    assert emulation.summary["repeatable"] is True
    assert emulation.summary["kernel"] == find_kernel().version
    assert emulation.exit_code == 3
    assert "2 packets transmitted, 2 received" in printed.out
    assert "/folder\ninput\nMon Jan  1 00:01:0" in printed.out
    assert "printed\n" in printed.err
    assert "real time" not in repr(emulation)
    assert emulation.warnings == []
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["new"]
    assert (tmp_path / "folder" / "new").read_text() == "written\n"


@pytest.mark.slow
def test_two_runs_in_two_folders_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    first = emulated_in(tmp_path / "a", monkeypatch)
    printed = capfd.readouterr()
    second = emulated_in(tmp_path / "another folder, with a longer name", monkeypatch)
    assert capfd.readouterr() == printed
    assert first.to_json() == second.to_json()


def test_another_seed_gives_other_random_numbers_at_the_same_start_time() -> None:
    command = ["sh", "-c", "head -c 8 /dev/urandom | od -x; date +%s.%N"]
    outputs = [run(find_kernel(), command, seed=seed).stdout.split() for seed in (1, 2)]
    assert outputs[0][1:5] != outputs[1][1:5]
    assert outputs[0][-1][:12] == outputs[1][-1][:12] == "1704067210.0"


def test_a_program_that_never_sleeps_is_ended(temporary: Path) -> None:
    with pytest.raises(UserError, match=r"has used 2 s of CPU time; the limit is 1\.8 s"):
        run(find_kernel(), ENDLESS, max_processor_s=1.8)
    assert processes_in(temporary) == []
    assert list(temporary.iterdir()) == []


def test_a_killed_caller_leaves_nothing(temporary: Path) -> None:
    script = (
        "import tempfile\n"
        "from lasthop.uml.boot import run\n"
        "from lasthop.uml.kernel import find_kernel\n"
        f"tempfile.tempdir = {str(temporary)!r}\n"
        f"run(find_kernel(), {ENDLESS!r})\n"
    )
    caller = subprocess.Popen([sys.executable, "-c", script])
    until_s = time.monotonic() + MAX_PROCESSOR_S
    while len(processes_in(temporary)) < 2:
        assert time.monotonic() < until_s
        time.sleep(0.02)
    caller.send_signal(signal.SIGKILL)
    caller.wait()
    while processes_in(temporary) or list(temporary.glob(f"{PREFIX}*")):
        assert time.monotonic() < until_s
        time.sleep(0.02)


def remains(temporary: Path) -> tuple[list[int], list[Path], list[str]]:
    """Return the processes and files that a run has left, and all mounts of the host."""
    files = [*temporary.iterdir(), *Path("/dev/shm").glob("vm_file*")]
    return processes_in(temporary), files, Path("/proc/mounts").read_text().splitlines()


@pytest.mark.slow
def test_after_a_kill_at_any_time_the_next_start_removes_all_remains(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(temporary.parent)
    random = Random(int(os.environ.get("SEED", "1")))
    script = (
        "import tempfile, lasthop as lh\n"
        f"tempfile.tempdir = {str(temporary)!r}\n"
        f"lh.emulate({SCENARIO!r}, virtual=True)\n"
    )
    mounts = remains(temporary)[2]
    for _ in range(20):
        caller = subprocess.Popen([sys.executable, "-c", script])
        time.sleep(random.uniform(0.3, 6.0))
        caller.kill()
        caller.wait()
        assert run(find_kernel(), ["true"]).status == 0
        assert remains(temporary) == ([], [], mounts)


def test_a_left_over_folder_is_removed_at_the_next_start(temporary: Path) -> None:
    left_over = temporary / f"{PREFIX}left"
    left_over.mkdir()
    (left_over / "lock").touch()
    ended = run(find_kernel(), ["true"])
    assert isinstance(ended, CommandResult)
    assert not left_over.exists()


def test_modules_next_to_a_relative_path_are_found_and_an_end_without_result_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder's name is not UTF-8. The folder is below /dev/shm, which is another file system
    inside the user-mode Linux.
    """
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with tempfile.TemporaryDirectory(dir="/dev/shm", suffix=os.fsdecode(b"\xff")) as folder:
        monkeypatch.chdir(folder)
        program = Program.of_shell("two", "echo kept > new; rm /exchange/request.pickle")
        assert lh.emulate(SCENARIO, virtual=True, foreground=program).exit_code == 0
        assert Path(folder, "new").read_text() == "kept\n"
        monkeypatch.setattr("lasthop.emulation.virtual.START", "")
        with pytest.raises(UserError, match="has ended without a result"):
            lh.emulate(SCENARIO, virtual=True)


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {"uplink": "eth0", "foreground": Program("two", ["true"])}, "uplink='eth0'"),
        ({"tcp": {"congestion": "compound"}}, {}, "congestion compound: not supported"),
    ],
)
def test_options_that_need_the_internet_or_bpf_are_refused(
    changes: dict[str, object], options: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        lh.emulate({**SCENARIO, **changes}, virtual=True, **options)
