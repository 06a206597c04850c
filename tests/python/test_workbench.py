"""The Python server of the workbench: requests, replies, and error messages of one line."""

import http.client
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import uvicorn

import lasthop as lh
from lasthop.cli.workbench import listening
from lasthop.workbench import files, service
from lasthop.workbench.commands import COMMANDS, Asked, reply_of
from lasthop.workbench.service import application

from .conftest import EXAMPLES, SMALL, Lasthop
from .test_extras import bare

JSON = {"content-type": "application/json"}
PATIENCE_S = 60.0
"""Longest wait for an event, which is long enough for a busy machine. [s]"""


class Reply(NamedTuple):
    """Reply of the server."""

    status: int
    body: str
    headers: dict[str, str]

    @property
    def tree(self) -> Any:
        return json.loads(self.body)


class Served:
    """A server on the loopback interface, in its own thread."""

    def __init__(self, file: Path | None = None) -> None:
        self._listener = listening(0)
        self.port: int = self._listener.getsockname()[1]
        self.file = file
        app = application(file, is_over=lambda: self.server.should_exit)
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        self._thread = threading.Thread(target=self.server.run, args=([self._listener],))
        self._thread.start()

    def close(self) -> None:
        self.server.should_exit = True
        self._thread.join(PATIENCE_S)
        self._listener.close()
        assert not self._thread.is_alive()

    def ask(self, method: str, path: str, body: str | bytes | None = None, **headers: str) -> Reply:
        given = {**JSON, **{name.replace("_", "-"): each for name, each in headers.items()}}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        with closing(connection):
            connection.request(method, path, body, given)
            response = connection.getresponse()
            received = {name.lower(): each for name, each in response.getheaders()}
            return Reply(response.status, response.read().decode(), received)

    def post(self, command: str, **request: Any) -> Reply:
        return self.ask("POST", f"/api/{command}", json.dumps(request))


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a small page that replaces the built page."""
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<!doctype html><html><head><title>w</title></head></html>")
    (page / "engine.wasm").write_bytes(b"\0asm")
    monkeypatch.setattr(files, "PAGE", page)
    return page


@pytest.fixture
def served(built: Path, small: Path) -> Iterator[Served]:
    """Start a server with a small scenario."""
    with closing(Served(small)) as server:
        yield server


def one_line(reply: Reply, status: int) -> str:
    """Return the error in a reply. It is one line, without a period at its end."""
    assert reply.status == status, reply
    error = reply.tree["error"]
    assert isinstance(error, str)
    assert error
    assert "\n" not in error
    assert not error.endswith(".")
    return error


def test_the_page_names_its_interface_and_loads_nothing_from_elsewhere(served: Served) -> None:
    page = served.ask("GET", "/")
    assert '<meta name="lasthop-api" content="api/" />' in page.body
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert served.ask("GET", "/engine.wasm").status == 200
    assert served.ask("GET", "/../small.toml").status == 404


def test_about_has_the_present_scenario(served: Served, small: Path) -> None:
    about = served.ask("GET", "/api/about").tree
    assert about["version"] == lh.__version__
    assert about["commands"] == ["predict", "compare", "sweep", "tune", "chart"]
    assert about["scenario"] == {"name": "small.toml", "text": SMALL}
    small.write_text("changed = true\n")
    assert served.ask("GET", "/api/about").tree["scenario"]["text"] == "changed = true\n"
    small.unlink()
    about = served.ask("GET", "/api/about").tree
    assert about["scenario"] is None
    assert about["notes"] == [f"{small}: No such file or directory"]


def test_a_prediction_equals_that_of_the_command_line(served: Served, lasthop: Lasthop) -> None:
    file = EXAMPLES / "hotspot.toml"
    reply = served.post("predict", text=file.read_text(), settings=["cell.ap.cwmin=15"])
    assert reply.status == 200, reply
    printed = lasthop("predict", file, "--json", "--set", "cell.ap.cwmin=15")
    assert reply.tree["answer"] == json.loads(printed.stdout)
    notes = printed.stderr.replace("warning: ", "").splitlines()
    assert reply.tree["notes"] == notes


def test_options_reach_the_command(served: Served) -> None:
    over = "station.far.upload=1,2"
    reply = served.post("sweep", text=SMALL, options={"over": over, "replications": 2})
    assert reply.status == 200, reply
    points = reply.tree["answer"]["points"]
    assert [each["settings"] for each in points] == [
        {"station.far.upload": "1"},
        {"station.far.upload": "2"},
    ]
    assert {each["result"]["replications"] for each in points} == {2}
    assert reply.tree["notes"] == []  # the path of the result files is no warning


def test_a_wrong_scenario_is_refused_with_line_and_hint(served: Served) -> None:
    reply = served.post("predict", text=f"{SMALL}downlod = 1\n")
    line = SMALL.count("\n") + 1
    assert one_line(reply, 200).startswith(f"scenario.toml:{line}: `station.far.downlod`: unknown")
    assert reply.tree["hint"] == "did you mean `download`?"


WRONG: dict[str, tuple[str, Any, str]] = {
    "an unknown command": ("simulate", {"text": SMALL}, "`simulate` is not among predict"),
    "an unknown option": (
        "predict",
        {"text": SMALL, "options": {"out": "/tmp/x"}},
        "`out` is not among the options: model, option",
    ),
    "no object": ("predict", [SMALL], "a request must be an object"),
    "no text": ("predict", {"settings": []}, "`text` of a request must be a scenario"),
    "a setting that is none": ("predict", {"text": SMALL, "settings": [5]}, "`settings` of"),
    "settings that are none": ("predict", {"text": SMALL, "settings": "a=b"}, "`settings` of"),
    "options that are none": ("predict", {"text": SMALL, "options": []}, "`options` of"),
    "an option that is none": ("tune", {"text": SMALL, "options": {"for": {}}}, "`for` of the"),
    "half a character": ("predict", {"text": "\ud800"}, "`text` of a request: not text"),
    "a null character": ("predict", {"text": "", "settings": ["a=\0"]}, "`settings` and"),
    "a long setting": ("predict", {"text": "", "settings": ["a" * 20_000]}, "a setting or an"),
    "many settings": ("predict", {"text": "", "settings": ["a=1"] * 300}, "more than 200"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_invalid_request_is_refused_in_one_line(
    served: Served, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setattr(service, "run", None)  # The server must not start a command.
    command, request, error = WRONG[case]
    reply = served.ask("POST", f"/api/{command}", json.dumps(request))
    assert one_line(reply, 400).startswith(error)


@pytest.mark.parametrize("body", ["", "{", "nonsense", "[" * 100_000, b"\xff\xfe{"])
def test_malformed_json_is_refused_in_one_line(served: Served, body: str | bytes) -> None:
    reply = served.ask("POST", "/api/predict", body)
    assert one_line(reply, 400) == "a request that is not JSON"


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "/proc/self/environ"])
def test_no_file_of_this_machine_is_read_for_a_page(served: Served, name: str) -> None:
    wired = f'wire.rate = {{ trace_file = "{name}" }}\n{SMALL}'
    message = one_line(served.post("predict", text=wired), 200)
    assert "a scenario of a page has no files" in message


def test_no_file_of_this_machine_is_read_for_the_sweep_of_a_page(served: Served) -> None:
    over = ['wire.rate={trace_file="/etc/passwd"},5 Mbps']
    message = one_line(served.post("sweep", text=SMALL, options={"over": over}), 200)
    assert "a scenario of a page has no files" in message


def test_other_kinds_of_content_are_refused(served: Served) -> None:
    """Requests from forms on other pages are refused: forms can send only content types such as
    these, and cannot send application/json.
    """
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        reply = served.ask("POST", "/api/predict", json.dumps({"text": SMALL}), content_type=kind)
        assert one_line(reply, 400) == "a request must be application/json"


def test_a_body_that_is_too_large_is_refused_before_it_is_read(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_BYTES", 1000)
    reply = served.post("predict", text="#" * 2000)
    assert one_line(reply, 400) == "a request of more than 1,000 bytes"


@pytest.mark.parametrize("path", ["/", "/api/about"])
def test_other_names_of_this_machine_are_refused(served: Served, path: str) -> None:
    assert served.ask("GET", path, host=f"evil.example:{served.port}").status == 400
    assert served.ask("GET", path, host=f"localhost:{served.port}").status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_other_pages_may_ask_nothing(served: Served, origin: str) -> None:
    reply = served.ask("POST", "/api/predict", json.dumps({"text": SMALL}), origin=origin)
    assert one_line(reply, 403) == "asked by another page"
    assert "access-control-allow-origin" not in reply.headers


def test_the_page_itself_may_ask(served: Served) -> None:
    own = f"http://127.0.0.1:{served.port}"
    assert served.ask("POST", "/api/predict", "{", origin=own).status == 400


def waits(pid_file: Path) -> list[str]:
    """Return a command that starts another command, prints both process IDs and never ends."""
    program = (
        "import os, subprocess, sys, time\n"
        "other = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'])\n"
        f"path = {str(pid_file)!r}\n"
        "open(path + '.part', 'w').write(f'{os.getpid()} {other.pid}')\n"
        "os.rename(path + '.part', path)\n"
        "time.sleep(300)\n"
    )
    return [sys.executable, "-c", program]


def is_running(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def wait_for(what: str, condition: Any) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.02)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
@pytest.mark.parametrize("how", ["client goes away", "server ends"])
def test_a_command_ends_if_no_request_waits_for_it(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setattr(Asked, "process", property(lambda _: waits(pids)))
    body = json.dumps({"text": SMALL, "options": {"for": "delay"}})
    with (
        closing(Served()) as server,
        socket.create_connection(("127.0.0.1", server.port)) as client,
    ):
        head = f"POST /api/tune HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        client.sendall(f"{head}{body}".encode())
        wait_for("the command begins", pids.exists)
        both = [int(each) for each in pids.read_text().split()]
        assert all(is_running(pid) for pid in both)
        if how == "client goes away":
            client.close()
        else:
            server.server.should_exit = True
        wait_for("the command ends", lambda: not any(is_running(pid) for pid in both))


def test_a_prediction_does_not_wait_for_long_commands(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While two long commands run, further long commands wait. A prediction is still answered
    immediately.
    """
    process = Asked.process
    number = iter(range(100))

    def instead(asked: Asked) -> list[str]:
        if asked.arguments[0] == "predict":
            return [sys.executable, "-c", "print({})"]
        return waits(tmp_path / f"{next(number)}.pids")

    assert isinstance(process, property)
    monkeypatch.setattr(Asked, "process", property(instead))
    with closing(Served()) as server:
        asking = [threading.Thread(target=server.post, args=("sweep",), kwargs={"text": ""})]
        asking += [threading.Thread(target=server.post, args=("tune",), kwargs={"text": ""})]
        for each in asking:
            each.start()
        wait_for("both run", lambda: len([*tmp_path.glob("*.pids")]) == 2)
        assert server.post("predict", text="").tree == {"answer": {}, "notes": []}
        server.server.should_exit = True
        for each in asking:
            each.join(PATIENCE_S)


