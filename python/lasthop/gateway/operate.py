"""The verbs of `lasthop gateway`: up, down, status, run, and what they find wrong."""

import errno
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from lasthop.errors import UserError
from lasthop.gateway import config
from lasthop.gateway.cautions import cautions
from lasthop.gateway.config import Gateway
from lasthop.gateway.layout import short_queue
from lasthop.gateway.leases import open_leases
from lasthop.gateway.leaves import unmanaged, why
from lasthop.gateway.log import LogFile, say
from lasthop.gateway.metrics import check_port, serve_metrics
from lasthop.gateway.shaper import Shaper, undo_everything
from lasthop.gateway.state import PATIENCE_S, State, absolute, in_use, state_of
from lasthop.linux import rights

Settings = Sequence[tuple[str, str]]


class Checked(NamedTuple):
    """What a check has found."""

    warnings: list[str]
    leaves: dict[str, str] | None
    """Which queue leaves will have and why; None if the kernel was not tried."""


def check(gateway: Gateway) -> Checked:
    """Whether this machine can do what the file asks for, and what to mind.

    Raises
    ------
    UserError
        For what would make `up` fail.
    """
    if (lacks := rights.lacking()) is not None:
        said = f"this machine was not looked at: that takes {lacks}, which root has"
        return Checked([said], None)
    found, leaves = [], None
    trial = rights.tried(gateway.discipline)
    if trial.missing is not None:
        raise UserError(f"this machine has {trial.missing}")
    if trial.untried is not None:
        found.append(
            "the kernel was not tried, which takes CAP_SYS_ADMIN or a user namespace: "
            f"{trial.untried}"
        )
    if (discipline := trial.discipline) is not None:
        leaves = {"discipline": discipline, "why": why(gateway)}
        found += unmanaged(gateway, discipline)
    state = state_of(gateway, None)
    if refuse_what_fails(gateway, state):
        found.append(f"it is up ({state.holder()}); `up` lets it take the file over")
    return Checked(found + warnings(gateway), leaves)


def refuse_what_fails(gateway: Gateway, state: State) -> bool:
    """Refuse what can be known to fail before a file is written; whether it is up."""
    is_up = state.is_held()
    with Shaper(gateway, state.log) as shaper:
        shaper.check(is_up=is_up or bool(state.log.records()))
    if not is_up:
        check_port(gateway.metrics)
    return is_up


def warnings(gateway: Gateway, leaves: Mapping[str, str] | None = None) -> list[str]:
    """What to mind, in words; `leaves` are those that there are, where one knows."""
    found = [*cautions(gateway), *short_queue(gateway)]
    if leaves is not None:
        found += unmanaged(gateway, leaves["discipline"])
    if (leases := gateway.discovery.leases) is not None:
        try:
            open_leases(leases).close()
        except UserError as error:
            found.append(str(error))
    return found


def standing(file: str, settings: Settings, directory: Path | None) -> State:
    """The state of this file's gateway, also if the file is broken or gone by now, or has another
    `lan`.

    Raises
    ------
    UserError
        For a broken file, if it does not follow from the states what it was.
    """
    if directory is not None:
        return State(directory)
    own, wrong = None, None
    try:
        gateway = config.read(Path(file) if file not in ("", "-") else file, settings)
    except UserError as error:
        wrong = error
    else:
        own = state_of(gateway, None)
        if own.is_in_use():
            return own
    found = in_use()
    same = of_file(found.here, file)
    if len(same) == 1:
        return same[0]
    said = f"{file}: it is up more than once" if wrong is None else str(wrong).splitlines()[0]
    if found.here and (same or wrong is not None):
        where = ", ".join(str(state.directory) for state in same or found.here)
        raise UserError(
            said, f"gateways are up under {where}; lasthop gateway down {file} --state DIR ends one"
        )
    if wrong is not None and (others := of_file(found.elsewhere, file)):
        raise UserError(f"{file}: {others[0].directory} is {others[0].where()}", others[0].way())
    if wrong is not None and found.hidden:
        raise UserError(said, f"and nobody knows what it was: {found.hidden[0]}")
    if wrong is not None or own is None:
        raise wrong or UserError(f"{file}: nothing is known of it")
    return own


