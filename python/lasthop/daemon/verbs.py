"""Commands that all kinds of services support: up, down, status, run."""

import errno
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from lasthop.daemon.configuration import Settings, Wanted
from lasthop.daemon.kernel_state import undo_everything
from lasthop.daemon.log import LogFile, say
from lasthop.daemon.service_kind import ServiceContext, ServiceKind, Show
from lasthop.daemon.state import PATIENCE_S, State, absolute, in_use, state_of
from lasthop.errors import UserError
from lasthop.linux import rights


def standing(
    kind: ServiceKind[Wanted], file: str, settings: Settings, directory: Path | None
) -> State:
    """Return the state directory of the service that was set up from a configuration file. In the
    meantime the file may have become invalid, may have been removed, or may name another interface.

    Raises
    ------
    UserError
        If the file is invalid, and the state directories do not show which service belongs to the
        file.
    """
    if directory is not None:
        return State(directory)
    own, wrong = None, None
    try:
        wanted = kind.read(Path(file) if file not in ("", "-") else file, settings)
    except UserError as error:
        wrong = error
    else:
        own = state_of(kind.interface(wanted), None)
        if own.is_in_use() and own.word() == kind.word:
            return own
    result = in_use(kind.word)
    same = of_file(result.here, file)
    if len(same) == 1:
        return same[0]
    text = (
        f"{file}: the {kind.word} is up more than once"
        if wrong is None
        else str(wrong).splitlines()[0]
    )
    if result.here and (same or wrong is not None):
        where = " or ".join(str(state.directory) for state in same or result.here)
        raise UserError(
            text,
            f"run `lasthop {kind.word} down {file} --state DIR`, where DIR is {where}",
        )
    if wrong is not None and (others := of_file(result.elsewhere, file)):
        raise UserError(f"{file}: {others[0].directory} is {others[0].where()}", others[0].way())
    if wrong is not None and result.hidden:
        raise UserError(f"{text}; the file of a running {kind.word} is unknown: {result.hidden[0]}")
    if wrong is not None or own is None:
        raise wrong or UserError(f"{file}: no gateway or queue of this file is known")
    return own


def of_file(states: Sequence[State], file: str) -> list[State]:
    """Return the state directories of the services that use this configuration file. A file is
    recognised under any of its names, such as a symbolic link."""
    path = whole_path(file)
    return [state for state in states if path is not None and is_same(state.file(), path)]


def is_same(path: Path | None, other: Path) -> bool:
    """Return whether two paths are the same file. If a file was removed, only the paths are
    compared.
    """
    try:
        return path is not None and (path == other or path.samefile(other))
    except OSError:
        return False


def whole_path(file: str) -> Path | None:
    """Return the absolute path of the configuration file; None for standard input."""
    return absolute(Path(file)) if file != "-" else None


def elsewhere(kind: ServiceKind[Wanted], file: str, state: State) -> list[str]:
    """Return messages about services in other network namespaces that use the same configuration
    file, or whose state directory has the same name."""
    others = in_use(kind.word).elsewhere
    usual = state.directory.name.partition("@")[0]
    meant = [each for each in others if each.directory.name.partition("@")[0] == usual]
    meant += [each for each in of_file(others, file) if each not in meant]
    return [f"{each.directory} is {each.where()}" for each in meant]


def refuse_elsewhere(kind: ServiceKind[Wanted], file: str, state: State) -> None:
    """Raise `UserError` if a service of this configuration file is already up under another state
    directory, or if the state directory belongs to another kind of service.
    """
    for other in of_file(in_use(kind.word).here, file):
        if other.directory != state.directory:
            raise UserError(
                f"{file}: the {kind.word} of this file is already up, under {other.directory}",
                f"end it by `lasthop {kind.word} down {file} --state {other.directory}`",
            )
    if is_of_another_kind(kind, state):
        word, whose = state.word(), state.file() or "FILE"
        raise UserError(
            f"{state.directory}: a {word} of this directory is already up ({state.holder()})",
            f"end it by `lasthop {word} down {whose}`",
        )


def is_of_another_kind(kind: ServiceKind[Wanted], state: State) -> bool:
    """Return whether the service of a state directory is of another kind."""
    return state.is_in_use() and state.word() != kind.word


class NotUp(NamedTuple):
    """Status of a service that is not up."""

    left: int
    """Number of changes in the kernel that a killed process has left."""
    elsewhere: list[str]
    """Messages about services in other network namespaces that the user may have meant."""


def status(
    kind: ServiceKind[Wanted], file: str, settings: Settings, directory: Path | None
) -> dict[str, Any] | NotUp:
    """Return the status that the running process reports, or `NotUp` if no process runs."""
    state = standing(kind, file, settings, directory)
    if is_of_another_kind(kind, state):
        return NotUp(0, [])
    if state.is_held():
        return state.answer({"do": "status"})
    left = len(state.log.records()) if state.exists and state.whose() != "gone" else 0
    return NotUp(left, elsewhere(kind, file, state) if directory is None and not left else [])


def prepared(kind: ServiceKind[Wanted], file: str, wanted: Wanted, directory: Path | None) -> State:
    """Return the state directory for a service that is to be set up. Raise `UserError` for every
    failure that can be foreseen.
    """
    rights.refuse_to_lack()
    state = state_of(kind.interface(wanted), directory)
    refuse_elsewhere(kind, file, state)
    if not state.is_held():
        kind.refuse(wanted, state, False)
    state.make()
    return state


