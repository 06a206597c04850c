"""Ctrl-C at any line of the code that starts a command: lasthop prints one line and exits with code
130.
"""

import subprocess
import sys
from pathlib import Path

from ..conftest import EXAMPLES

LAUNCHER = """
import os, signal, sys

BEFORE, STEP = signal.getsignal(signal.SIGINT), 197
lines = tried = 0
forked = False

def interrupted(where):
    "Fork a process that is interrupted here, and hold its exit code and its output to the rule."
    global forked
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        forked = True
        sys.settrace(None)
        os.dup2(writer, 2)
        os.kill(os.getpid(), signal.SIGINT)
        return
    os.close(writer)
    with open(reader) as output:
        printed = output.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if (code, printed) != (130, "error: interrupted\\n"):
        print(f"{where}: exit code {code}, {printed!r}")

def trace(frame, event, arg):
    global lines, tried
    if "/lasthop/" not in frame.f_code.co_filename:
        return None
    if event == "line" and (lines or signal.getsignal(signal.SIGINT) is not BEFORE):
        lines += 1
        if (lines - 1) % STEP == 0:
            tried += 1
            interrupted(f"{frame.f_code.co_filename}:{frame.f_lineno}")
    return trace

sys.settrace(trace)
from lasthop.cli import main
code = main()
sys.settrace(None)
if not forked:
    print(f"{tried} places")
sys.exit(code)
"""


def test_ctrl_c_prints_one_line_wherever_the_start_is_interrupted(tmp_path: Path) -> None:
    launcher = tmp_path / "lasthop"
    launcher.write_text(LAUNCHER)
    done = subprocess.run(
        [sys.executable, launcher, "check", EXAMPLES / "hotspot.toml"],
        capture_output=True,
        text=True,
        check=False,
    )
    *wrong, places = done.stdout.replace(f"{EXAMPLES}", "examples").splitlines()
    assert done.returncode == 0, done.stderr
    known = ("examples/hotspot.toml: ok", "  tcp: ")
    assert [line for line in wrong if not line.startswith(known)] == []
    assert int(places.split()[0]) > 10


IN_A_DESTRUCTOR = """
import signal, time
from lasthop.progress.interruption import exit_quietly, raise_interrupt

class Interrupted:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

class Wrong:
    def __del__(self):
        raise ValueError("wrong")

exit_quietly()
raise_interrupt()
one = Wrong()
del one
one = Interrupted()
try:
    del one
    time.sleep(20)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_in_a_destructor_has_an_effect() -> None:
    """Python prints and ignores exceptions of a destructor, so the interrupt must be repeated."""
    done = subprocess.run(
        [sys.executable, "-c", IN_A_DESTRUCTOR], capture_output=True, text=True, check=False
    )
    assert done.stdout == "interrupted\n"
    assert "ValueError: wrong" in done.stderr
    assert "KeyboardInterrupt" not in done.stderr
