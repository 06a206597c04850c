"""The workbench as a part of the documentation site: links that contain scenarios, and sites
without it.
"""

import base64
import json
import re
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

import lasthop as lh
from lasthop.workbench.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

import embedding  # noqa: E402

LINK = re.compile(r"\]\((workbench:[^)]*)\)")
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if LINK.search(path.read_text("utf-8"))]
GUIDE = (DOCS / "guide" / "workbench.md").read_text("utf-8")


def opened(address: str) -> dict[str, object]:
    """Return the page's state that a link contains, as `state/link.ts` reads it."""
    packed = address.partition("#s=")[2]
    unpacked = zlib.decompress(
        base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), wbits=-15
    )
    return dict(json.loads(unpacked))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_carry_the_scenario_that_the_page_shows(path: Path, tmp_path: Path) -> None:
    page = path.read_text("utf-8")
    for link in LINK.findall(page):
        address = embedding.target(link, page)
        assert address.startswith("workbench/index.html")
        if link == "workbench:":
            continue
        state = opened(address)
        text = state["text"]
        assert f"```toml\n{text}```" in page
        (tmp_path / "opened.toml").write_text(str(text), "utf-8")
        lh.Scenario(tmp_path / "opened.toml")
        assert state["settings"] == []
        view = dict(state["view"]).get("results")  # type: ignore[call-overload]
        assert view in (None, *embedding.VIEWS)


def test_three_exercises_have_links() -> None:
    page = (DOCS / "guide" / "teach.md").read_text("utf-8")
    assert set(embedding.scenarios(page)) == {"uploader.toml", "row.toml", "red.toml"}
    opened_ones = {link.partition("?")[0] for link in LINK.findall(page)}
    assert opened_ones >= {f"workbench:{name}" for name in embedding.scenarios(page)}


def test_a_checkout_has_the_files_of_the_exercises() -> None:
    page = (DOCS / "guide" / "teach.md").read_text("utf-8")
    files = {path.name: path.read_text("utf-8") for path in (ROOT / "examples/teach").iterdir()}
    assert files == embedding.scenarios(page)
    for command in re.findall(r"lasthop workbench (\S+\.toml)", page):
        assert (ROOT / command).is_file()


@pytest.mark.parametrize(
    ("link", "wrong"), [("workbench:no.toml", "shows no no.toml"), ("workbench:a.toml?sky", "view")]
)
def test_a_link_without_a_target_is_refused(link: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        embedding.target(link, '```toml\n# a.toml\nduration = "1 s"\n```\n')


def test_the_views_are_those_of_the_page() -> None:
    source = (ROOT / "workbench/src/views/Results.svelte").read_text("utf-8")
    keys = re.findall(r'key: "(\w+)",\s*title', source)
    assert keys == list(embedding.VIEWS)


@pytest.mark.parametrize("is_built", [True, False])
def test_without_the_page_the_text_stays_and_links_are_removed(
    tmp_path: Path, is_built: bool
) -> None:
    source = tmp_path / "guide.md"
    source.write_text("[open it](workbench:)")
    document = new_document("guide")
    link = nodes.reference("", "open it", refuri="workbench:")
    document += nodes.paragraph("", "", link)
    app = SimpleNamespace(
        env=SimpleNamespace(doc2path=lambda name: source),
        config=SimpleNamespace(workbench_is_built=is_built),
    )
    embedding.resolve(app, document, "guide/guide")
    left = [node["refuri"] for node in document.findall(nodes.reference)]
    assert left == (["../workbench/index.html"] if is_built else [])
    assert document.astext() == "open it"


def test_each_complete_scenario_of_a_page_has_a_link_that_opens_it() -> None:
    document = new_document("guide")
    scenario = 'duration = "2 s"\ncell = { phy = "802.11b" }\nstation.a.upload = 1\n'
    for text in (scenario, "[station.b]\nupload = 1\n", f'{scenario}gateway.wan = "eth0"\n'):
        document += nodes.literal_block(text, text, language="toml")
    config = SimpleNamespace(workbench_is_built=True)
    embedding.resolve(SimpleNamespace(config=config), document, "guide/guide")
    links = [node["refuri"] for node in document.findall(nodes.reference)]
    assert len(links) == 1
    assert opened(links[0]) == {"text": scenario, "settings": [], "view": {"side": "text"}}
    assert document.children[1].astext() == "Try it in the workbench"


def test_an_older_page_is_removed_from_the_site(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "workbench").mkdir()
    app = SimpleNamespace(outdir=tmp_path, config=SimpleNamespace(workbench_is_built=False))
    embedding.copy_page(app, None)
    assert not (tmp_path / "workbench").exists()
    assert capsys.readouterr().err.count("\n") == 1


def test_every_request_to_python_is_in_the_guide() -> None:
    rows = re.findall(r"^\| `POST api/(\w+)` \| `lasthop ([^`]+)` \| (.*) \|$", GUIDE, re.M)
    listed = {
        name: (words.split(), re.findall("`([^`]+)`", options)) for name, words, options in rows
    }
    assert listed == {name: (words, list(options)) for name, (words, options) in COMMANDS.items()}


def test_every_key_of_the_page_is_in_the_guide() -> None:
    source = (ROOT / "workbench/src/shell/shortcuts.ts").read_text("utf-8")
    keys = re.findall(r'\{ key: "([^"]+)"', source)
    assert len(keys) > 5
    rows = "".join(re.findall(r"^\| (.+?) \| ", GUIDE, re.M))
    assert [key for key in keys if f"`{key}`" not in rows and key not in rows] == []