def up(
    kind: ServiceKind[Wanted], file: str, wanted: Wanted, settings: Settings, directory: Path | None
) -> str:
    """Set up the service in the background. Return a message with the result.

    A service that is already up applies the configuration file. If the service refuses the file, it
    continues unchanged.
    """
    path, state = whole_path(file), prepared(kind, file, wanted, directory)
    if not state.take():
        if state.whose() == "another's":
            raise UserError(f"{state.directory}: the {kind.word} is {state.where()}", state.way())
        request = {"do": "reload", "file": path and str(path), "settings": list(settings)}
        answer = state.answer(request)
        if answer["refused"]:
            raise UserError(
                f"{answer['refused'][0]}; the {kind.word} that is up continues unchanged"
            )
        return f"{state.holder()} continues with {file}"
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        in_background(kind, path, wanted, settings, state, writer)
    os.close(writer)
    state.release()  # The child process still holds the lock through its own descriptor.
    with os.fdopen(reader, "rb") as pipe:
        loads = json.loads(
            pipe.read() or b'{"error": "the process ended without a report", "hint": null}'
        )
    if loads["error"] is not None:
        os.waitpid(child, 0)
        raise UserError(loads["error"], loads["hint"])
    return f"up, process {child}"


def in_background(
    kind: ServiceKind[Wanted],
    file: Path | None,
    wanted: Wanted,
    settings: Settings,
    state: State,
    writer: int,
) -> None:
    """Run the service in the background process. Report once to the parent process whether the
    set-up succeeded."""
    is_reported = False

    def tell(error: UserError | None) -> None:
        nonlocal is_reported
        if not is_reported:
            is_reported = True
            lines = {"error": None if error is None else str(error), "hint": error and error.hint}
            os.write(writer, json.dumps(lines).encode())
            os.close(writer)

    code = 1
    try:
        os.setsid()
        os.chdir("/")
        log = LogFile(state.directory / "log")
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1):
            os.dup2(nothing, number)
        again = again_of(kind, file, wanted, settings)
        context = ServiceContext(wanted, state, again, log.say, lambda: tell(None))
        state.begin(file, kind.word)
        kind.serve(context)
        code = 0
    except UserError as error:
        tell(error)
        say(f"error: {error}")
    except BaseException as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            tell(UserError(f"{error.filename or state.directory}: {error.strerror}"))
        tell(UserError(f"{type(error).__name__}: {error}", f"see {state.directory}/log"))
        say("it ends because of a defect of lasthop:")
        import traceback

        traceback.print_exc()
    finally:
        with suppress(OSError):  # the disk may be full
            sys.stderr.flush()
        os._exit(code)


def again_of(
    kind: ServiceKind[Wanted], file: Path | None, wanted: Wanted, settings: Settings
) -> Callable[[], Wanted]:
    """Return a function that reads the configuration file again. Standard input cannot be read
    again, so that in this case the function returns the present configuration `wanted`.
    """
    return lambda: wanted if file is None else kind.read(file, settings)


def run(
    kind: ServiceKind[Wanted],
    file: str,
    wanted: Wanted,
    settings: Settings,
    directory: Path | None,
    show: Show | None,
) -> None:
    """Set up the service, run it in the foreground until SIGTERM or Ctrl-C, and revert all
    changes."""
    path, state = whole_path(file), prepared(kind, file, wanted, directory)
    if not state.take():
        raise UserError(
            f"{state.directory}: the {kind.word} is up already ({state.holder()})",
            f"apply the file by `lasthop {kind.word} up {file}`, or end the {kind.word} by "
            f"`lasthop {kind.word} down {file}`",
        )
    try:
        state.begin(path, kind.word)
        again = again_of(kind, path, wanted, settings)
        kind.serve(ServiceContext(wanted, state, again, say, tell_systemd, show))
    finally:
        state.release()


def tell_systemd() -> None:
    """Notify systemd that the service is up, if systemd has started this process (sd_notify)."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as present, suppress(OSError):
            present.connect("\0" + address[1:] if address.startswith("@") else address)
            present.send(b"READY=1")


def down(kind: ServiceKind[Wanted], file: str, settings: Settings, directory: Path | None) -> str:
    """Stop the service's process, or revert the changes of a killed process. Return a message with
    the result."""
    state = standing(kind, file, settings, directory)
    others = elsewhere(kind, file, state) if directory is None else []
    if not state.exists or is_of_another_kind(kind, state):
        return "; ".join(["nothing is up", *others])
    was_up = False
    deadline = time.monotonic() + PATIENCE_S
    while not state.take_to_undo():
        if not was_up:
            was_up = state.ask({"do": "stop"}) is not None
        if time.monotonic() > deadline:
            raise UserError(
                f"{state.directory}: {state.holder()} does not end",
                "end it with kill -9, and repeat the command to revert all changes",
            )
        time.sleep(0.05)
    try:
        gone = state.forget_what_is_gone()
        state.refuse_anothers()
        left = len(state.log.records())
        if left or state.log.path.exists():
            remaining = undo_everything(state.log)
            if remaining:
                raise UserError(remaining[0], f"see {state.log.path} for the remaining changes")
    finally:
        state.release()
    if was_up:
        return "down"
    if gone:
        return f"removed {gone} changes from the log, whose network namespace no longer exists"
    if left:
        return f"reverted {left} changes of a process that was killed"
    return "; ".join(["nothing is up", *others])
