"""Start an installed workbench and request all parts of its page: ask_page.py SCENARIO."""

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

FIRST = b"\0asm"
"""First bytes of any WebAssembly file."""


def main(scenario: Path) -> None:
    """Request the page, the files that it loads, its engine, its scenario and a prediction."""
    command = [sys.executable, "-m", "lasthop", "workbench", "--no-browser", str(scenario)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            match = re.search(r"http://\S+/", line)
            if match is None:
                sys.exit(f"error: no address: {line}")
            print(about(match[0], scenario.read_text("utf-8")))
        finally:
            process.terminate()


def about(address: str, text: str) -> str:
    """Return a line of text about the server at an address."""
    page = reply_of(address).decode()
    files = re.findall(r'(?:src|href)="\./([^"]+)"', page)
    bytes_ = len(page) + sum(len(reply_of(address + name)) for name in files)
    engine = reply_of(address + "engine.wasm")
    if not files or not engine.startswith(FIRST):
        sys.exit("error: the page is not complete")
    begins = json.loads(reply_of(address + "api/about"))["scenario"]
    if begins["text"] != text:
        sys.exit("error: the page does not begin with the scenario")
    prediction = json.loads(reply_of(address + "api/predict", {"text": text}))
    return (
        f"a page of {bytes_ / 1e3:.0f} kB, an engine of {len(engine) / 1e3:.0f} kB, "
        f"a prediction by {prediction['answer']['model']}"
    )


def reply_of(address: str, request: dict[str, Any] | None = None) -> bytes:
    """Return the reply of a server."""
    body = None if request is None else json.dumps(request).encode()
    headers = {"content-type": "application/json"}
    question = urllib.request.Request(address, body, headers)
    with urllib.request.urlopen(question) as answer:
        return bytes(answer.read())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
