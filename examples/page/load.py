"""Load a page once with empty caches: `load.py [URL] [--out FILE]`.

The record contains Chromium's times of each object (Navigation Timing, Resource Timing). A datagram
every 100 ms measures the round-trip time to the server. The first datagram is sent 3 s before the
page is requested.
"""

import argparse
import json
import math
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from browser import Browser, BrowserError

Item = dict[str, Any]

LONGEST_S = 120.0
"""Time after which an incomplete page counts as not loaded. [s]"""
START_S = 30.0
"""Longest wait until the server is ready. [s]"""
PING_S = 0.1
PING_BYTES = 64
BEFORE_S = 3.0
"""Time between the first ping and the load of the page. [s]"""
LAST_S = 1.0
"""Longest wait for the reply to the last ping. [s]"""
TIMES = (
    *("startTime", "connectStart", "connectEnd"),
    *("requestStart", "responseStart", "responseEnd"),
)
ENTRIES = """(() => {
    const own = performance.getEntriesByType("navigation")[0];
    const paints = performance.getEntriesByType("paint").map(one => [one.name, one.startTime]);
    const objects = [own, ...performance.getEntriesByType("resource")].map(one => one.toJSON());
    return {loaded: own.loadEventStart, paints: Object.fromEntries(paints), objects};
})()"""


class Pings(threading.Thread):
    """Pings: datagrams to a server that sends them back."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(daemon=True)
        self.heard, self.over = threading.Event(), threading.Event()
        self.sent_s: list[float] = []
        self.rtts_s: dict[int, float] = {}
        self.own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.own.connect((host, port))

    def run(self) -> None:
        """Send pings and receive the replies until `stop` is called."""
        due_s = time.monotonic()
        until_s = math.inf
        while (now_s := time.monotonic()) < until_s:
            if self.over.is_set():
                if len(self.rtts_s) == len(self.sent_s):
                    break
                until_s = min(until_s, now_s + LAST_S)
                due_s = math.inf
            elif now_s >= due_s:
                self.own.send(struct.pack("I", len(self.sent_s)).ljust(PING_BYTES, b"\0"))
                self.sent_s.append(now_s)
                due_s += PING_S
            self.own.settimeout(max(1e-3, min(PING_S, due_s - time.monotonic())))
            try:
                answer = self.own.recv(PING_BYTES)
            except OSError:  # no reply has arrived, or the server does not listen
                continue
            self.heard.set()
            (number,) = struct.unpack_from("I", answer)
            self.rtts_s[number] = time.monotonic() - self.sent_s[number]

    def stop(self, since_s: float) -> list[tuple[float, float | None]]:
        """Stop the pings. Return the send time of each ping, and its round-trip time if the ping
        was answered. [s]
        """
        self.over.set()
        self.join()
        self.own.close()
        return [
            (round(sent_s - since_s, 4), round(self.rtts_s[k], 4) if k in self.rtts_s else None)
            for k, sent_s in enumerate(self.sent_s)
        ]


def load(url: str, before_s: float = BEFORE_S) -> Item:
    """Load a page with a new browser. Times count from the request of the page. [s]

    Raises
    ------
    BrowserError
        If Chromium is not installed, the server does not reply, or the page has an error.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    with Browser(host) as browser:
        pings = Pings(host, parts.port or 80)
        pings.start()
        if not pings.heard.wait(START_S):
            raise BrowserError(f"{url}: its server answers no datagrams")
        time.sleep(before_s)
        began_s = time.monotonic()
        went = browser.call("Page.navigate", url=url, wait_s=LONGEST_S)
        if "errorText" in went:
            raise BrowserError(f"{url}: {went['errorText']}")
        complete = browser.wait_for("Page.loadEventFired", LONGEST_S)
        entries = browser.evaluate(ENTRIES)
        return {
            "url": url,
            "browser": browser.version,
            "complete": complete,
            "load_s": passed_s(entries["loaded"]) if complete else None,
            "first_paint_s": passed_s(entries["paints"].get("first-contentful-paint")),
            "pings": pings.stop(began_s),
            "objects": [of_object(each) for each in entries["objects"]],
        }


def of_object(entry: Item) -> Item:
    """Return the times of an object. A step that took no time, such as the set-up of an existing
    connection, begins and ends at one time.
    """
    names = ("start_s", "connect_s", "connected_s", "request_s", "response_s", "end_s")
    times = {name: passed_s(entry[each]) for name, each in zip(names, TIMES, strict=True)}
    return {
        "path": urlsplit(entry["name"]).path,
        "status": entry["responseStatus"],
        "bytes": entry["encodedBodySize"],
        **times,
    }


def passed_s(time_ms: float | None) -> float | None:
    """Convert a time of Chromium, whose resolution is 0.1 ms, to seconds. [s]"""
    return None if time_ms is None else round(time_ms / 1e3, 4)


def summary(record: Item) -> str:
    """Return a line that summarises the record."""
    objects = record["objects"]
    length_kb = sum(each["bytes"] for each in objects) / 1e3
    size = f"{len(objects)} objects, {length_kb:.0f} kB"
    if not record["complete"]:
        return f"{size}, and not all there after {LONGEST_S:g} s"
    painted = record["first_paint_s"]
    first = "" if painted is None else f"first paint after {painted:.2f} s, "
    return f"{size}: {first}complete after {record['load_s']:.2f} s"


def main() -> int:
    """Load a page and print a summary."""
    options = argparse.ArgumentParser(description="Loads a page with Chromium.")
    options.add_argument("url", nargs="?", default="http://server/")
    options.add_argument("--out", type=Path, help="file for the record, as JSON")
    options.add_argument("--before", type=float, default=BEFORE_S, help="seconds of pings before")
    asked = options.parse_args()
    try:
        record = load(asked.url, asked.before)
    except (BrowserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(summary(record))
    if asked.out is not None:
        asked.out.write_text(json.dumps(record) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
