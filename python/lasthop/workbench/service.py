"""Web server of the page on loopback, with an API for features that the browser's engine lacks."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from lasthop._core import VERSION
from lasthop.errors import UserError
from lasthop.scenario.files import text_of
from lasthop.scenario.source import FILES_SHUT
from lasthop.workbench.commands import COMMANDS, Asked, Reply, reply_of
from lasthop.workbench.files import index, page

__all__ = ["application"]

MAX_BYTES = 4_000_000
"""Maximum size of a request. A larger request is refused. [bytes]"""

AT_ONCE = 2
"""Maximum number of long commands that run simultaneously. Further commands wait."""

QUICK = "predict"
"""Command that does not wait for long commands, since the page requests it after each edit."""

LOOK_S = 0.1
"""Interval between two checks whether the page still waits for the reply. [s]"""

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def application(file: Path | None = None, is_over: Callable[[], bool] = lambda: False) -> Starlette:
    """Return the web application with the page and the API under ``api/``.

    Parameters
    ----------
    file : path, optional
        Scenario that the page shows first. It is read again each time the page is loaded.
    is_over : callable, optional
        Returns whether the server is stopping. Running commands are then stopped, too.

    Raises
    ------
    UserError
        If the page has not been built.
    """
    files = page()
    long, quick = asyncio.Semaphore(AT_ONCE), asyncio.Semaphore(1)

    async def entry(request: Request) -> Response:
        return HTMLResponse(index())

    async def about(request: Request) -> Response:
        begins, notes = None, []
        if file is not None:
            try:
                begins = {"name": file.name, "text": text_of(file)}
            except (OSError, UnicodeDecodeError) as error:
                notes = [f"{file}: {getattr(error, 'strerror', None) or 'not text in UTF-8'}"]
        return JSONResponse(
            {
                "version": VERSION,
                "commands": list(COMMANDS),
                "scenario": begins,
                "notes": notes,
            }
        )

    async def ask(request: Request) -> Response:
        command = request.path_params["command"]

        async def is_gone() -> bool:
            return is_over() or await request.is_disconnected()

        try:
            asked = Asked.of(command, await body(request))
            async with quick if command == QUICK else long:
                answer = await run(asked, is_gone)
        except UserError as error:
            return JSONResponse({"error": str(error), "hint": error.hint}, 400)
        except ClientDisconnect:
            # The page was closed and does not receive this reply, or the server is stopping.
            return JSONResponse({"error": "the command was given up", "hint": None})
        return JSONResponse(answer.body, answer.status)

    return Starlette(
        routes=[
            Route("/", entry),
            Route("/index.html", entry),
            Route("/api/about", about),
            Route("/api/{command}", ask, methods=["POST"]),
            Mount("/", StaticFiles(directory=files)),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"]),
            Middleware(Guarded),
        ],
    )


class Guarded:
    """Middleware that adds headers to every reply, and refuses requests from other origins."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:  # type: ignore[type-arg]
        """Handle a request."""
        headers = dict(scope.get("headers", []))
        origin = headers.get(b"origin")
        if origin is not None and origin != b"http://" + headers.get(b"host", b""):
            refused = JSONResponse({"error": "asked by another page", "hint": None}, 403)
            await refused(scope, receive, send)
            return

        async def with_headers(message: dict) -> None:  # type: ignore[type-arg]
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), each.encode()) for name, each in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *own]}
            await send(message)

        await self._app(scope, receive, with_headers)


async def body(request: Request) -> object:
    """Return the JSON object in the body of a request.

    Raises
    ------
    UserError
        If the request has no object, or is too long.
    """
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise UserError("a request must be application/json")
    pieces = b""
    async for piece in request.stream():
        pieces += piece
        if len(pieces) > MAX_BYTES:
            raise UserError(f"a request of more than {MAX_BYTES:,} bytes")
    try:
        return json.loads(pieces)
    except (ValueError, RecursionError):
        raise UserError("a request that is not JSON") from None


async def run(asked: Asked, is_gone: Callable[[], Awaitable[bool]]) -> Reply:
    """Run a command in a temporary directory. Stop the command if the client no longer waits for
    it.

    Raises
    ------
    ClientDisconnect
        If the client has disconnected.
    """
    if await is_gone():
        raise ClientDisconnect
    # Windows removes no folder in which a process still works.
    folders = TemporaryDirectory(prefix="lasthop-workbench-", ignore_cleanup_errors=True)
    with folders as folder:
        Path(folder, asked.file).write_text(asked.text, "utf-8", newline="\n")
        process = await asyncio.create_subprocess_exec(
            *asked.process,
            cwd=folder,
            env={**os.environ, FILES_SHUT: "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        saying = asyncio.ensure_future(process.communicate())
        try:
            while not saying.done():
                await asyncio.wait([saying], timeout=LOOK_S)
                if not saying.done() and await is_gone():
                    raise ClientDisconnect
            output, messages = saying.result()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    end(process)
                await saying
    return reply_of(process.returncode or 0, output, messages)


def end(process: asyncio.subprocess.Process) -> None:
    """End a process immediately, with the processes that it has started if the system has process
    groups.
    """
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
