"""Run the short commands on a page of the documentation, and keep the outputs of its long commands.

Tests marked `slow` run all commands of a page. `python tests/python/pages_in_brief.py PAGE` prints
the page with the current outputs.
"""

import sys
from pathlib import Path
from unittest import mock

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))

import transcripts  # noqa: E402

LONG: dict[str, tuple[str, ...]] = {
    "applications.md": ("lasthop sweep", "lasthop what-if"),
    "bbr.md": ("lasthop what-if",),
    "cake.md": ("lasthop simulate",),
    "call.md": (">>> slow_line = table", ">>> slow_air = table", ">>> both_slow = table"),
    "explain.md": ("lasthop explain", ">>> explanation ="),
    "l4s.md": (">>> for rate",),
    "networks.md": ("check campus.toml",),
    "old-laptop.md": (">>> found =",),
    "oscillation.md": (
        "--over flows=",
        "weight=1",
        "ecn=true",
        "stability chart",
        "lasthop compare",
    ),
    "ping.md": ("lasthop what-if", "lasthop explain"),
    "queues.md": (">>> s = lh.sweep",),
    "reproduce.md": ("lasthop reproduce",),
    "teach.md": (">>> for ",),
    "tuning.md": ("lasthop tune", ">>> "),
    "video.md": ("lasthop what-if",),
    "what-if.md": ("lasthop what-if", ">>> asked"),
}
"""Pages whose commands exceed the limit of CPU time. For each page, parts of the first lines of its
long commands are listed.
"""


def refreshed(path: Path) -> str:
    """Return the page with the present outputs of its short commands.

    A block of Python examples that contains a long command is not run. Later blocks are not run
    either, because they may use names that this block defines.
    """
    long = LONG[path.name]
    command, prompt = transcripts.Reader.command, transcripts.Reader.prompt
    skipped: list[str] = []

    def command_in_brief(reader: transcripts.Reader, shown: str) -> str:
        first = shown.partition("\n")[0]
        return shown if any(part in first for part in long) else command(reader, shown)

    def prompt_in_brief(reader: transcripts.Reader, text: str) -> str:
        if skipped or any(line.startswith(part) for line in text.splitlines() for part in long):
            skipped.append(text)
            return text
        return prompt(reader, text)

    with (
        mock.patch.object(transcripts.Reader, "command", command_in_brief),
        mock.patch.object(transcripts.Reader, "prompt", prompt_in_brief),
    ):
        return transcripts.refreshed(path.read_text("utf-8"))


if __name__ == "__main__":
    sys.stdout.write(refreshed(Path(sys.argv[1])))
