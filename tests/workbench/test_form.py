"""Tests of the form: activities of a station by keys, messages at fields, accessibility."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from .conftest import is_over, link

SCENARIO = """\
duration = "6 s"
warmup = "1 s"
replications = 2
cell = { phy = "802.11ac" }

[station.laptop]
[station.laptop.download.video]     # chunks
size = "200 kB"
every = "500 ms"
ecn = true

[station.phone]
upload = 1  # a backup
ping = "100 ms"
"""


def text_of(page: Page) -> Locator:
    """Show the scenario text."""
    page.get_by_role("button", name="Text", exact=True).click()
    return page.locator(".cm-content")


def opened(page: Page, static: str) -> None:
    """Open the form of the scenario."""
    page.goto(link(static, SCENARIO, side="form"))
    is_over(page)


def test_every_activity_is_added_by_keys_and_simulated(page: Page, static: str) -> None:
    opened(page, static)
    choice = page.get_by_label("Add to laptop")
    titles = choice.locator("option").all_inner_texts()
    assert "pings" in titles
    for title in titles:
        choice.focus()
        choice.select_option(title)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        # the first field of the new activity has the focus
        field = "-(ping-every|(download|upload)-[a-z0-9-]+-connections)$"
        expect(page.locator(":focus")).to_have_attribute(
            "id", re.compile("^field-station-laptop" + field)
        )
    page.get_by_text("2 replications of 6 s, simulated here").wait_for()
    expect(page.get_by_label("Problems of the scenario")).to_be_empty()
    expect(choice.locator("option")).to_have_count(len(titles) - 1)  # a station pings once
    text = text_of(page)
    for line in (
        "[station.laptop.download.video-2]",
        "[station.laptop.upload.camera]",
        "[station.laptop.ping]",
        "[station.laptop.download.video]     # chunks",
    ):
        expect(text).to_contain_text(line)


def test_the_last_group_is_removed_with_its_table(page: Page, static: str) -> None:
    opened(page, static)
    page.get_by_role("button", name="Remove Download video of laptop").click()
    page.locator("#field-station-phone-ping").fill("50")
    page.locator("#field-station-phone-ping").press("Tab")
    page.get_by_text("More about Pings").click()
    page.locator("#field-station-phone-ping-size").fill("200")
    page.locator("#field-station-phone-ping-size").press("Tab")
    text = text_of(page)
    expect(text).not_to_contain_text("download")
    expect(text).to_contain_text('ping = { every = "50 ms", size = "200 B" }')
    expect(text).to_contain_text("upload = 1  # a backup")


def test_a_message_at_a_field_is_that_of_the_command_line(
    page: Page, static: str, tmp_path: Path
) -> None:
    opened(page, static)
    field = page.get_by_label("Size of a chunk", exact=True)
    field.fill("0")
    field.press("Tab")
    expect(field).to_have_attribute("aria-invalid", "true")
    message = page.locator(f"#{field.get_attribute('aria-describedby')}")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(SCENARIO.replace("200 kB", "0 kB"), "utf-8")
    command = [sys.executable, "-m", "lasthop", "check", str(wrong)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert " ".join(message.inner_text().split()) in " ".join(done.stderr.split())
    expect(page.get_by_label("Problems of the scenario")).to_contain_text(message.inner_text())


def test_results_have_pings_and_chunks(page: Page, static: str) -> None:
    opened(page, static)
    delays = page.get_by_role("tabpanel", name="Delay and loss")
    expect(delays.get_by_text(re.compile("half of the pings take up to"))).to_be_visible()
    expect(delays.get_by_text(re.compile("a chunk takes .* on average"))).to_be_visible()
    expect(delays.get_by_role("combobox", name=re.compile("^Delay"))).to_have_value("pings")
    delays.get_by_role("combobox", name=re.compile("^Delay")).select_option("rtt_s")
    expect(delays.get_by_role("button", name="laptop down")).to_be_visible()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390), ("light", 320)])
def test_the_form_is_accessible(page: Page, static: str, scheme: str, width: int) -> None:
    assert scheme in ("light", "dark")
    page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
    page.set_viewport_size({"width": width, "height": 844})
    opened(page, static)
    page.get_by_label("Size of a chunk", exact=True).fill("0")
    page.get_by_label("Size of a chunk", exact=True).press("Tab")
    for summary in page.get_by_text(re.compile("^More about ")).all():
        summary.click()
    expect(page.locator("[aria-invalid]")).to_be_visible()
    checked = Axe().run(page)
    serious = [
        (each["id"], [node["html"] for node in each["nodes"]][:3])
        for each in checked.response["violations"]
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
