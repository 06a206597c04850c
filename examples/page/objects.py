"""A web page of many objects: a document and the objects that it needs. The bytes are equal in
every run.

The document refers to style sheets, scripts and pictures. Each style sheet refers to a background
picture. The last script adds further pictures to the page.
"""

import random
import struct
import zlib
from dataclasses import dataclass
from math import log
from typing import Literal

Kind = Literal["document", "style", "script", "image"]

OBJECTS = 30
"""Number of objects of the page in the guide, including the document."""
LEAST = 6
"""Smallest number of objects with which a page has objects of all types."""
SEED = 30
SIZES: dict[Kind, tuple[float, float]] = {
    "document": (28_000, 0.0),
    "style": (18_000, 0.5),
    "script": (32_000, 0.8),
    "image": (28_000, 0.9),
}
"""Parameters of the log-normal length of each type of object: median [bytes], and standard
deviation of the logarithm [-].

With this distribution most objects are small, and a few objects have half of all bytes.
"""
TYPES: dict[Kind, str] = {
    "document": "text/html; charset=utf-8",
    "style": "text/css",
    "script": "text/javascript",
    "image": "image/png",
}
"""MIME type of each type of object."""
WIDTH = 64
"""Width of each picture. [pixels]"""


@dataclass(frozen=True)
class Object:
    """Content that the server sends for a path."""

    path: str
    kind: Kind
    content: bytes


def page(count: int = OBJECTS) -> list[Object]:
    """Return the document `/` and the objects that it needs, `count` objects in total.

    Raises
    ------
    ValueError
        If `count` is too small for objects of all types.
    """
    if count < LEAST:
        raise ValueError(f"a page of {count} objects: {LEAST} is the least")
    draws = random.Random(SEED)
    styles, scripts = numbered("style", count // 10, "css"), numbered("script", count // 5, "js")
    backgrounds = numbered("background", len(styles), "png")
    images = count - 1 - len(styles) - len(scripts) - len(backgrounds)
    added = numbered("added", images // 5, "png")
    photos = numbered("photo", images - len(added), "png")
    texts: list[tuple[str, Kind, str]] = [("/", "document", document(styles, scripts, photos))]
    for number, path in enumerate(styles):
        rule = f".box-{number} {{ height: 80px; background: url({backgrounds[number]}); }}\n"
        texts.append((path, "style", rule))
    for path in scripts:
        texts.append((path, "script", adding(added) if path == scripts[-1] else ""))
    return [
        *(Object(path, kind, filled(kind, text, draws)) for path, kind, text in texts),
        *(Object(path, "image", picture(draws)) for path in (*photos, *backgrounds, *added)),
    ]


def numbered(name: str, count: int, ending: str) -> list[str]:
    """Return the paths of `count` objects, but at least one path."""
    return [f"/{name}-{number}.{ending}" for number in range(1, max(1, count) + 1)]


def document(styles: list[str], scripts: list[str], photos: list[str]) -> str:
    """Return the document. Its style sheets delay the first paint."""
    lines = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>A page</title>',
        '<link rel="icon" href="data:,">',
        *(f'<link rel="stylesheet" href="{path}">' for path in styles),
        *(f'<script src="{path}" defer></script>' for path in scripts),
        "</head><body><h1>A page</h1>",
        *(f'<div class="box-{number}"></div>' for number in range(len(styles))),
        *(f'<img src="{path}" width="120" height="80" alt="">' for path in photos),
        "</body></html>",
    ]
    return "\n".join(lines) + "\n"


def adding(paths: list[str]) -> str:
    """Return a script that adds pictures to the page."""
    lines = [f'document.body.append(Object.assign(new Image(), {{ src: "{p}" }}));' for p in paths]
    return "\n".join(lines) + "\n"


def filled(kind: Kind, text: str, draws: random.Random) -> bytes:
    """Return a text, extended by a comment to a random length for its type."""
    begin, end = ("<!-- ", " -->\n") if kind == "document" else ("/* ", " */\n")
    missing = max(0, length_bytes(kind, draws) - len(text) - len(begin) - len(end))
    return f"{text}{begin}{draws.randbytes(missing).hex()[:missing]}{end}".encode()


def picture(draws: random.Random) -> bytes:
    """Return noise as an uncompressed PNG."""
    row_bytes = 1 + 3 * WIDTH
    height = max(1, length_bytes("image", draws) // row_bytes)
    rows = b"".join(b"\0" + draws.randbytes(3 * WIDTH) for _ in range(height))
    header = struct.pack(">IIBBBBB", WIDTH, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(name, data) for name, data in chunks)


def chunk(name: bytes, data: bytes) -> bytes:
    """Return a chunk of a PNG, with its length and checksum."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def length_bytes(kind: Kind, draws: random.Random) -> int:
    """Return a random length for an object of this type. [bytes]"""
    median_bytes, deviation = SIZES[kind]
    return round(draws.lognormvariate(log(median_bytes), deviation))
