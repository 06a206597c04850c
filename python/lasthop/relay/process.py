"""Process of `lasthop relay`, which loads little more than the relay.

This file runs as a script. It has two arguments: the path of the compiled module, and a file
descriptor from which the script reads a JSON object. The keys of the object are:

    relay     settings of the relay
    listeners a message for each address at which the relay listens, with {} for the address
    notes     further lines to print, as text
    fields    the same further lines as a JSON object, printed in their place if `json` is true
    options   mapping from the beginning of an error message to the command-line option concerned
    metrics   address at which metrics are served; null without metrics
    json      whether printed lines are JSON

The script imports no other module of the package (except for metrics), since a router has little
memory.
"""

import json
import os
import signal
import sys
import time
from contextlib import nullcontext
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

LOOK_S = 0.2
USER_ERROR = 2
ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def compiled(path: str) -> ModuleType:
    """Import the compiled module from its file, without importing the package `lasthop`."""
    loader = ExtensionFileLoader("_core", path)
    spec = spec_from_file_location("_core", path, loader=loader)
    assert spec is not None, "a loader was given"
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def written(address: tuple[str, int]) -> str:
    """Return the text of an address with its port."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def main(core: str, descriptor: int) -> int:
    """Run a relay until a signal ends it; return the exit code."""
    # Signals are blocked and awaited instead of handled. A handler could run while its own thread
    # holds a lock that the handler needs.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    with open(descriptor) as file:
        todo: dict[str, Any] = json.load(file)
    try:
        relay = compiled(core).Relay(json.dumps(todo["relay"]))
    except (OSError, ValueError) as error:
        what, _, why = str(error).partition(": ")
        option = todo["options"].get(what)
        print(f"error: {f'{option}: {why}' if option else error}", file=sys.stderr)
        return USER_ERROR

    def say(answer: dict[str, Any], text: str) -> None:
        print(json.dumps(answer) if todo["json"] else text, flush=True)

    def status() -> dict[str, Any]:
        loads: dict[str, Any] = json.loads(relay.metrics() or "{}")
        return loads

    addresses = [written(each) for each in relay.addresses()]
    pairs = zip(todo["listeners"], addresses, strict=True)
    lines = [text.replace("{}", at, 1) for text, at in pairs] + todo["notes"]
    with serving(todo["metrics"], status):
        say({"listen": addresses, **todo["fields"]}, "\n".join(lines))
        while not is_to_end():
            while (note := relay.note()) is not None:
                say({"note": note}, note)
            if not relay.is_running():
                print("error: the relay has stopped unexpectedly", file=sys.stderr)
                return 1
    if todo["json"]:
        print(json.dumps(status()), flush=True)
    relay.stop()
    return 0


def is_to_end() -> bool:
    """Wait for a short time. Return whether a signal that ends the relay has arrived."""
    # sigtimedwait is not used: in Python 3.11 it does not return the real signal after the process
    # was stopped and continued.
    time.sleep(LOOK_S)
    return bool(signal.sigpending() & ENDS)


def serving(at: list[Any] | None, status: Any) -> Any:
    """Serve metrics, if an address for metrics is set."""
    if at is None:
        return nullcontext()
    from lasthop.relay.exposed import serving_metrics
    from lasthop.relay.settings import Address

    return serving_metrics(Address(*at), status)


if __name__ == "__main__":
    try:
        code = main(sys.argv[1], int(sys.argv[2]))
    except OSError as error:
        code = USER_ERROR
        if isinstance(error, BrokenPipeError):
            code = 141
        else:
            where = error.filename or "standard output"
            print(f"error: {where}: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
