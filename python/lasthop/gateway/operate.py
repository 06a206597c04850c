"""The verbs of `lasthop gateway`: up, down, status, run, and what they find wrong."""

import errno
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lasthop.errors import UserError
from lasthop.gateway import config
from lasthop.gateway.cautions import cautions
from lasthop.gateway.config import Gateway
from lasthop.gateway.layout import short_queue
from lasthop.gateway.log import LogFile, say
from lasthop.gateway.metrics import check_port, serve_metrics
from lasthop.gateway.shaper import Shaper, undo_everything
from lasthop.gateway.state import PATIENCE_S, State, in_use, state_of
from lasthop.linux import rights

Settings = Sequence[tuple[str, str]]


def check(gateway: Gateway) -> list[str]:
    """Whether this machine can do what the file asks for; what to mind, in words.

    Raises
    ------
    UserError
        For what would make `up` fail.
    """
    if not rights.is_root():
        return ["this machine was not looked at: that takes root"]
    lacking = rights.missing(gateway.discipline)
    if lacking is not None:
        raise UserError(f"this machine has {lacking}")
    state = state_of(gateway, None)
    is_up = state.exists and not is_free(state)
    with Shaper(gateway, state.log) as shaper:
        shaper.check(is_up=is_up or bool(state.log.records()))
    found = [f"it is up ({state.holder()}); `up` lets it take the file over"] if is_up else []
    if not is_up:
        check_port(gateway.metrics)
    return found + warnings(gateway)


def warnings(gateway: Gateway) -> list[str]:
    """What to mind, in words."""
    found = [*cautions(gateway), *short_queue(gateway)]
    if (leases := gateway.discovery.leases) is not None:
        try:
            leases.open("rb").close()
        except OSError as error:
            found.append(f"gateway.discover.leases: {leases}: {error.strerror}")
    return found


def is_free(state: State) -> bool:
    """Whether nobody holds the lock."""
    free = state.take()
    state.release()
    return free


def standing(file: str, settings: Settings, directory: Path | None) -> State:
    """The state of this file's gateway, also if the file is broken by now or has another `lan`.

    Raises
    ------
    UserError
        For a broken file, if it does not follow from the states what it was.
    """
    own, wrong = State(directory) if directory is not None else None, None
    if own is not None and own.is_in_use():
        return own
    try:
        gateway = config.read(Path(file) if file not in ("", "-") else file, settings)
    except UserError as error:
        wrong = error
    else:
        own = state_of(gateway, directory)
        if directory is not None or own.is_in_use():
            return own
    others = in_use() if directory is None else []
    same = of_file(others, file)
    if len(same) == 1:
        return same[0]
    if others and (same or wrong is not None):
        where = ", ".join(str(state.directory) for state in same or others)
        said = f"{file}: it is up more than once" if wrong is None else str(wrong).splitlines()[0]
        raise UserError(
            said, f"gateways are up under {where}; lasthop gateway down {file} --state DIR ends one"
        )
    if wrong is not None or own is None:
        raise wrong or UserError(f"{file}: nothing is known of it")
    return own


def of_file(states: Sequence[State], file: str) -> list[State]:
    """Those that are of this file."""
    path = absolute(file)
    return [state for state in states if path is not None and state.file() == path]


def absolute(file: str) -> Path | None:
    """The file wherever one is; None for standard input."""
    return Path(file).absolute() if file != "-" else None


def refuse_elsewhere(file: str, state: State) -> None:
    """Refuse a file whose gateway is in place already, by another `lan` that it had."""
    for other in of_file(in_use(), file):
        if other.directory != state.directory.absolute():
            raise UserError(
                f"{file}: the gateway of this file is in place already, under {other.directory}",
                f"lasthop gateway down {file} --state {other.directory} ends it",
            )


def status(file: str, settings: Settings, directory: Path | None) -> dict[str, Any] | int:
    """What the process that runs says; if none runs, how many changes one that was killed has left
    behind.
    """
    state = standing(file, settings, directory)
    if not state.exists or is_free(state):
        return len(state.log.records())
    return state.answer({"do": "status"})


def up(file: str, gateway: Gateway, settings: Settings, directory: Path | None) -> str:
    """Set up and stay in the background; what was done, in words.

    If the gateway is up, it takes the file over, or refuses it and goes on as before.
    """
    state = state_of(gateway, directory)
    refuse_elsewhere(file, state)
    state.make()
    if not state.take():
        path = absolute(file)
        request = {"do": "reload", "file": path and str(path), "settings": list(settings)}
        answer = state.answer(request)
        if answer["refused"]:
            raise UserError(answer["refused"][0], "the gateway that is up goes on as before")
        return f"{state.holder()} goes on with {file}"
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        in_background(file, gateway, settings, state, writer)
    os.close(writer)
    state.release()  # the child's handle keeps the lock
    with os.fdopen(reader, "rb") as pipe:
        said = json.loads(pipe.read() or b'{"error": "it ended without a word", "hint": null}')
    if said["error"] is not None:
        os.waitpid(child, 0)
        raise UserError(said["error"], said["hint"])
    return f"up, process {child}"


def in_background(
    file: str, gateway: Gateway, settings: Settings, state: State, writer: int
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
    state = state_of(gateway, directory)
    refuse_elsewhere(file, state)
    state.make()
    if not state.take():
        raise UserError(
            f"{state.directory}: the gateway is up already ({state.holder()})",
            f"lasthop gateway up {file} lets it take the file over; "
            f"lasthop gateway down {file} ends it",
        )
    try:
        serve(gateway, settings, file, state, tell_systemd, show, say)
    finally:
        state.release()


def serve(
    gateway: Gateway,
    settings: Settings,
    file: str,
    state: State,
    is_up: Callable[[], None],
    show: Callable[[dict[str, Any]], None] | None,
    say: Callable[[str], None],
) -> None:
    """The life of a gateway; `say` takes lines of the log."""
    from lasthop.gateway.service import Service

    path = absolute(file)

    def again() -> Gateway:
        return gateway if path is None else config.read(path, settings)

    state.write_holder(path)
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
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as there:
            there.connect("\0" + address[1:] if address.startswith("@") else address)
            there.send(b"READY=1")


def down(file: str, settings: Settings, directory: Path | None) -> str:
    """End the process that runs, take back what one that was killed has left; in words."""
    state = standing(file, settings, directory)
    if not state.exists:
        return "nothing is up"
    was_up = False
    deadline = time.monotonic() + PATIENCE_S
    while not state.take():
        if not was_up:
            was_up = state.ask({"do": "stop"}) is not None
        if time.monotonic() > deadline:
            raise UserError(
                f"{state.directory}: {state.holder()} does not end",
                "end it with kill -9, and repeat: everything is taken back then",
            )
        time.sleep(0.05)
    try:
        left = len(state.log.records())
        kept = undo_everything(state.log)
        if kept:
            raise UserError(kept[0], f"{state.log.path} lists what is left")
    finally:
        state.release()
    if was_up:
        return "down"
    return f"took back {left} changes of a process that was killed" if left else "nothing is up"
