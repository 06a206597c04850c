"""Load pages with a headless Chromium, which is controlled over a pipe by the DevTools protocol.

Each message is JSON followed by a zero byte. Chromium reads messages from file descriptor 3 and
writes messages to descriptor 4 (`--remote-debugging-pipe`).
"""

import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import ExitStack, suppress
from typing import Any, Self

Item = dict[str, Any]

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",  # the sandbox needs a user other than root
    "--disable-gpu",
    "--no-first-run",
    # all requests go to the server of the page
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {host}",
)
TRIAL = "--headless --no-sandbox --dump-dom about:blank"
READS, WRITES = 3, 4
"""File descriptors of Chromium for reading and writing messages."""
START_S = 60.0
"""Longest wait for the first reply. After a boot, the first start reads 300 MB. [s]"""
PATIENCE_S = 5.0
"""Longest wait for the end of Chromium. [s]"""
CHUNK_BYTES = 1 << 20


class BrowserError(Exception):
    """Error for a missing Chromium, or for a failed request to Chromium."""


def program() -> str:
    """Return the path of Chromium.

    Raises
    ------
    BrowserError
        If Chromium is not installed.
    """
    for name in PROGRAMS:
        if path := shutil.which(name):
            return path
    raise BrowserError("there is no Chromium: apt-get install --no-install-recommends chromium")


class Browser:
    """A running Chromium with a new profile, which loads pages of one host.

    Raises
    ------
    BrowserError
        If Chromium cannot be started.
    """

    def __init__(self, host: str) -> None:
        self.stack = ExitStack()
        self.received = b""
        self.events: list[Item] = []
        self.count = 0
        self.session: str | None = None
        with self.stack:
            self.start(host)
            self.version = str(self.call("Browser.getVersion", wait_s=START_S)["product"])
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            session = self.call("Target.attachToTarget", targetId=target, flatten=True)
            self.session = session["sessionId"]
            self.call("Page.enable")
            self.stack = self.stack.pop_all()

    def start(self, host: str) -> None:
        """Start Chromium."""
        directory = tempfile.TemporaryDirectory(prefix="page-", ignore_cleanup_errors=True)
        profile = self.stack.enter_context(directory)
        to_read, self.commands = os.pipe()
        self.answers, to_write = os.pipe()
        # Chromium needs these pipe ends as descriptors 3 and 4; they first get numbers from 10 on,
        # so that copying one to 3 does not overwrite the other
        theirs = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 10) for each in (to_read, to_write)]
        for each in (to_read, to_write):
            os.close(each)
        for each in (self.commands, self.answers):
            self.stack.callback(os.close, each)

        def give() -> None:
            os.dup2(theirs[0], READS)
            os.dup2(theirs[1], WRITES)

        flags = [flag.format(host=host) for flag in FLAGS]
        self.process = subprocess.Popen(
            [program(), *flags, f"--user-data-dir={profile}"],
            pass_fds=(READS, WRITES),
            preexec_fn=give,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.stack.callback(self.end)
        for each in theirs:
            os.close(each)

    def end(self) -> None:
        """End Chromium and its processes, which write into the profile until they end."""
        self.session = None
        with suppress(BrowserError, subprocess.TimeoutExpired):
            self.call("Browser.close", wait_s=PATIENCE_S)
            self.process.wait(PATIENCE_S)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def call(self, method: str, wait_s: float = 20.0, **parameters: object) -> Item:
        """Call a method of the DevTools protocol and return its result.

        Raises
        ------
        BrowserError
            If the method fails, or does not reply within `wait_s`.
        """
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        try:
            os.write(self.commands, json.dumps(message).encode() + b"\0")
        except OSError as error:
            raise BrowserError(f"Chromium is gone: {error.strerror}") from error
        until_s = time.monotonic() + wait_s
        while True:
            reply = self.message(until_s)
            if reply is None:
                raise BrowserError(f"Chromium has no answer to {method} in {wait_s:g} s")
            if reply.get("id") == self.count:
                break
            self.events.append(reply)
        if "error" in reply:
            raise BrowserError(f"Chromium on {method}: {reply['error']['message']}")
        return dict(reply["result"])

    def wait_for(self, event: str, wait_s: float) -> bool:
        """Return whether an event has occurred, after waiting at most `wait_s` for it."""
        until_s = time.monotonic() + wait_s
        while True:
            message = self.events.pop(0) if self.events else self.message(until_s)
            if message is None:
                return False
            if message.get("method") == event:
                return True

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        reply = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return reply["result"].get("value")

    def message(self, until_s: float) -> Item | None:
        """Return the next message of Chromium, or None if none arrives before `until_s`."""
        while b"\0" not in self.received:
            ready = select.select([self.answers], [], [], max(0.0, until_s - time.monotonic()))[0]
            if not ready:
                return None
            more = os.read(self.answers, CHUNK_BYTES)
            if not more:
                raise BrowserError(f"Chromium has ended; why says `{program()} {TRIAL}`")
            self.received += more
        first, _, self.received = self.received.partition(b"\0")
        return dict(json.loads(first))