def of_file(states: Sequence[State], file: str) -> list[State]:
    """Those that are of this file, by whatever name."""
    path = whole_path(file)
    return [state for state in states if path is not None and is_same(state.file(), path)]


def is_same(one: Path | None, other: Path) -> bool:
    """Whether both are the same file; one that is gone is known by its name."""
    try:
        return one is not None and (one == other or one.samefile(other))
    except OSError:
        return False


def whole_path(file: str) -> Path | None:
    """The file wherever one is; None for standard input."""
    return absolute(Path(file)) if file != "-" else None


def elsewhere(file: str, state: State) -> list[str]:
    """That a gateway of this file, or with this directory, is in another network namespace."""
    others = in_use().elsewhere
    usual = state.directory.name.partition("@")[0]
    meant = [each for each in others if each.directory.name.partition("@")[0] == usual]
    meant += [each for each in of_file(others, file) if each not in meant]
    return [f"{each.directory} is {each.where()}" for each in meant]


def refuse_elsewhere(file: str, state: State) -> None:
    """Refuse a file whose gateway is in place already, by another `lan` that it had."""
    for other in of_file(in_use().here, file):
        if other.directory != state.directory:
            raise UserError(
                f"{file}: the gateway of this file is in place already, under {other.directory}",
                f"lasthop gateway down {file} --state {other.directory} ends it",
            )


class NotUp(NamedTuple):
    """What there is to say of a gateway that is not up."""

    left: int
    """Changes that a process that was killed has left behind."""
    elsewhere: list[str]
    """Gateways in other network namespaces that may be meant, in words."""


def status(file: str, settings: Settings, directory: Path | None) -> dict[str, Any] | NotUp:
    """What the process that runs says, or that none runs."""
    state = standing(file, settings, directory)
    if state.is_held():
        return state.answer({"do": "status"})
    left = len(state.log.records()) if state.exists and state.whose() != "gone" else 0
    return NotUp(left, elsewhere(file, state) if directory is None and not left else [])


def up(file: str, gateway: Gateway, settings: Settings, directory: Path | None) -> str:
    """Set up and stay in the background; what was done, in words.

    If the gateway is up, it takes the file over, or refuses it and goes on as before.
    """
    rights.refuse_to_lack()
    path, state = whole_path(file), state_of(gateway, directory)
    refuse_elsewhere(file, state)
    if not state.is_held():
        refuse_what_fails(gateway, state)
    state.make()
    if not state.take():
        if state.whose() == "another's":
            raise UserError(f"{state.directory}: the gateway is {state.where()}", state.way())
        request = {"do": "reload", "file": path and str(path), "settings": list(settings)}
        answer = state.answer(request)
        if answer["refused"]:
            raise UserError(answer["refused"][0], "the gateway that is up goes on as before")
        return f"{state.holder()} goes on with {file}"
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        in_background(path, gateway, settings, state, writer)
    os.close(writer)
    state.release()  # the child's handle keeps the lock
    with os.fdopen(reader, "rb") as pipe:
        said = json.loads(pipe.read() or b'{"error": "it ended without a word", "hint": null}')
    if said["error"] is not None:
        os.waitpid(child, 0)
        raise UserError(said["error"], said["hint"])
    return f"up, process {child}"


