"""A browser at a station of an emulated cell: every object of a page comes, and its times."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from emulating import COMMAND, skip_without_rights

EXAMPLE = Path(__file__).parents[2] / "examples" / "page"
sys.path.append(str(EXAMPLE))

from objects import LEAST, page  # noqa: E402

TIMES = ("start_s", "connect_s", "connected_s", "request_s", "response_s", "end_s")


@pytest.fixture(autouse=True, scope="module")
def rights(request: pytest.FixtureRequest) -> None:
    skip_without_rights(request)


def test_a_browser_loads_every_object(
    tmp_path: Path, debian_program: Callable[[str, str], str]
) -> None:
    debian_program("chromium", "chromium")
    out = tmp_path / "load.json"
    server = f"{sys.executable} {EXAMPLE / 'serve.py'} --objects {LEAST}"
    browser = [sys.executable, str(EXAMPLE / "load.py"), "--before", "0", "--out", str(out)]
    words = ["--json", "--set", "warmup=500 ms", "--at", "laptop", "--with", "server", server]
    done = subprocess.run(
        [*COMMAND, str(EXAMPLE / "page.toml"), *words, "--", *browser],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    load = json.loads(out.read_text())
    wanted = {each.path: len(each.content) for each in page(LEAST)}
    objects = load["objects"]
    assert load["complete"]
    assert {each["path"]: each["bytes"] for each in objects} == wanted
    assert len(objects) == LEAST
    assert {each["status"] for each in objects} == {200}
    for each in objects:
        times = [each[name] for name in TIMES]
        assert times == sorted(times), each["path"]
    assert objects[0]["path"] == "/"
    assert 0 < objects[0]["end_s"] <= load["load_s"]
    assert load["pings"]
    flows = json.loads(done.stdout)["flows"]
    web = [one for one in flows if one.get("connection", "").startswith("tcp 10.255.0.1:80 ")]
    result = json.loads(done.stdout)
    length_s = result["duration_s"] - result["warmup_s"]
    carried_bytes = sum(one["goodput_bps"]["mean"] for one in web) * length_s / 8
    assert carried_bytes >= sum(wanted.values())
