"""`lasthop workbench`."""

import socket
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path

import typer

from lasthop.cli.options import flag, unset, whole_number
from lasthop.errors import UserError
from lasthop.extras import need
from lasthop.scenario.files import text_of

LOOPBACK = "127.0.0.1"


def port_number(text: str) -> int:
    """Return the port number from --port."""
    return whole_number(text, 0, 65535, "a port")


def workbench(
    file: Path | None = typer.Argument(
        None, metavar="[FILE]", help="Scenario that the page opens, TOML or JSON."
    ),
    port: int | None = unset(
        "N", "Listen at this port of loopback; by default at any free port.", parser=port_number
    ),
    browser: bool = flag(
        "--browser/--no-browser",
        "Open a browser, or do not open it. Default: open it.",
        default=True,
    ),
) -> None:
    """Serve the workbench to a browser on this machine, until Ctrl-C.

    The engine runs in the browser; predictions, sweeps, tuning and charts run in this process.
    Other machines cannot connect.
    """
    need("lasthop workbench")
    if file is not None:
        check_file(file)
    import uvicorn

    from lasthop.workbench.service import application

    app = application(file, is_over=lambda: server.should_exit)
    settings = uvicorn.Config(app, log_level="warning", lifespan="off", server_header=False)
    server = uvicorn.Server(settings)
    with listening(port or 0) as listener:
        address = f"http://{LOOPBACK}:{listener.getsockname()[1]}/"
        typer.echo(f"the workbench is at {address}  (Ctrl-C ends it)")
        if browser:
            webbrowser.open(address)
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


def listening(port: int) -> socket.socket:
    """Return a socket that listens at a port of the loopback address."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":  # On Windows, two servers could then listen at the same port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except OSError as error:
        listener.close()
        raise UserError(
            f"--port {port}: {error.strerror}", "omit --port to use any free port"
        ) from None
    listener.listen()
    return listener


def check_file(file: Path) -> None:
    """Raise an error if the scenario cannot be read. The web page reports errors in the
    contents.
    """
    try:
        text_of(file)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{file}: not text in UTF-8") from None
