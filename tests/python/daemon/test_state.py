"""The state directory of a service: owner, permissions, and reading without changes."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from lasthop.daemon import state
from lasthop.daemon.control import Control
from lasthop.daemon.log import LogFile
from lasthop.daemon.state import State, in_use, state_of
from lasthop.enforce.gateway import config
from lasthop.errors import UserError
from lasthop.linux import identity
from lasthop.linux.identity import Identity, identity_of, own_identity

GATEWAY = config.read('[gateway]\nwan = "eth0"\nlan = "eth1"\n')
RECORD = {"kind": "link", "name": "lh-eth1"}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the default directory of states, as seen by a thread in the first network
    namespace.
    """
    monkeypatch.setattr(state, "RUN", tmp_path / "run/lasthop")
    monkeypatch.setattr(state, "is_first", lambda: True)
    return tmp_path / "run/lasthop"


@pytest.fixture
def umask() -> Iterator[None]:
    """Set the most permissive umask."""
    before = os.umask(0)
    yield
    os.umask(before)


def killed(directory: Path, identity: Identity | None = None) -> State:
    """Return the state of a killed process, in this network namespace or another."""
    left = State(directory)
    left.make()
    assert left.take()
    left.begin(Path("/etc/lasthop/cafe.toml"), "gateway")
    if identity is not None:
        left.write(state.NAMESPACE, str(identity))
    left.log.add(RECORD)
    left.release()
    return left


def test_a_relative_directory_does_not_depend_on_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = State(Path("state"))
    monkeypatch.chdir("/")
    assert here.directory == tmp_path / "state"
    assert here.log.path == tmp_path / "state/undo.log"


@pytest.mark.usefixtures("umask")
def test_other_users_cannot_read_the_state_with_any_umask(run: Path) -> None:
    ours = state_of("eth1", None)
    ours.make()
    assert ours.take()
    ours.begin(Path("cafe.toml"), "gateway")
    ours.log.add(RECORD)
    log = "from pathlib import Path; from lasthop.daemon.log import LogFile"
    command = f"import os; os.umask(0); {log}; LogFile(Path({str(ours.directory / 'log')!r}))"
    subprocess.run([sys.executable, "-c", command], check=True)
    with ExitStack() as stack:
        Control(ours, None, config.read).open(stack)
        rights = {path.name: stat.S_IMODE(path.stat().st_mode) for path in run.rglob("*")}
    ours.release()
    files = ("lock", "file", "namespace", "sort", "sort", "undo.log", "log", "control")
    assert rights == {"eth1": 0o700} | dict.fromkeys(files, 0o600)
    assert stat.S_IMODE(run.stat().st_mode) == 0o700


@pytest.mark.usefixtures("umask")
def test_a_directory_chosen_by_the_user_keeps_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(0o750)
    for name, rights in (("own", 0o750), ("new", 0o700)):
        State(tmp_path / name).make()
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == rights


def test_looking_whether_the_lock_is_held_writes_nothing(tmp_path: Path) -> None:
    first, other = State(tmp_path), State(tmp_path)
    assert not first.is_held()
    assert not first.is_in_use()
    assert list(tmp_path.iterdir()) == []
    assert first.take()
    assert other.is_held()
    assert not other.take()
    assert not other.take_to_undo()
    first.release()
    assert not other.is_held()
    assert other.take_to_undo()
    other.release()


def test_a_namespace_is_identified_by_number_cookie_and_start() -> None:
    own = Identity(5, 7, "a")
    assert own.whose(own) == "ours"
    # The cookie 0 means that the kernel does not support cookies of namespaces.
    assert Identity(5, 0, "a").whose(own) == "ours"
    # Another cookie means that the namespace has ended, and that its number was reused.
    assert Identity(5, 8, "a").whose(own) == "gone"
    assert Identity(6, 7, "b").whose(own) == "gone"
    assert Identity(6, 9, "a").whose(own) == "another's"
    assert identity_of(str(own)) == own
    for text in ("", "5 7", "x 7 a", "5 7 a b"):
        assert identity_of(text) is None
    identity = own_identity()
    assert (identity.number, identity) == (os.stat("/proc/self/ns/net").st_ino, own_identity())


