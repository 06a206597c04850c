"""Commands in user-mode Linux: they run in simulated time, leave no files or processes, and support
queues that a host may lack.
"""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest
import uml

from lasthop.uml.boot import run
from lasthop.uml.kernel import find_kernel

pytestmark = pytest.mark.usefixtures("user_mode")

WAIT_S = 120.0
"""Longest wait for a kernel to start or to end. [s]"""

ENDLESS = ["sh", "-c", "while :; do :; done"]
"""Program that never sleeps, so that the simulated clock stops."""

GATEWAY = """
[gateway]
wan = "wan"
lan = "lan"
rate = "5 Mbps"
discipline = "fq_codel"
station.one = { address = "10.77.1.10" }
"""
LINKS = """
link add wan type veth peer name wan1
link add lan type veth peer name lan1
link set wan up
link set wan1 up
link set lan up
link set lan1 up
"""
QUEUES = """
qdisc add dev wan1 root netem delay 10ms
qdisc add dev lan1 root cake bandwidth 20mbit
"""
CHECKED = """
import subprocess, sys
from lasthop.cli import main

for verb, shown in (("check", None), ("up", "lh-lan"), ("down", "wan")):
    code = main(["gateway", verb, sys.argv[1]])
    if code != 0:
        sys.exit(code)
    if shown is not None:
        sys.stdout.flush()
        subprocess.run(["tc", "qdisc", "show", "dev", shown], check=True)
"""
"""Program that runs several commands of `lasthop` in a single process, because each start of Python
costs one CPU second in user-mode Linux.
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for the exchange between a kernel and its caller, used only by this
    test.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left(directory: Path) -> list[str]:
    """Return the names of a folder's files, and the IDs of kernel processes that work in this
    folder.
    """
    names = [path.name for path in directory.iterdir()]
    for path in Path("/proc").glob("[0-9]*"):
        try:
            working = (path / "cwd").readlink()
        except OSError:  # the process has ended, or belongs to the host
            continue
        if working.is_relative_to(directory):
            names.append(path.name)
    return names


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "inside.py"


def test_a_script_answers_and_its_files_stay_inside(tmp_path: Path, script: Path) -> None:
    script.write_text(
        "import json, os, pathlib, sys, time\n"
        "pathlib.Path(sys.argv[1]).write_text('inside')\n"
        "print('not this line')\n"
        "began_s = time.monotonic()\n"
        "time.sleep(3600)\n"
        "passed_s = round(time.monotonic() - began_s)\n"
        "print(json.dumps([os.uname().release, os.geteuid(), passed_s]))\n"
    )
    written = tmp_path / "written"
    began_s = time.monotonic()
    assert uml.answer(script, str(written)) == [find_kernel().version, 0, 3600]
    assert time.monotonic() - began_s < 3600
    assert not written.exists()


def test_the_output_and_the_status_of_a_command_are_returned() -> None:
    ended = run(find_kernel(), ["sh", "-c", "echo out; echo err >&2; exit 7"])
    assert (ended.status, ended.stdout, ended.stderr) == (7, "out\n", "err\n")


def test_the_error_of_a_script_has_its_output(script: Path) -> None:
    script.write_text("raise SystemExit('no such station')\n")
    with pytest.raises(uml.UmlError, match=r"inside.py exited with 1\n  no such station"):
        uml.answer(script)


def test_a_program_that_never_sleeps_is_ended_and_leaves_nothing(temporary: Path) -> None:
    with pytest.raises(uml.UmlError, match="the limit is 2 s"):
        run(find_kernel(), ENDLESS, max_processor_s=2.0)
    assert left(temporary) == []


def test_a_caller_that_is_killed_leaves_nothing(temporary: Path) -> None:
    child = os.fork()
    if child == 0:
        run(find_kernel(), ENDLESS)
        os._exit(0)
    until_s = time.monotonic() + WAIT_S
    while not any(name.isdigit() for name in left(temporary)):
        assert time.monotonic() < until_s
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while left(temporary):
        assert time.monotonic() < until_s
        time.sleep(0.05)


def test_it_has_queues_and_a_gateway_with_fq_codel_passes_its_check(tmp_path: Path) -> None:
    file, script = tmp_path / "gateway.toml", tmp_path / "inside.py"
    file.write_text(GATEWAY)
    script.write_text(CHECKED)
    commands = [
        f"ip -batch - <<'end'\n{LINKS}end",
        f"tc -batch - <<'end'\n{QUEUES}end",
        f"exec {sys.executable} {script} {file}",
    ]
    ended = run(
        find_kernel(),
        ["sh", "-exc", "\n".join(commands)],
        environment={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert ended.status == 0, ended.stderr
    assert f"{file}: ok" in ended.stdout
    assert "fq_codel" in ended.stdout
    assert "ingress" not in ended.stdout
