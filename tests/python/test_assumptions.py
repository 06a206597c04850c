"""Messages contain the text of an assumption, not only its number."""

import pickle
import re
from pathlib import Path

import pytest

from lasthop.errors import ModelError
from lasthop.models import MODELS
from lasthop.models.assumptions import BY_MODEL
from lasthop.models.errors import in_words, warning_text
from lasthop.models.vbs.window import GROWTH_ALGORITHMS

SOURCES = Path(__file__).parents[2] / "python" / "lasthop" / "models"

NUMBER = r'"(a\d|assumption \d+|(?:section|table|remark|eq\.|appendices) [^"]+|cell)"'
"""Pattern for the number or the short name of an assumption, as a string in a model's source."""

WARNED_OF = {
    "airtime": set(),
    "bottleneck": set(),
    "aggregates": set(),
    "dcf": set(),
    "hotspot": set(),
    "edca": {"section 4.1"},
    "vbs": {"section II", "section IV-D"},
    "red": {"eq. 2"},
    "acsma": set(),
}
"""Numbers of the assumptions whose violation causes only a warning."""


def numbers(model: str) -> set[str]:
    """Return the numbers of assumptions named in the sources of a model."""
    text = "\n".join(path.read_text("utf-8") for path in (SOURCES / model).glob("*.py"))
    return set(re.findall(NUMBER + r"(?=,)", text))


@pytest.mark.parametrize("model", MODELS)
def test_every_assumption_of_a_model_has_a_text(model: str) -> None:
    words = BY_MODEL[model]
    named = numbers(model)
    assert len(named) > 3
    assert named - set(words) == WARNED_OF[model]
    assert all(re.match(r"(that|of) \w", each) for each in words.values())


@pytest.mark.parametrize("model", MODELS)
def test_the_page_of_a_model_exists(model: str) -> None:
    assert (SOURCES.parents[2] / "docs" / "papers" / f"{model}.md").is_file()


def test_a_refusal_names_the_assumption_and_its_page() -> None:
    with pytest.raises(ModelError) as caught, in_words("red", {"eq. 9": "of rain"}):
        raise ModelError("eq. 9", "`sky` is red", [("eq. 9", "`sea` is red"), ("cell", "none")])
    assert caught.value.folded == [
        "breaks the assumption of rain: `sky` is red; the same holds for `sea` "
        "(eq. 9 of model red)",
        "breaks assumption cell: none",
    ]
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.reasons) == (str(caught.value), caught.value.reasons)


def test_a_doubt_ends_with_the_page_of_the_assumption() -> None:
    assert warning_text("red", ("eq. 2", "few flows")) == "few flows (eq. 2 of model red)"
    assert warning_text("red", "few flows") == "few flows"


def test_the_text_of_vbs_names_every_congestion_control_of_the_model() -> None:
    assert (
        BY_MODEL["vbs"]["section III-A"] == f"that connections run {', '.join(GROWTH_ALGORITHMS)}"
    )


def test_every_model_has_its_assumptions_in_the_common_table() -> None:
    assert set(BY_MODEL) == set(MODELS)
