"""Directory of a gateway's state: files that move or become invalid, other namespaces, other
users.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from another_user import USER, become
from commands import lasthop
from lab import (
    GATEWAY,
    STATIONS,
    Lab,
    entered,
    gateway_text,
    leftovers,
    number_of,
    process_of,
    sh,
    station_v4,
    wait_until,
)
from lasthop.daemon.state import State
from lasthop.errors import AS_ROOT
from traffic import transfers

LASTHOP = Path(sys.executable).with_name("lasthop")
UNIT = Path(__file__).parents[2] / "python/lasthop/enforce/gateway/share/lasthop-gateway@.service"
LEAVES = "leaf queues: pfifo, set by `gateway.discipline`"
BROKEN = (None, "[gateway\n", "[gateway]\nwan = 'wan'\nlan = 'lan'\nno_such = 1\n", "")
"""Files that cannot be read: missing, not TOML, with an unknown key, and without a gateway."""


class Commands:
    """`lasthop gateway` with a private /run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = directory / "cafe.toml"
        self.run = directory / "run"
        self.run.mkdir()

    def state(self, namespace: str = GATEWAY) -> State:
        return State(self.run / f"lasthop/lan@{number_of(namespace)}")

    def write(self, text: str | None) -> None:
        self.file.unlink(missing_ok=True)
        if text is not None:
            self.file.write_text(text)

    def __call__(
        self,
        verb: str,
        *options: str | Path,
        file: str | Path | None = None,
        namespace: str = GATEWAY,
        before: str = "",
        user: Callable[[], None] | None = None,
        under: Sequence[str] = (),
    ) -> tuple[int, str]:
        """Run a command; return its exit code, and its standard output followed by standard error.

        First, the script `before` is run in a new mount namespace. Then the function `user` is
        called, which may change the process to another user. If `under` is empty, the command runs
        in a fork. If `under` is not empty, its words are put before the command line of `lasthop`,
        which is started as a new program. An example is `setpriv` with its options.
        """
        command = ["gateway", verb, file or self.file, *options]
        mounts = f"mount --bind {self.run} /run; {before or ':'}"
        if not under:
            return lasthop(
                *command,
                namespace=namespace,
                mounts=mounts,
                before=user,
                directory=self.directory,
            )
        words = ["sh", "-ec", f'{mounts}; exec "$@"', "sh", *under, str(LASTHOP), *command]
        with entered(namespace):
            done = subprocess.run(
                ["unshare", "-m", *map(str, words)],
                cwd=self.directory,
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab(stations=3, rate_bps=None) as lab:
        yield lab


@pytest.fixture
def commands(lab: Lab) -> Iterator[Commands]:
    with TemporaryDirectory() as directory:  # pytest's folders do not admit other users
        Path(directory).chmod(0o755)
        commands = Commands(Path(directory))
        commands.write(gateway_text(2))
        yield commands
        commands.write(gateway_text(2))
        assert commands("down")[0] == 0
        with entered(GATEWAY):
            assert leftovers() == []


def test_a_relative_file_is_the_same_after_up(commands: Commands) -> None:
    code, printed = commands("up", file="cafe.toml")
    assert code == 0, printed
    assert commands.state().file() == commands.file
    commands.write(gateway_text(3))
    number = process_of(printed)
    os.kill(number, signal.SIGHUP)

    def members() -> int:
        return len((commands.state().ask({"do": "status"}) or {"stations": ()})["stations"])

    wait_until(lambda: members() == 3, "the file is read anew")
    assert commands("up", file="cafe.toml") == (
        0,
        f"process {number} continues with cafe.toml; {LEAVES}\n",
    )
    assert commands("down", file="./cafe.toml") == (0, "down\n")


def test_a_relative_state_is_the_same_after_up(commands: Commands) -> None:
    code, printed = commands("up", "--state", "here")
    assert code == 0, printed
    names = {path.name for path in (commands.directory / "here").iterdir()}
    assert names == {"lock", "file", "namespace", "sort", "undo.log", "control", "log"}
    assert station_v4(0) in commands("status", "--state", "here")[1]
    assert commands("down", "--state", "./here") == (0, "down\n")


def test_status_and_down_need_no_valid_file(commands: Commands) -> None:
    commands("up")
    link = commands.directory / "link.toml"
    link.symlink_to(commands.file)
    for broken in BROKEN:
        commands.write(broken)
        code, printed = commands("status", file=commands.file if broken is None else link)
        assert (code, station_v4(0) in printed) == (0, True), printed
    assert commands("down") == (0, "down\n")
    # if no gateway is up, a command without --state finds no gateway
    code, printed = commands("down")
    assert (code, printed.startswith("error: ")) == (2, True), printed
    for verb, answer in (("status", "the gateway is not up\n"), ("down", "nothing is up\n")):
        assert commands(verb, "--state", commands.state().directory) == (0, answer)


def test_a_killed_gateway_is_undone_with_a_broken_file(commands: Commands) -> None:
    _, printed = commands("up")
    os.kill(process_of(printed), signal.SIGKILL)
    wait_until(lambda: not commands.state().is_held(), "the end of the process")
    commands.write("[gateway\n")
    assert commands("status")[1] == (
        "the gateway is not up; a killed process left 2 changes, "
        "which `lasthop gateway down` reverts\n"
    )
    assert commands("down") == (0, "reverted 2 changes of a process that was killed\n")


def test_status_and_down_work_where_nothing_may_be_written(commands: Commands) -> None:
    """`status` does not write. `down` ends the process, and reports the actions that failed."""
    commands("up")
    here = commands.state().directory
    read_only = f"mount --bind {here} {here}; mount -o remount,bind,ro {here}"
    read_only = read_only.replace(str(commands.run), "/run")
    code, printed = commands("status", before=read_only)
    assert (code, station_v4(0) in printed) == (0, True), printed
    # the gateway's process has a writable file system, and undoes its changes when it ends
    assert commands("down", before=read_only) == (0, "down\n")
    assert commands("status", before=read_only) == (0, "the gateway is not up\n")
    assert commands("down", before=read_only) == (0, "nothing is up\n")
    code, printed = commands("up", before=read_only)
    assert (code, printed) == (2, f"error: /run/lasthop/{here.name}/lock: Read-only file system\n")
    _, printed = commands("up")
    os.kill(process_of(printed), signal.SIGKILL)
    wait_until(lambda: not commands.state().is_held(), "the end of the process")
    code, printed = commands("down", before=read_only)
    assert (code, printed) == (
        2,
        f"error: /run/lasthop/{here.name}/undo.log: Read-only file system\n"
        "hint: all listed changes are reverted; only the file remains\n",
    )
    with entered(GATEWAY):
        assert leftovers() == []
    assert commands("down") == (0, "reverted 2 changes of a process that was killed\n")


@pytest.fixture
def twin(commands: Commands) -> Iterator[str]:
    """Yield another namespace, whose interfaces have the same names as those of the gateway."""
    sh(f"ip -n {STATIONS} link add lan type veth peer name lan2")
    sh(f"ip -n {STATIONS} link add wan type veth peer name wan2")
    yield STATIONS
    code, printed = commands("down", namespace=STATIONS)
    sh(f"ip -n {STATIONS} link del lan; ip -n {STATIONS} link del wan")
    assert code == 0, printed


def test_two_namespaces_may_have_the_same_interfaces(commands: Commands, twin: str) -> None:
    own_name, twin_name = (commands.state(each).directory.name for each in (GATEWAY, twin))
    code, printed = commands("up", namespace=twin)
    assert code == 0, printed
    another = f"/run/lasthop/{twin_name} is of another network namespace, number {number_of(twin)}"
    assert commands("status") == (0, f"the gateway is not up; {another}\n")
    assert commands("down") == (0, f"nothing is up; {another}\n")
    commands.write("[gateway\n")
    code, printed = commands("down")
    number = commands.state(twin).read("lock").strip()
    assert (code, printed) == (
        2,
        f"error: {commands.file}: {another}\n"
        f"hint: enter it by nsenter --net=/proc/{number}/ns/net\n",
    )
    commands.write(gateway_text(2))
    code, printed = commands("up")
    assert (code, printed.startswith("up, process ")) == (0, True), printed
    assert {path.name for path in (commands.run / "lasthop").iterdir()} == {own_name, twin_name}
    assert transfers(station_v4(0))
    assert commands("down", namespace=twin) == (0, "down\n")
    code, printed = commands("status")
    assert (code, station_v4(0) in printed) == (0, True), printed
    # with --state the gateway can be queried and ended from anywhere, but not replaced
    directory = f"/run/lasthop/{own_name}"
    code, printed = commands("up", "--state", directory, namespace=twin)
    assert (code, "error: /run/lasthop/" in printed) == (2, True), printed
    assert "the gateway is of another network namespace" in printed
    assert commands("down", "--state", directory, namespace=twin) == (0, "down\n")


def test_remains_are_undone_in_their_own_namespace_only(commands: Commands, twin: str) -> None:
    _, printed = commands("up")
    os.kill(process_of(printed), signal.SIGKILL)
    wait_until(lambda: not commands.state().is_held(), "the end of the process")
    directory = f"/run/lasthop/{commands.state().directory.name}"
    for verb in ("down", "up", "run"):
        code, printed = commands(verb, "--state", directory, namespace=twin)
        assert code == 2
        assert f"{directory}: the remaining state is of another network namespace" in printed
    with entered(GATEWAY):
        assert len(leftovers()) == 3
    assert commands("down") == (0, "reverted 2 changes of a process that was killed\n")


def test_remains_of_a_namespace_are_not_undone_in_another_of_the_same_number(
    commands: Commands,
) -> None:
    """The log contains changes in an earlier namespace with the same number. `down` does not undo
    these changes in the present namespace. Otherwise `down` would turn GRO on there.
    """
    _, printed = commands("up")
    os.kill(process_of(printed), signal.SIGKILL)
    wait_until(lambda: not commands.state().is_held(), "the end of the process")
    state, (number, cookie, boot) = commands.state(), commands.state().read("namespace").split()
    state.write("namespace", f"{number} {int(cookie) + 1} {boot}")
    assert commands("status") == (0, "the gateway is not up\n")
    with entered(GATEWAY):
        assert len(leftovers()) == 3
    assert commands("down") == (
        0,
        "removed 2 changes from the log, whose network namespace no longer exists\n",
    )
    with entered(GATEWAY):
        assert len(leftovers()) == 3  # the test itself has made these objects
        sh("ip link del lh-lan; tc qdisc del dev lan clsact")


def as_user(capabilities: Sequence[str]) -> list[str]:
    """Return the start of a command line: `setpriv` with the options that run a program as another
    user with these capabilities.
    """
    sets = [
        f"--{kind}=-all{''.join(f',+{name}' for name in capabilities)}"
        for kind in ("bounding-set", "inh-caps", "ambient-caps")
    ]
    who = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs"]
    return ["setpriv", *who, *sets]


def become_unit_user() -> None:
    """Become another user with the capabilities that the gateway's systemd unit has."""
    become(("net_admin", "net_raw"))


@pytest.fixture
def sandbox(commands: Commands) -> str:
    """Return shell commands that restrict the file system like the sandbox of the systemd unit.
    Only /run/lasthop, which belongs to another user, is writable.
    """
    (commands.run / "lasthop").mkdir(mode=0o700)
    os.chown(commands.run / "lasthop", USER, USER)
    own = "mount --bind /run/lasthop /run/lasthop"
    closed = "mount -o remount,bind,ro /; mount -o remount,bind,ro /run"
    return f"{own}; {closed}; mount -t proc -o hidepid=invisible proc /proc; umask 0077"


def test_the_unit_has_the_rights_that_every_command_needs(commands: Commands, sandbox: str) -> None:
    text = UNIT.read_text("utf-8")
    assert "\nUser=lasthop\n" in text
    capabilities = "CAP_NET_ADMIN CAP_NET_RAW CAP_BPF"
    for key in ("CapabilityBoundingSet", "AmbientCapabilities"):
        assert f"\n{key}={capabilities}\n" in text
    names = [each.lower()[4:] for each in capabilities.split()]

    def act(verb: str) -> tuple[int, str]:
        return commands(verb, before=sandbox, user=lambda: become(names))

    code, printed = commands("check", before=sandbox, under=as_user(names))
    ok = f"{commands.file}: ok: cafe: 1 access point, 2 stations; {LEAVES}\n"
    assert (code, printed) == (0, f"{ok}lan: 1 MAC address\n")
    code, printed = commands("up", before=sandbox, under=as_user(names))
    assert code == 0, printed
    assert transfers(station_v4(0))
    owners = {path.stat().st_uid for path in commands.state().directory.iterdir()}
    assert owners == {USER}
    assert station_v4(0) in act("status")[1]
    # root can also query and end this gateway; files that root writes belong to the gateway's user
    assert station_v4(0) in commands("status")[1]
    assert commands("down") == (0, "down\n")
    code, printed = commands("up")
    assert code == 0, printed
    assert commands("down") == (0, "down\n")
    code, printed = act("up")
    assert code == 0, printed
    assert act("down") == (0, "down\n")


@pytest.mark.parametrize(
    ("capabilities", "lacks"),
    [((), "CAP_NET_ADMIN"), (("net_raw",), "CAP_NET_ADMIN"), (("net_admin",), "CAP_NET_RAW")],
    ids=["none", "raw", "admin"],
)
def test_a_right_that_is_missing_is_named(
    commands: Commands, sandbox: str, capabilities: Sequence[str], lacks: str
) -> None:
    def user() -> None:
        become(capabilities)

    code, printed = commands("check", before=sandbox, user=user)
    assert (code, printed.splitlines()[1:]) == (
        0,
        [f"warning: this machine was not tested: this needs {lacks}, which root has"],
    )
    verb = "run" if capabilities else "up"
    assert commands(verb, before=sandbox, user=user) == (
        2,
        f"error: network: this process has no {lacks}\nhint: {AS_ROOT}\n",
    )


def test_files_of_another_user_are_reported_in_a_line(commands: Commands) -> None:
    commands("up")
    for verb in ("check", "up", "status", "down"):
        code, printed = commands(verb, user=become_unit_user)
        assert code == 2, verb
        assert printed.splitlines()[0].startswith("error: /run/lasthop"), printed
        assert printed.splitlines()[0].endswith(": Permission denied"), printed
        assert printed.splitlines()[1:] == [f"hint: {AS_ROOT}"]
    # the directory may be read, but its lock and its socket may not be opened
    (commands.run / "lasthop").chmod(0o755)
    commands.state().directory.chmod(0o755)
    for verb in ("status", "down"):
        code, printed = commands(verb, user=become_unit_user)
        assert (code, printed) == (
            2,
            f"error: /run/lasthop/{commands.state().directory.name}/lock: Permission denied\n"
            f"hint: {AS_ROOT}\n",
        )
    commands.state().directory.joinpath("lock").chmod(0o644)
    code, printed = commands("status", user=become_unit_user)
    assert printed.endswith(f"/control: Permission denied\nhint: {AS_ROOT}\n"), printed


def test_a_missing_or_read_only_directory_is_reported_to_its_user(
    commands: Commands, sandbox: str
) -> None:
    shutil.rmtree(commands.run / "lasthop")
    code, printed = commands("up", user=become_unit_user)
    name = commands.state().directory.name
    assert (code, printed) == (
        2,
        f"error: /run/lasthop/{name}: Permission denied\nhint: {AS_ROOT}\n",
    )
    assert commands("status", user=become_unit_user) == (0, "the gateway is not up\n")
    code, printed = commands("up", "--state", "/proc/none", user=become_unit_user)
    assert (code, printed.splitlines()[0].startswith("error: /proc/none: ")) == (2, True), printed
