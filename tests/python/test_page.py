"""The measuring page of the guide: its objects, and the recorded page load in the guide."""

import json
import sys
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "page"
sys.path.append(str(EXAMPLE))

import objects  # noqa: E402
import page as measuring  # noqa: E402
from waterfall import figure  # noqa: E402

GUIDE = (ROOT / "docs/guide/page.md").read_text("utf-8")
RECORD = json.loads((EXAMPLE / "page.json").read_text("utf-8"))


@pytest.mark.parametrize("count", [objects.LEAST, 7, objects.OBJECTS, 31])
def test_every_object_except_the_document_is_requested_by_another(count):
    made = objects.page(count)
    assert len({each.path for each in made}) == len(made) == count
    texts = "".join(each.content.decode() for each in made if each.kind != "image")
    asked = [each.path for each in made if f'"{each.path}"' in texts or f"({each.path})" in texts]
    assert asked == [each.path for each in made[1:]]
    assert objects.page(count) == made


def test_a_page_too_small_for_all_kinds_is_refused():
    with pytest.raises(ValueError, match="6 is the least"):
        objects.page(5)


def test_picture_objects_are_images():
    for each in objects.page():
        if each.kind == "image":
            Image.open(BytesIO(each.content)).verify()


def test_the_guide_shows_the_record():
    assert measuring.table(RECORD) in GUIDE
    assert measuring.about(RECORD) in GUIDE


def test_the_record_is_complete_and_was_in_time():
    assert [case["name"] for case in RECORD["cases"]] == list(measuring.CASES)
    for run in (run for case in RECORD["cases"] for run in case["runs"]):
        assert run["lateness_p99_s"] <= measuring.LATE_S
        assert {each["path"] for each in run["objects"]} == {o.path for o in objects.page()}


def test_the_file_of_the_guide_is_the_example():
    file = (EXAMPLE / "page.toml").read_text("utf-8")
    assert f"```toml\n{file}```" in GUIDE


def test_an_incomplete_page_is_drawn_and_reported_as_incomplete():
    cases = [dict(case, runs=[dict(run) for run in case["runs"]]) for case in RECORD["cases"]]
    for run in cases[1]["runs"]:
        run.update(complete=False, load_s=None, first_paint_s=None)
    drawn = figure({"cases": cases})
    assert [axes.get_title(loc="left") for axes in drawn.axes] == list(measuring.CASES)
    assert drawn.axes[0].get_xlim()[1] > 120
    assert ">120" in measuring.table({"cases": cases})
