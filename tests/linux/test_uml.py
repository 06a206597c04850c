"""Commands in user-mode Linux: they run, leave nothing, and have queues that a host may lack."""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest
import uml

pytestmark = pytest.mark.usefixtures("user_mode")

DEADLINE_S = 120.0
"""A boot takes two seconds on an idle machine. [s]"""

ENDLESS = ["sh", "-c", "while :; do :; done"]
"""No sleep: in a kernel with a time of its own that would be over at once."""

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
"""Program that runs commands of `lasthop` in a single process. Each start costs one CPU second
inside."""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for what a kernel and its caller tell each other, of this test alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left(directory: Path) -> list[str]:
    """Processes of kernels that talk through a directory, and what is in it."""
    found = [path.name for path in directory.iterdir()]
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if f"uml_dir={directory}".encode() in command:
            found.append(path.name)
    return found


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "inside.py"


def test_a_script_answers_and_what_it_writes_stays_inside(tmp_path: Path, script: Path) -> None:
    script.write_text(
        "import json, os, pathlib, sys\n"
        "pathlib.Path(sys.argv[1]).write_text('inside')\n"
        "print('not this line')\n"
        "print(json.dumps({'machine': os.uname().release, 'root': os.geteuid() == 0}))\n"
    )
    written = tmp_path / "written"
    found = uml.answer(script, str(written), deadline_s=DEADLINE_S)
    kernel = uml.kernel()
    assert kernel is not None
    assert found == {"machine": kernel.version, "root": True}
    assert not written.exists()


def test_what_a_command_says_and_its_status_come_out() -> None:
    ended = uml.run(["sh", "-c", "echo out; echo err >&2; exit 7"], deadline_s=DEADLINE_S)
    assert (ended.status, ended.stdout, ended.stderr) == (7, "out\n", "err\n")


def test_a_script_that_fails_is_told_with_what_it_said(script: Path) -> None:
    script.write_text("raise SystemExit('no such station')\n")
    with pytest.raises(uml.UmlError, match=r"inside.py exited with 1\n  no such station"):
        uml.answer(script, deadline_s=DEADLINE_S)


def test_what_is_not_done_in_time_is_killed_and_leaves_nothing(temporary: Path) -> None:
    began = time.monotonic()
    with pytest.raises(uml.UmlError, match="not done after"):
        uml.run(ENDLESS, deadline_s=6)
    assert time.monotonic() - began < DEADLINE_S
    assert left(temporary) == []


def test_a_caller_that_is_killed_leaves_nothing(temporary: Path) -> None:
    child = os.fork()
    if child == 0:
        uml.run(ENDLESS, deadline_s=DEADLINE_S)
        os._exit(0)
    deadline = time.monotonic() + DEADLINE_S
    while len(left(temporary)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while left(temporary):
        assert time.monotonic() < deadline
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
    ended = uml.run(
        ["sh", "-exc", "\n".join(commands)],
        deadline_s=DEADLINE_S,
        environment={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert ended.status == 0, ended.stderr
    assert f"{file}: ok" in ended.stdout
    assert "fq_codel" in ended.stdout
    assert "ingress" not in ended.stdout