def test_the_output_of_a_command_becomes_an_answer() -> None:
    good = reply_of(0, b'{"a": NaN, "b": 1.5}', b"warning: careful\ntables: out/x\n")
    answer = {"a": None, "b": 1.5}
    assert (good.status, good.body) == (200, {"answer": answer, "notes": ["careful"]})
    wrong = reply_of(2, b"", b"warning: w\nerror: a\nerror: b\nhint: c\n")
    assert (wrong.status, wrong.body) == (200, {"error": "a\nb", "hint": "c"})
    killed = reply_of(-9, b"", b"")
    assert (killed.status, killed.body["error"]) == (500, "the command ended with code -9")
    assert reply_of(0, b"no JSON", b"").status == 500


def test_every_option_exists_in_its_command(lasthop: Lasthop) -> None:
    for words, options in COMMANDS.values():
        text = lasthop(*words, "--help").stdout
        assert all(f"  {flag} " in text for flag in options.values()), words


def test_a_missing_file_is_one_line(lasthop: Lasthop, built: Path, tmp_path: Path) -> None:
    done = lasthop("workbench", "absent.toml")
    assert done == (2, "", "error: absent.toml: No such file or directory\n")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\x80")
    assert lasthop("workbench", binary) == (2, "", f"error: {binary}: not text in UTF-8\n")


def test_a_port_in_use_is_one_line(lasthop: Lasthop, built: Path) -> None:
    with listening(0) as taken:
        port = taken.getsockname()[1]
        done = lasthop("workbench", "--no-browser", "--port", str(port))
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"error: --port {port}: Address already in use",
        "hint: omit --port to use any free port",
    ]


def test_a_page_that_is_not_built_is_one_line(
    lasthop: Lasthop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PAGE", tmp_path / "nowhere")
    done = lasthop("workbench", "--no-browser")
    assert (done.returncode, done.stdout) == (2, "")
    line, hint = done.stderr.splitlines()
    assert line == "error: the workbench's page has not been built here"
    assert "make workbench" in hint


def test_without_its_packages_the_extra_is_named(tmp_path: Path) -> None:
    done = bare(tmp_path, "workbench")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "error: lasthop workbench: package starlette is not installed",
        'hint: run `pip install "lasthop[workbench]"`',
    ]
