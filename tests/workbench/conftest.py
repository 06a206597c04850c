"""Fixtures with the workbench's page in a browser, and its engine in Node.

Tests are skipped with a printed reason if the page or the engine cannot be built, or if Chromium is
missing.
"""

import base64
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from measure import BenchError
from peers import apt_install
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]

FLAGS = (
    "--no-sandbox",  # Chromium's sandbox needs a user other than root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Use only the fast compiler of WebAssembly: optimising takes longer than these short runs.
    "--js-flags=--liftoff-only",
)

START_MS = 60_000
"""Longest wait for an event that takes about one second on a quiet machine. [ms]"""

expect.set_options(timeout=START_MS)  # expect has a separate time-out, by default five seconds


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Yield Debian's Chromium."""
    if shutil.which("chromium") is None:
        try:
            apt_install("chromium")
        except BenchError as error:
            pytest.skip(f"no Chromium here: {error}")
    program = shutil.which("chromium")
    assert program is not None
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as home:
        browser = playwright.chromium.launch(
            executable_path=program, args=list(FLAGS), env={**os.environ, "HOME": home}
        )
        yield browser
        browser.close()


@contextlib.contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """Run `lasthop workbench` and yield its address."""
    command = [sys.executable, "-m", "lasthop", "workbench", "--no-browser", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.search(r"http://\S+/", line)
        assert match, line
        try:
            yield match[0]
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def address(built_page: Path) -> Iterator[str]:
    """Yield the address of the page with Python."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def static(built_page: Path) -> Iterator[str]:
    """Yield the address of the page's files on a server without Python, as in the documentation."""
    command = [sys.executable, "-m", "http.server", "0", "--bind", "127.0.0.1"]
    with subprocess.Popen(
        [*command[:1], "-u", *command[1:]],
        cwd=built_page,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        match = re.search(r"port (\d+)", process.stdout.readline())
        assert match
        try:
            yield f"http://127.0.0.1:{match[1]}/"
        finally:
            process.terminate()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """Yield a new browser page. The test fails if the page has an error or sends a request to
    another server.
    """
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(START_MS)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console", lambda message: wrong.append(message.text) if message.type == "error" else None
    )
    page.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith(("http://127.0.0.1:", "blob:", "data:"))
            else wrong.append(asked.url)
        ),
    )
    yield page
    context.close()
    assert wrong == []


def link(address: str, text: str, settings: tuple[str, ...] = (), **view: str) -> str:
    """Return the address of the page with a scenario, as the button Share does."""
    content = json.dumps({"text": text, "settings": list(settings), "view": view})
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(content.encode()) + packer.flush()
    return f"{address}#s={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def is_over(page: Page) -> None:
    """Wait until the current run is finished."""
    page.get_by_text(re.compile(r"simulated here in")).wait_for()


def saved(page: Page) -> str:
    """Return the result that the page saves as a file."""
    is_over(page)
    page.get_by_role("tab", name="Numbers").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as JSON").click()
    return Path(download.value.path()).read_bytes().decode("utf-8")


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Return a function that runs `lasthop simulate --json --tails` on a scenario text."""

    def simulate(text: str, settings: tuple[str, ...] = ()) -> str:
        file = tmp_path_factory.mktemp("text") / "scenario.toml"
        file.write_text(text, "utf-8")
        command = [sys.executable, "-m", "lasthop", "simulate", str(file), "--json", "--tails"]
        done = subprocess.run(
            [*command, "--quiet", *[f"--set={each}" for each in settings]],
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8")

    return simulate


def fetched(url: str) -> bytes:
    """Return the reply of a server."""
    with urllib.request.urlopen(url) as answer:
        return bytes(answer.read())
