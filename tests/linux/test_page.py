"""Tests of the guide's page in an emulated cell: received objects, and times in a browser."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from emulating import emulated, skip_without_rights

EXAMPLE = Path(__file__).parents[2] / "examples" / "page"
sys.path.append(str(EXAMPLE))

from objects import LEAST, TYPES, page  # noqa: E402

SERVER = f"{sys.executable} {EXAMPLE / 'serve.py'} --objects {LEAST}"
FETCHES = """
import json, socket, sys
from http.client import HTTPConnection
from itertools import count

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as pings:
    pings.connect(("server", 80))
    pings.settimeout(0.1)
    for number in count():  # until the server answers
        try:
            pings.send(b"%d" % number)
            pings.recv(100)
            break
        except OSError:
            continue
connection, seen = HTTPConnection("server", 80), {}
for path in sys.argv[2:]:
    connection.request("GET", path)
    answer = connection.getresponse()
    seen[path] = answer.status, answer.headers.get_content_type(), len(answer.read())
with open(sys.argv[1], "w") as out:
    json.dump(seen, out)
"""
"""Program that waits until the server answers a datagram, and then fetches objects over a single
connection."""
TIMES = ("start_s", "connect_s", "connected_s", "request_s", "response_s", "end_s")


@pytest.fixture(autouse=True, scope="module")
def rights() -> None:
    skip_without_rights()


def loaded(*browser: str | Path) -> dict[str, Any]:
    """Run a program at the laptop while the page's server runs; return the result."""
    words = ["--json", "--set", "warmup=500 ms", "--at", "laptop", "--with", "server", SERVER]
    done = emulated(EXAMPLE / "page.toml", *words, "--", *browser)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def carried_bytes(result: dict[str, Any]) -> float:
    """Return the payload that the server's connections carried. [bytes]"""
    web = [
        flow
        for flow in result["flows"]
        if flow.get("connection", "").startswith("tcp 10.255.0.1:80 ")
    ]
    length_s = result["duration_s"] - result["warmup_s"]
    return sum(flow["goodput_bps"]["mean"] for flow in web) * length_s / 8


def test_every_object_of_the_page_arrives_over_the_air(tmp_path: Path) -> None:
    """The server and the scenario are those of the guide; another program replaces the browser."""
    script, out = tmp_path / "fetches.py", tmp_path / "seen.json"
    script.write_text(FETCHES)
    expected = {
        each.path: [200, TYPES[each.kind].partition(";")[0], len(each.content)]
        for each in page(LEAST)
    }
    result = loaded(sys.executable, script, out, *expected)
    assert json.loads(out.read_text()) == expected
    assert carried_bytes(result) >= sum(size for _, _, size in expected.values())


@pytest.mark.slow
def test_a_browser_loads_every_object(
    tmp_path: Path, debian_program: Callable[[str, str], str]
) -> None:
    debian_program("chromium", "chromium")
    out = tmp_path / "load.json"
    result = loaded(sys.executable, EXAMPLE / "load.py", "--before", "0", "--out", out)
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
    assert carried_bytes(result) >= sum(wanted.values())
