"""Take screenshots of the present workbench: ``python docs/workbench_picture.py [NAME]...``.

The script needs `make build` and Debian's Chromium. CI does not run it. All simulations and
predictions in the pictures are computed by the page and by Python.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from embedding import fragment
from playwright.sync_api import Browser, FloatRect, Page, sync_playwright

DOCS = Path(__file__).resolve().parent
GALLERY = DOCS.parent / "workbench" / "src" / "gallery"
IMAGES = DOCS / "images"

FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")

WIDTH = 1200
"""Width of the browser window. [px]"""

MARGIN = 10
"""Margin around a view if the picture shows only the view. [px]"""

PATIENCE_MS = 60_000
"""Longest wait for a run, which takes about one second. [ms]"""


@dataclass(frozen=True)
class Picture:
    """A screenshot: the page to open, and its visible part."""

    entry: str
    """Id of the gallery entry."""
    view: str
    height: int | None = None
    """Height of the window if the picture shows the whole window, or None if it shows only the
    view. [px]
    """


PICTURES = {
    "workbench": Picture("uploader", "shares", 980),
    "workbench-delay": Picture("home-call", "delay"),
    "workbench-air": Picture("uploader", "air"),
    "workbench-queue": Picture("swing", "queue"),
}


@contextmanager
def served() -> Iterator[str]:
    """Start the workbench with Python, and yield its address."""
    command = [sys.executable, "-m", "lasthop", "workbench", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        match = re.search(r"http://\S+/", process.stdout.readline())
        try:
            if match is None:
                sys.exit("error: the workbench has not started")
            yield match[0]
        finally:
            process.terminate()


def draw(browser: Browser, address: str, name: str) -> None:
    """Open the page, wait until it is complete, and save a picture."""
    picture = PICTURES[name]
    context = browser.new_context(
        viewport={"width": WIDTH, "height": picture.height or 2 * WIDTH}, color_scheme="light"
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    text = (GALLERY / f"{picture.entry}.toml").read_text("utf-8")
    looks = {"gallery": picture.entry} if picture.height else {}
    page.goto(address + fragment(text, picture.view, **looks))
    page.get_by_text("simulated here in").wait_for()
    page.wait_for_load_state("networkidle")  # wait until Python has replied to all requests
    if picture.view == "shares":
        page.get_by_text("predicted share").wait_for()
    if picture.view == "air":
        show_collision(page)
    page.wait_for_timeout(1000)  # charts are drawn a moment later
    page.screenshot(path=IMAGES / f"{name}.png", clip=None if picture.height else seen(page))
    context.close()


def seen(page: Page) -> FloatRect:
    """Return the area of the view with a margin. [px]"""
    box = page.get_by_role("region", name="Results").bounding_box()
    assert box is not None
    return {
        "x": box["x"] - MARGIN,
        "y": box["y"] - MARGIN,
        "width": box["width"] + 2 * MARGIN,
        "height": box["height"] + 2 * MARGIN,
    }


def show_collision(page: Page) -> None:
    """Move to the first frame that has collided, and zoom in."""
    following = page.get_by_role("button", name="next frame")
    description = page.locator("[aria-live]").filter(has_text=" sends ").first
    following.click()
    while "collided" not in description.inner_text():
        following.click()
    page.get_by_role("button", name="zoom in").click()


def main() -> None:
    """Take all screenshots, or those with the given names."""
    names = sys.argv[1:] or list(PICTURES)
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("error: no Chromium here; Debian's package is chromium")
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for name in names:
            draw(browser, address, name)
            print(f"docs/images/{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
