"""Tests of the result views: the effects of clicks and keys."""

import re

from playwright.sync_api import Locator, Page, expect

from .conftest import is_over, link

CELL = """\
duration = "20 s"
warmup = "5 s"
cell = { phy = "802.11b" }
station.a = { count = 2, download = 1 }
station.u = { upload = 1 }
"""

ROW = """\
duration = "4 s"
warmup = "1 s"
replications = 2
[csma]
connected = true
access = "dcf"
[csma.link]
1 = { conflicts = ["2"] }
2 = { conflicts = ["3"] }
3 = {}
[flow]
left = { route = ["1"] }
middle = { route = ["2"] }
right = { route = ["3"] }
"""

MANY = """\
duration = "4 s"
warmup = "1 s"
cell = { phy = "802.11g" }
station.a = { count = 30, download = 1 }
"""


def opened(page: Page, address: str, text: str, tab: str) -> Locator:
    """Open a result view of a scenario."""
    page.goto(link(address, text))
    is_over(page)
    page.get_by_role("tab", name=tab, exact=True).click()
    return page.get_by_role("tabpanel", name=tab, exact=True)


def test_keys_step_from_frame_to_frame_wherever_frames_are_in_the_air(
    page: Page, static: str
) -> None:
    air = opened(page, static, CELL, "Air")
    frames = air.locator("[aria-live]").filter(has_text=" sends ")
    air.get_by_role("button", name="next frame").click()
    first = frames.inner_text()
    page.keyboard.press("ArrowRight")
    expect(frames).not_to_have_text(first)
    air.get_by_text("backoff, with the number of slots").click()
    page.keyboard.press("ArrowLeft")
    expect(frames).to_have_text(first)
    air.get_by_role("spinbutton").click()
    page.keyboard.press("ArrowRight")
    expect(frames).to_have_text(first)


def test_a_described_frame_is_in_view(page: Page, static: str) -> None:
    air = opened(page, static, CELL, "Air")
    frames = air.locator("[aria-live]").filter(has_text=" sends ")
    air.get_by_role("button", name="next frame").click()
    first = float(frames.inner_text().split(" s:")[0])
    # The click selects the middle of the overview, which shows the complete recording.
    air.locator("canvas").first.click()
    expect(frames).not_to_contain_text(f"{first:.6f}")
    view = re.search(r"From ([\d.]+) s for", air.inner_text())
    assert view is not None
    assert abs(float(frames.inner_text().split(" s:")[0]) - float(view[1])) < 0.1


def test_the_air_plays_and_rests_without_motion(page: Page, static: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    air = opened(page, static, CELL, "Air")
    frames = air.locator("[aria-live]").filter(has_text=" sends ")
    air.get_by_role("button", name="play").click()
    expect(frames).not_to_be_empty()
    first = frames.inner_text()
    expect(frames).not_to_have_text(first)
    air.get_by_role("button", name="pause").click()
    page.emulate_media(reduced_motion="no-preference")
    seen = air.get_by_text(re.compile("^From "))
    before = seen.inner_text()
    air.get_by_role("button", name="play").click()
    expect(seen).not_to_have_text(before)
    air.get_by_label("Colours").select_option("by station")
    expect(air.get_by_role("listitem").filter(has_text="a-2")).to_be_visible()


def test_a_conflict_graph_has_a_sum_and_says_where_queues_are(page: Page, static: str) -> None:
    shares = opened(page, static, ROW, "Shares")
    expect(shares).to_contain_text("Goodput of all flows")
    expect(shares).not_to_contain_text("Jain's index")
    expect(page.get_by_role("tab", name="Queue", exact=True)).to_have_count(0)
    page.get_by_role("tab", name="Over time").click()
    expect(page.get_by_text("Queues were not sampled")).to_be_visible()


def test_many_stations_begin_with_a_dozen(page: Page, static: str) -> None:
    shares = opened(page, static, MANY, "Shares")
    bars = shares.get_by_role("img").locator("title")
    expect(bars).to_have_count(12)
    shares.get_by_label("Shown").select_option("all")
    expect(bars).to_have_count(30)
