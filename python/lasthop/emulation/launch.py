"""Start a program at a host of the scenario: `launch.py STARTER NAMESPACE NAMES SERVERS COMMAND
...`.

```text
emulate --> launch.py --> first of its processes --> COMMAND --> ...
             waits        reaps; TERM, 2 s, KILL for the rest
```

The program runs in the network namespace of the file descriptor NAMESPACE. For the program,
`/etc/hosts` has the content of the file descriptor NAMES, and `/etc/resolv.conf` has the content of
the file descriptor SERVERS. The program and its children are in a new process namespace. When the
first process of this namespace ends, the kernel kills all other processes in it. If the process
STARTER ends or is killed, launch.py ends. If launch.py ends or is killed, the first process ends.
The terminal sends Ctrl-C to all processes, but only the program handles the signal. This file
imports nothing of lasthop.
"""

import ctypes
import os
import select
import signal
import sys
import time

CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x20000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 0x1000, 0x4000, 0x40000, 2
ASIDE = "/mnt"
"""Directory at which a file system in memory is mounted temporarily, to create files in it. The
file system is unmounted afterwards."""
PR_SET_PDEATHSIG = 1
PATIENCE_S = 2.0
"""Time from SIGTERM to SIGKILL for processes that still run after the program has ended. [s]"""
LEFT_ALONE = (signal.SIGINT, signal.SIGQUIT)
PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
NOT_FOUND, NOT_EXECUTABLE, BY_SIGNAL = 127, 126, 128
"""Exit codes that a shell uses if the command is not found, if it is not executable, and if a
signal ended it. In the last case, the number of the signal is added to 128."""

libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: object) -> None:
    """Call a function of libc, and raise `OSError` if it fails."""
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def end_with_parent() -> None:
    """Make the kernel kill this process when its parent ends.

    The caller must check whether the parent has already ended.
    """
    call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def mount(source: str, target: str, kind: str, flags: int) -> None:
    """Call mount(2), and raise `OSError` if it fails."""
    call("mount", source.encode(), target.encode(), kind.encode(), flags, None)


def code_of(status: int) -> int:
    """Return the exit code of an ended process. If a signal ended the process, return 128 plus the
    number of the signal."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else BY_SIGNAL - code


def run(command: list[str]) -> None:
    """Replace this process by the program (exec)."""
    for each in (*LEFT_ALONE, *PASSED_ON):
        signal.signal(each, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except FileNotFoundError:
        print(f"error: {command[0]}: no such program", file=sys.stderr)
        os._exit(NOT_FOUND)
    except OSError as error:
        print(f"error: {command[0]}: {error.strerror}", file=sys.stderr)
        os._exit(NOT_EXECUTABLE)


def give_names(files: dict[str, bytes]) -> None:
    """Replace `/etc/hosts` and `/etc/resolv.conf` by files in memory."""
    mount("none", ASIDE, "tmpfs", 0)
    for name, content in files.items():
        with open(f"{ASIDE}/{name}", "wb") as file:
            file.write(content)
        if os.path.exists(f"/etc/{name}"):
            mount(f"{ASIDE}/{name}", f"/etc/{name}", "", MS_BIND)
    call("umount2", ASIDE.encode(), MNT_DETACH)


def first(files: dict[str, bytes], command: list[str]) -> int:
    """Run as the first process of the namespace: start the program, and wait until all processes
    have ended. Return the program's exit code."""
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    give_names(files)
    mount("proc", "/proc", "proc", 0)
    program = os.fork()
    if program == 0:
        run(command)
    pass_on(program)
    code = 0
    while True:
        ended, status = os.wait()
        if ended == program:
            code = code_of(status)
            break
    for each in PASSED_ON:
        signal.signal(each, signal.SIG_IGN)
    end_rest()
    return code


def pass_on(process: int) -> None:
    """Forward signals to a process, if the process still exists."""

    def kill(number: int, _: object) -> None:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            return

    for each in PASSED_ON:
        signal.signal(each, kill)


def end_rest() -> None:
    """Send SIGTERM to processes that still run after the program has ended, and wait for at most
    `PATIENCE_S`. The kernel kills the remaining processes when this process ends."""
    until_s = time.monotonic() + PATIENCE_S
    try:
        os.kill(-1, signal.SIGTERM)
        while time.monotonic() < until_s:
            ended, _ = os.waitpid(-1, os.WNOHANG)
            if ended == 0:
                time.sleep(0.01)
    except (ProcessLookupError, ChildProcessError):
        return


def content(descriptor: int) -> bytes:
    """Return the content of the file of this descriptor, and close the descriptor."""
    result = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    os.close(descriptor)
    return result


def main(starter: str, namespace: str, names: str, servers: str, *command: str) -> int:
    """Start the first process of a new process namespace, and return the program's exit code."""
    for each in LEFT_ALONE:
        signal.signal(each, signal.SIG_IGN)
    end_with_parent()
    if os.getppid() != int(starter):
        return BY_SIGNAL + signal.SIGKILL
    call("setns", int(namespace), CLONE_NEWNET)
    os.close(int(namespace))
    files = {"hosts": content(int(names)), "resolv.conf": content(int(servers))}
    call("unshare", CLONE_NEWNS | CLONE_NEWPID)
    lives, held = os.pipe()  # `lives` becomes readable when this process ends
    child = os.fork()
    if child == 0:
        try:
            os.close(held)
            end_with_parent()
            if select.select([lives], [], [], 0)[0]:
                os._exit(BY_SIGNAL + signal.SIGKILL)
            os._exit(first(files, list(command)))
        except OSError as error:
            print(f"error: {error.strerror}", file=sys.stderr)
            os._exit(NOT_EXECUTABLE)
    pass_on(child)
    while True:
        ended, status = os.waitpid(child, 0)
        if ended == child:
            return code_of(status)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
