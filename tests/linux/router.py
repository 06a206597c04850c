"""A router without Python: a root directory with only busybox, `ip` and `tc`.

The shell `dash` finds programs only in PATH. It therefore finds only the applets below, which are
the default applets of OpenWrt's busybox. Debian's busybox prefers its applets to programs in PATH,
so that shell functions have to hide its `ip` and `tc`. Debian's busybox lacks `flock`, which
OpenWrt's busybox has. The program `flock` of util-linux replaces it.
"""

import os
import re
import shutil
import signal
import stat
import subprocess
from pathlib import Path

from lab import GATEWAY, sh, wait_until

APPLETS = ["awk", "cat", "grep", "id", "kill", "mkdir", "mv", "ping", "rm", "sed", "sh", "sleep"]
PROGRAMS = ("ip", "tc", "dash", "flock")
HIDE = 'ip() { /sbin/ip "$@"; }; tc() { /sbin/tc "$@"; }; . /gateway.sh'
SHELLS = {
    "ash": ["/bin/sh", "-c", HIDE, "/gateway.sh"],
    "dash": ["/sbin/dash", "/gateway.sh"],
}


def why_not() -> str | None:
    """Return why a router without Python cannot run on this machine, or None if it can."""
    missing = [name for name in ("busybox", *PROGRAMS) if shutil.which(name) is None]
    return f"needs {', '.join(missing)} (busybox-static)" if missing else None


class Router:
    """The root directory, and a script that runs in it, in the gateway's namespace."""

    def __init__(self, root: Path, shell: str = "ash") -> None:
        self.root = root
        self.shell = SHELLS[shell]
        for name in ("bin", "sbin", "proc", "dev", "var/run", "tmp"):
            (root / name).mkdir(parents=True)
        os.mknod(root / "dev/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        copy("busybox", root / "bin/busybox")
        for name in APPLETS:
            (root / "bin" / name).symlink_to("busybox")
        for name in PROGRAMS:
            copy(name, root / "sbin" / name)
            for library in re.findall(r"(/\S+) \(", sh(f"ldd {shutil.which(name)}")):
                target = root / library.lstrip("/")
                if not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(library, target)
        self.running: subprocess.Popen[str] | None = None

    def write(self, text: str) -> None:
        """Write the script into the root directory."""
        (self.root / "gateway.sh").write_text(text)

    def replace(self, program: str, text: str) -> None:
        """Replace a program; the original is kept as NAME.real."""
        place = self.root / "sbin" / program
        place.rename(place.with_suffix(".real"))
        place.write_text(text)
        place.chmod(0o755)

    def restore(self, program: str) -> None:
        """Restore the original of a program that was replaced."""
        place = self.root / "sbin" / program
        place.with_suffix(".real").rename(place)

    def command(self, *arguments: str) -> list[str]:
        """Return the command line that runs the script. Its process becomes the script's shell."""
        inside = f'mount -t proc proc {self.root}/proc && exec env -i PATH=/sbin:/bin "$@"'
        chroot = [shutil.which("chroot") or "chroot", str(self.root)]
        start = ["ip", "netns", "exec", GATEWAY, "sh", "-c", inside, "sh"]
        return [*start, *chroot, *self.shell, *arguments]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the script to its end."""
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, check=False, timeout=60
        )

    def start(self) -> None:
        """Start the script, and wait until it is set up.

        A script that was killed has left its mark of having been set up, so the mark must be new.
        """
        old = self.mark()
        with (self.root / "printed").open("w") as log:
            self.running = subprocess.Popen(
                self.command(),
                stderr=log,
                stdout=log,
                text=True,
                stdin=subprocess.DEVNULL,
                preexec_fn=heed_hangup,  # a shell cannot trap signals that are ignored at its start
            )
        running = self.running

        def is_up() -> bool:
            assert running.poll() is None, self.printed()
            return self.mark() not in (None, old)

        wait_until(is_up, "setting up")

    @property
    def state(self) -> Path:
        """Return the directory of the script's state."""
        states = [*(self.root / "var/run").glob("lasthop-*")]
        return states[0] if len(states) == 1 else self.root / "var/run/lasthop-lan"

    def mark(self) -> tuple[int, int] | None:
        """Return inode and time of the file that the script writes when it is set up."""
        try:
            found = (self.state / "up").stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns

    def printed(self) -> str:
        """Return all output of the script."""
        return (self.root / "printed").read_text()

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, wait for the end, and return the exit status."""
        assert self.running is not None
        self.running.send_signal(number)
        return self.running.wait(30)

    def processor_s(self) -> float:
        """Return the CPU time of the script and of the processes for which it has waited. [s]"""
        assert self.running is not None
        fields = Path(f"/proc/{self.running.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the script if it is running, and undo its remaining changes."""
        if self.running is not None and self.running.poll() is None:
            self.running.kill()
            self.running.wait()
        if (self.root / "gateway.sh").exists():
            self.run("stop")


def heed_hangup() -> None:
    """Restore the default action of SIGHUP, which a terminal of the tests may have changed."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def copy(name: str, to: Path) -> None:
    """Copy a program."""
    program = shutil.which(name)
    assert program is not None
    shutil.copy(program, to)