def test_recognising_the_first_namespace_needs_no_privileges(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The namespace of process 1 cannot be read if process 1 has more privileges than the test. In
    this case the settings of the kernel show whether this namespace is the first.
    """
    real = os.stat

    def refuse(path: object, **more: object) -> os.stat_result:
        if str(path) == "/proc/1/ns/net":
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, **more)

    monkeypatch.setattr(identity.os, "stat", refuse)
    for file in (tmp_path, tmp_path / "none"):
        monkeypatch.setattr(identity, "FIRST_ALONE", file)
        assert identity.is_first() == (file == tmp_path)


def test_another_namespace_has_another_directory(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = own_identity().number
    assert state_of("eth1", None).directory == run / "eth1"
    monkeypatch.setattr(state, "is_first", lambda: False)
    assert state_of("eth1", None).directory == run / f"eth1@{number}"
    # If the state of this namespace is in a directory of another name, this directory is used.
    killed(run / "eth1")
    assert state_of("eth1", None).directory == run / "eth1"


def test_state_of_another_namespace_is_not_ours(run: Path) -> None:
    own = own_identity()
    theirs = killed(run / "eth1", own._replace(number=own.number + 1))
    mine = killed(run / "eth2")
    states = in_use("gateway")
    assert [each.directory for each in states.here] == [mine.directory]
    assert [each.directory for each in states.elsewhere] == [theirs.directory]
    # A state of another namespace uses the name, so that this namespace gets another directory.
    apart = state_of("eth1", None)
    assert apart.directory == run / f"eth1@{own.number}"
    assert theirs.take()
    message = f"the remaining state is of another network namespace, number {own.number + 1}"
    with pytest.raises(UserError, match=message):
        theirs.begin(None, "gateway")
    theirs.release()
    assert theirs.log.records() == [RECORD]


def test_state_of_a_deleted_namespace_is_forgotten(run: Path) -> None:
    own = own_identity()
    for k, gone in enumerate((own._replace(cookie=own.cookie + 1), own._replace(boot="before"))):
        if gone.cookie and own.cookie:
            left = killed(run / f"eth{k}", gone)
            assert in_use("gateway") == ([], [], [])
            assert not left.is_in_use()
            assert left.take()
            left.begin(None, "gateway")
            left.release()
            assert left.log.records() == []
            assert left.whose() == "ours"


def test_faults_of_a_path_are_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for act in (State.make, State.take):
        with pytest.raises(UserError, match=rf"{tmp_path}/file.*: (File exists|Not a directory)$"):
            act(State(tmp_path / "file"))
    assert not State(tmp_path / "file").exists
    assert not State(tmp_path / "file").is_held()
    with pytest.raises(UserError, match=r"none/lock: No such file or directory$"):
        State(tmp_path / "none").take()


def test_symbolic_links_are_refused(run: Path, tmp_path: Path) -> None:
    """The user of a service must not make root write to files that this user cannot write."""
    (tmp_path / "precious").write_text("x")
    ours = State(run / "eth1")
    ours.make()
    for name in ("lock", "file", "namespace", "sort", "undo.log"):
        (ours.directory / name).symlink_to(tmp_path / "precious")
    with pytest.raises(UserError, match="lock: Too many levels of symbolic links"):
        ours.take()
    with pytest.raises(UserError, match="file: Too many levels of symbolic links"):
        ours.write_file(None)
    with pytest.raises(UserError, match=r"undo.log: Too many levels of symbolic links"):
        ours.log.add(RECORD)
    for name in ("lock", "file", "namespace", "sort", "undo.log"):
        (ours.directory / name).unlink()
        (ours.directory / name).hardlink_to(tmp_path / "precious")
    (ours.directory / "log").hardlink_to(tmp_path / "precious")
    rights = (tmp_path / "precious").stat().st_mode
    for write in (
        ours.take,
        lambda: ours.write_file(None),
        lambda: ours.log.add(RECORD),
        lambda: LogFile(ours.directory / "log"),
    ):
        with pytest.raises(UserError, match="it is a hard link to another file"):
            write()
    assert (tmp_path / "precious").stat().st_mode == rights
    (run / "eth2").symlink_to(tmp_path)
    with pytest.raises(UserError, match="eth2: it is a symbolic link"):
        State(run / "eth2").make()
    assert (tmp_path / "precious").read_text() == "x"
