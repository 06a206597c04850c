"""Tests of the page in use: numbers equal to those of the command line, links, errors, stops,
accessibility.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from .conftest import fetched, is_over, link, saved, serving

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "workbench/src/gallery"
FINDINGS = sorted(path.stem for path in GALLERY.glob("*.toml"))

QUICK = """\
duration = "4 s"
warmup = "1 s"
replications = 3
cell = { phy = "802.11b" }
station.a = { count = 2, download = 1 }
station.u = { upload = 1 }
"""

LONG = (
    QUICK.replace('"4 s"', '"1000 s"')
    .replace("count = 2", "count = 40")
    .replace("replications = 3", "replications = 40")
)


def write(page: Page, text: str) -> None:
    """Replace the scenario text by typing another text."""
    editor = page.locator(".cm-content")
    editor.wait_for()
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def test_the_gallery_has_a_file_for_each_finding() -> None:
    known = re.findall(r'^    id: "([\w-]+)",$', (GALLERY / "index.ts").read_text("utf-8"), re.M)
    assert sorted(known) == FINDINGS
    assert len(FINDINGS) >= 16


@pytest.mark.smoke(2)
@pytest.mark.parametrize("name", FINDINGS)
def test_the_gallery_yields_what_the_command_line_does(
    page: Page, static: str, simulated: Callable[..., str], name: str
) -> None:
    text = (GALLERY / f"{name}.toml").read_text("utf-8")
    settings = ("seed=4711", "replications=2", f"name={name}")
    page.goto(link(static, text, settings))
    assert saved(page) == simulated(text, settings)


def test_a_scenario_is_answered_as_it_is_typed(
    page: Page, static: str, simulated: Callable[..., str]
) -> None:
    page.goto(static)
    is_over(page)
    card = page.get_by_role("heading", name="Why the call stutters")
    expect(card).to_be_visible()
    write(page, QUICK)
    page.get_by_text("3 replications of 4 s, simulated here").wait_for()
    assert saved(page) == simulated(QUICK)
    expect(card).to_be_hidden()


def test_an_error_is_shown_at_its_line_and_the_last_answer_stays(page: Page, static: str) -> None:
    page.goto(link(static, QUICK))
    is_over(page)
    write(page, QUICK.replace("802.11b", "802.11z"))
    problems = page.get_by_label("Problems of the scenario")
    expect(problems).to_contain_text("cell.phy")
    expect(problems).to_contain_text("4")
    expect(problems).to_contain_text("802.11z")
    page.get_by_text("results are those of the last text without problems").wait_for()
    page.get_by_text("3 replications of 4 s").wait_for()


def test_a_link_is_the_scenario(page: Page, static: str) -> None:
    page.goto(link(static, QUICK, ("seed=9",), gallery="uploader"))
    is_over(page)
    expect(page.locator(".finding"), "a card belongs to the text of its entry").to_be_hidden()
    first = saved(page)
    page.wait_for_function("location.hash.length > 20")
    copied = page.url
    assert copied.startswith(static + "#s=")
    other = page.context.new_page()
    other.goto(copied)
    assert saved(other) == first
    assert json.loads(first)["seed"] == 9


@pytest.mark.parametrize(
    "fragment", ["#s=%%%", "#s=AAAA", "#nothing", "#s=" + "A" * 200_000], ids=lambda each: each[:6]
)
def test_a_broken_link_is_reported_in_a_line(page: Page, static: str, fragment: str) -> None:
    page.goto(static + fragment)
    expect(page.get_by_role("alert").first).to_contain_text("link")


def test_a_long_run_is_stopped_immediately(page: Page, static: str) -> None:
    page.goto(link(static, LONG))
    page.get_by_role("progressbar").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("progressbar").wait_for(state="detached")
    write(page, QUICK)
    page.get_by_text("3 replications of 4 s, simulated here").wait_for()


def test_names_are_text_whatever_they_are(page: Page, static: str) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    page.goto(link(static, f"name = '{hostile}'\n{QUICK}"))
    assert json.loads(saved(page))["scenario"] == hostile
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("width", [320, 390, 768, 1600])
def test_nothing_is_wider_than_the_window(page: Page, static: str, width: int) -> None:
    name = "a-station-in-the-living-room-next-door-12"
    long = f"station.{name} = {{ count = 30, udp_up = '9 kbps', udp_down = '9 kbps' }}\n"
    page.goto(link(static, QUICK + long))
    is_over(page)
    page.set_viewport_size({"width": width, "height": 844})
    for name in page.get_by_role("tab").all():
        if name.is_visible():
            name.click()
            page.wait_for_timeout(100)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, name.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(page: Page, static: str, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(link(static, QUICK))
    is_over(page)
    tabs = page.get_by_role("tablist").last.get_by_role("tab").all()
    assert len(tabs) >= 5
    for tab in tabs:
        tab.click()
        page.wait_for_timeout(200)
        checked = Axe().run(page)
        serious = [
            (each["id"], [node["html"] for node in each["nodes"]][:3])
            for each in checked.response["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == [], tab.inner_text()


def test_the_page_can_be_used_by_keys(page: Page, static: str) -> None:
    page.goto(link(static, QUICK))
    is_over(page)
    page.get_by_role("tab", name="Shares").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Over time")).to_be_focused()
    expect(page.get_by_role("tab", name="Over time")).to_have_attribute("aria-selected", "true")


def test_frames_can_be_stepped_through(page: Page, static: str) -> None:
    page.goto(link(static, QUICK))
    is_over(page)
    page.get_by_role("tab", name="Air").click()
    page.get_by_role("button", name="next frame").click()
    frames = page.locator("[aria-live]").filter(has_text=" sends ")
    first = frames.first.inner_text()
    page.get_by_role("button", name="next frame").click()
    expect(frames.first).not_to_have_text(first)


def test_a_saved_run_is_drawn_below_later_runs_and_back_undoes_edits(
    page: Page, static: str
) -> None:
    page.goto(link(static, QUICK))
    is_over(page)
    page.get_by_role("button", name="Keep", exact=True).click()
    write(page, QUICK.replace("upload = 1", "upload = 3"))
    expect(page.get_by_text("station.u.upload: 1 → 3")).to_be_visible()
    expect(page.get_by_text("kept run", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Over time").click()
    expect(page.get_by_role("button", name="u/up/1 (kept)")).to_be_visible()
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page.locator(".cm-content")).to_contain_text("upload = 1")
    expect(page.get_by_text("station.u.upload: 1 → 3")).to_be_hidden()


def test_the_form_adds_a_station_with_a_call_and_chooses_a_queue(page: Page, static: str) -> None:
    page.goto(link(static, QUICK.replace("802.11b", "802.11ac"), side="form"))
    is_over(page)
    page.get_by_label("New station").fill("phone")
    page.get_by_role("button", name="Add a station").click()
    page.locator("#field-station-phone-call").fill("1")
    page.locator("#field-station-phone-call").press("Tab")
    page.locator("#field-cell-ap_queue-\\(discipline\\)").select_option("fq_codel")
    first = page.get_by_role("tablist").get_by_role("tab").first
    expect(first).to_have_text("Delay and loss")
    expect(page.get_by_text("phone, up:")).to_be_visible()
    page.get_by_role("button", name="Remove station u").click()
    page.get_by_role("button", name="Text", exact=True).click()
    text = page.locator(".cm-content")
    expect(text).to_contain_text("ap_queue = { fq_codel = {} }")
    expect(text).to_contain_text("station.phone = {")
    expect(text).not_to_contain_text("station.u")


def test_a_term_is_explained_on_focus_and_on_a_tap(page: Page, static: str) -> None:
    page.goto(link(static, QUICK))
    is_over(page)
    term = page.get_by_role("button", name="Jain's index").first
    term.focus()
    tip = page.get_by_role("tooltip").filter(has_text="fairness")
    expect(tip).to_be_visible()
    described = page.locator(f"#{term.get_attribute('aria-describedby')}")
    expect(described).to_have_text(tip.inner_text())
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    term.click()
    expect(tip).to_be_visible()


def test_without_python_the_page_names_missing_parts(page: Page, static: str) -> None:
    page.goto(link(static, QUICK))
    is_over(page)
    expect(page.get_by_text(re.compile("need.*lasthop workbench"))).to_be_visible()


def test_with_python_predictions_are_shown(page: Page, address: str) -> None:
    text = QUICK.replace('"4 s"', '"30 s"') + "tcp = { window = 42 }\n"
    page.goto(link(address, text))
    is_over(page)
    page.get_by_role("tab", name="Models").click()
    expect(page.get_by_role("tabpanel").get_by_text("hotspot", exact=True)).to_be_visible()
    assert b"lasthop-api" in fetched(address)


def test_a_setting_that_is_used_is_written_into_the_text(page: Page, address: str) -> None:
    page.goto(link(address, QUICK))
    is_over(page)
    page.get_by_role("tab", name="Sweep").click()
    page.get_by_role("combobox", name="Key").fill("station.u.upload")
    page.get_by_role("textbox", name="Values").fill("2,3")
    page.get_by_role("spinbutton", name="Replications").fill("1")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Use this").first.click()
    text = page.locator(".cm-content")
    expect(text).to_contain_text("station.u = { upload = 2 }")
    expect(page.get_by_label("Settings that override the text")).to_have_count(0)
    page.get_by_role("textbox", name="Values").fill("no")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("is not a number")
    expect(page.get_by_text("The previous result is shown").first).to_be_visible()


def test_a_file_is_read_again_until_its_text_is_changed(
    page: Page, built_page: Path, tmp_path: Path
) -> None:
    file = tmp_path / "hall.toml"
    file.write_text(QUICK, "utf-8")
    with serving(str(file)) as address:
        page.goto(address)
        is_over(page)
        expect(page.get_by_text("hall.toml")).to_be_visible()
        page.get_by_role("tab", name="Over time").click()
        page.wait_for_timeout(1000)  # the page writes its address after a pause
        file.write_text(QUICK.replace("count = 2", "count = 3"), "utf-8")
        page.reload()
        expect(page.locator(".cm-content")).to_contain_text("count = 3")
        write(page, QUICK.replace("count = 2", "count = 4"))
        expect(page).to_have_url(re.compile("#s="))
        page.reload()
        expect(page.locator(".cm-content")).to_contain_text("count = 4")
        page.goto("about:blank")  # an empty page sends no request after the server has ended


def test_a_setting_over_the_text_is_in_its_field_and_in_its_file(page: Page, static: str) -> None:
    page.goto(link(static, QUICK, ("station.u.upload=7", "name=hall"), side="form"))
    is_over(page)
    field = page.locator("#field-station-u-upload")
    expect(field).to_have_value("7")
    expect(page.get_by_text("overridden by a setting")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save", exact=True).click()
    assert download.value.suggested_filename == "hall.toml"
    saved_text = Path(download.value.path()).read_text("utf-8")
    assert 'name = "hall"' in saved_text
    assert "station.u = { upload = 7 }" in saved_text
    field.fill("5")  # the number is applied without the Enter key
    page.get_by_role("button", name="Text", exact=True).click()
    expect(page.locator(".cm-content")).to_contain_text("station.u = { upload = 5 }")
    expect(page.get_by_label("Settings that override the text")).to_contain_text("name=hall")


def test_a_link_opens_on_its_results_on_a_phone(page: Page, static: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(link(static, QUICK))
    parts = page.get_by_role("navigation")
    results = parts.get_by_role("button", name="Results")
    expect(results).to_have_attribute("aria-pressed", "true")
    parts.get_by_role("button", name="Text").click()
    expect(results).to_have_attribute("aria-pressed", "false")


@pytest.mark.slow
def test_memory_stays_flat_over_two_hundred_edits(page: Page, static: str) -> None:
    page.goto(link(static, QUICK))
    is_over(page)

    def used(edits: range) -> int:
        for number in edits:
            write(page, QUICK.replace("replications = 3", f"replications = 2\nseed = {number}"))
            page.wait_for_timeout(250)
        is_over(page)
        page.requests_gc() if hasattr(page, "requests_gc") else None
        return int(page.evaluate("performance.memory.usedJSHeapSize"))

    used(range(1, 21))
    before = used(range(21, 41))
    after = used(range(41, 241))
    assert after <= 1.5 * before + 5e6


@pytest.mark.measured
def test_the_first_answer_comes_within_a_second(page: Page, static: str) -> None:
    page.goto(static)
    is_over(page)  # this first load is slower, since it reads the page from the disk
    page.goto("about:blank")
    page.goto(static)
    page.wait_for_load_state("load")
    page.get_by_role("tabpanel").first.wait_for(timeout=1000)
