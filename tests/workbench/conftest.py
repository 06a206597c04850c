"""The workbench's page in a browser, and its engine in Node.

Both are built here where Node and Rust's target for WebAssembly are, and skipped with a printed reason
elsewhere; with --require-kernel, as CI has it, a skip is a failure.
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
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from measure import BenchError
from peers import apt_install

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "python/lasthop/workbench/page"

FLAGS = (
    "--no-sandbox",  # it would need a user that is not root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

START_MS = 60_000
"""Longest wait for what takes a second on a quiet machine. [ms]"""


def skip(request: pytest.FixtureRequest, reason: str) -> None:
    """Skip with a reason, or fail where all must run."""
    if request.config.getoption("--require-kernel"):
        pytest.fail(f"--require-kernel: {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def built(request: pytest.FixtureRequest) -> Path:
    """The folder of the built page."""
    if os.environ.get("PYTEST_XDIST_WORKER") and not (PAGE / "engine.wasm").exists():
        skip(request, "the page has not been built: make workbench")
    if "PYTEST_XDIST_WORKER" not in os.environ:
        done = subprocess.run(
            ["make", "--no-print-directory", "workbench"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if "not built" in line]
            assert said, done.stdout + done.stderr
            skip(request, said[0])
    return PAGE


@pytest.fixture(scope="session")
def chromium(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Debian's Chromium."""
    if shutil.which("chromium") is None:
        try:
            apt_install("chromium")
        except BenchError as error:
            skip(request, f"no Chromium here: {error}")
    program = shutil.which("chromium")
    assert program is not None
    with sync_playwright() as playwright:
        # the temporary profile would lie in a folder that tests look at
        with tempfile.TemporaryDirectory() as home:
            browser = playwright.chromium.launch(
                executable_path=program, args=list(FLAGS), env={**os.environ, "HOME": home}
            )
            yield browser
            browser.close()


@contextlib.contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """The address of `lasthop workbench`."""
    command = [sys.executable, "-m", "lasthop", "workbench", "--no-browser", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+/", line)
        assert found, line
        try:
            yield found[0]
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def address(built: Path) -> Iterator[str]:
    """Where the page is served beside Python."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def static(built: Path) -> Iterator[str]:
    """Where its files lie without Python, as in the documentation."""
    command = [sys.executable, "-m", "http.server", "0", "--bind", "127.0.0.1"]
    with subprocess.Popen(
        [*command[:1], "-u", *command[1:]],
        cwd=built,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        found = re.search(r"port (\d+)", process.stdout.readline())
        assert found
        try:
            yield f"http://127.0.0.1:{found[1]}/"
        finally:
            process.terminate()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A new page at which nothing may go wrong: no error in it, no request to another place."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(START_MS)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
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
    """The address of the page with a scenario: what its Share copies."""
    told = json.dumps({"text": text, "settings": list(settings), "view": view})
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(told.encode()) + packer.flush()
    return f"{address}#s={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def is_over(page: Page) -> None:
    """Wait until the run that is under way is over."""
    page.get_by_text(re.compile(r"simulated here in")).wait_for()


def saved(page: Page) -> Any:
    """The answer that the page saves, as an object."""
    is_over(page)
    page.get_by_role("tab", name="Numbers").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as JSON").click()
    return json.loads(Path(download.value.path()).read_text("utf-8"))


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, tuple[str, ...]], Any]:
    """What `lasthop simulate --json --tails` says of a text."""

    def simulate(text: str, settings: tuple[str, ...] = ()) -> Any:
        file = tmp_path_factory.mktemp("text") / "scenario.toml"
        file.write_text(text, "utf-8")
        command = [sys.executable, "-m", "lasthop", "simulate", str(file), "--json", "--tails"]
        done = subprocess.run(
            [*command, "--quiet", *[f"--set={each}" for each in settings]],
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    return simulate


def fetched(url: str) -> bytes:
    """What a server answers."""
    with urllib.request.urlopen(url) as answer:
        return bytes(answer.read())
