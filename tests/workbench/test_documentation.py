"""Tests that each link of the documentation opens its scenario in the workbench, in the intended
view.
"""

import re
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .conftest import is_over

DOCS = Path(__file__).parents[2] / "docs"
sys.path.append(str(DOCS))

import embedding  # noqa: E402

TEACH = (DOCS / "guide" / "teach.md").read_text("utf-8")
LINKS = re.findall(r"\]\((workbench:[^)]+\.toml[^)]*)\)", TEACH)
TITLES = {"shares": "Shares", "time": "Over time", "queue": "Queue"}


@pytest.mark.smoke(1)
@pytest.mark.parametrize("link", LINKS)
def test_a_link_opens_its_scenario_and_view(page: Page, static: str, link: str) -> None:
    name, _, view = link.removeprefix("workbench:").partition("?")
    page.goto(static + embedding.target(link, TEACH).removeprefix("workbench/"))
    is_over(page)
    shown = page.locator(".cm-content").inner_text()
    text = embedding.scenarios(TEACH)[name]
    assert shown.split() == text.split()
    tab = page.get_by_role("tab", name=TITLES[view or "shares"])
    expect(tab).to_have_attribute("aria-selected", "true")
    assert page.get_by_role("alert").count() == 0