def in_background(
    file: Path | None, gateway: Gateway, settings: Settings, state: State, writer: int
) -> None:
    """The life of the background process; tells its parent once how setting up went."""
    told = False

    def tell(error: UserError | None) -> None:
        nonlocal told
        if not told:
            told = True
            said = {"error": None if error is None else str(error), "hint": error and error.hint}
            os.write(writer, json.dumps(said).encode())
            os.close(writer)

    code = 1
    try:
        os.setsid()
        os.chdir("/")
        log = LogFile(state.directory / "log")
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1):
            os.dup2(nothing, number)
        serve(gateway, settings, file, state, lambda: tell(None), None, log.say)
        code = 0
    except UserError as error:
        tell(error)
        say(f"error: {error}")
    except BaseException as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            tell(UserError(f"{error.filename or state.directory}: {error.strerror}"))
        tell(UserError(f"{type(error).__name__}: {error}", f"{state.directory}/log"))
        say("it ends, by a defect of lasthop:")
        import traceback

        traceback.print_exc()
    finally:
        with suppress(OSError):  # the disk is full
            sys.stderr.flush()
        os._exit(code)


def run(
    file: str,
    gateway: Gateway,
    settings: Settings,
    directory: Path | None,
    show: Callable[[dict[str, Any]], None] | None,
) -> None:
    """Set up, run in the foreground until SIGTERM or Ctrl-C, and take everything back."""
    rights.refuse_to_lack()
    path, state = whole_path(file), state_of(gateway, directory)
    refuse_elsewhere(file, state)
    if not state.is_held():
        refuse_what_fails(gateway, state)
    state.make()
    if not state.take():
        raise UserError(
            f"{state.directory}: the gateway is up already ({state.holder()})",
            f"lasthop gateway up {file} lets it take the file over; "
            f"lasthop gateway down {file} ends it",
        )
    try:
        serve(gateway, settings, path, state, tell_systemd, show, say)
    finally:
        state.release()


def serve(
    gateway: Gateway,
    settings: Settings,
    file: Path | None,
    state: State,
    is_up: Callable[[], None],
    show: Callable[[dict[str, Any]], None] | None,
    say: Callable[[str], None],
) -> None:
    """The life of a gateway; `say` takes lines of the log."""
    from lasthop.gateway.service import Service

    def again() -> Gateway:
        return gateway if file is None else config.read(file, settings)

    state.begin(file)
    service = Service(gateway, state, again, say)
    try:
        try:
            with serve_metrics(gateway.metrics, service.status_for_others):
                service.up()
                service.run(is_up, show)
        finally:
            kept = service.down()
        if kept:
            raise UserError(kept[0], f"{state.log.path} lists what is left")
    finally:
        service.close()


def tell_systemd() -> None:
    """Tell systemd that the service is up, if that is who started it (sd_notify)."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as there, suppress(OSError):
            there.connect("\0" + address[1:] if address.startswith("@") else address)
            there.send(b"READY=1")


def down(file: str, settings: Settings, directory: Path | None) -> str:
    """End the process that runs, take back what one that was killed has left; in words."""
    state = standing(file, settings, directory)
    others = elsewhere(file, state) if directory is None else []
    if not state.exists:
        return "; ".join(["nothing is up", *others])
    was_up = False
    deadline = time.monotonic() + PATIENCE_S
    while not state.take_to_undo():
        if not was_up:
            was_up = state.ask({"do": "stop"}) is not None
        if time.monotonic() > deadline:
            raise UserError(
                f"{state.directory}: {state.holder()} does not end",
                "end it with kill -9, and repeat: everything is taken back then",
            )
        time.sleep(0.05)
    try:
        gone = state.forget_what_is_gone()
        state.refuse_anothers()
        left = len(state.log.records())
        if left or state.log.path.exists():
            kept = undo_everything(state.log)
            if kept:
                raise UserError(kept[0], f"{state.log.path} lists what is left")
    finally:
        state.release()
    if was_up:
        return "down"
    if gone:
        return f"forgot {gone} changes that went with their network namespace"
    if left:
        return f"took back {left} changes of a process that was killed"
    return "; ".join(["nothing is up", *others])
