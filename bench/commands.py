"""Measure the CPU time of the commands and examples in the guides, and print the slowest first.

    .venv/bin/python bench/commands.py [PAGE ...]       by default all guides, the README and papers
    .venv/bin/python bench/commands.py --slowest 20

Each console command runs in a separate process, as if a reader typed it. All Python examples of a
page run in one process. The table also shows the CPU time divided by that of a million iterations
of an empty loop, because this ratio depends little on the machine.
"""

import argparse
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

from measure import require_release_build

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "docs"))
import transcripts  # noqa: E402

PAGES = ("README.md", "docs/guide/*.md", "docs/papers/*.md", "docs/concepts/*.md")
#: Commands that wait for packets or users. Their CPU time is not measured.
IN_REAL_TIME = {"gateway", "emulate", "relay", "workbench"}
#: Number of iterations of the empty loop that is measured.
TURNS = 2_000_000


class Timed(transcripts.Reader):
    """Reader of a page that runs each command and measures its CPU time, including child processes
    and threads.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.costs: list[tuple[float, str]] = []

    def command(self, shown: str) -> str:
        """Run a command line of a page in a separate process."""
        match = re.match(r"\$ (lasthop(?:.*\\\n)*.*)\n?", shown)
        if match is None or match[1].split()[1] in IN_REAL_TIME:
            return shown
        line = " ".join(re.sub(r"\s+#.*", "", match[1].replace("\\\n", " ")).split())
        asked = [sys.executable, "-m", *shlex.split(line)]
        self.timed(
            line, lambda: subprocess.run(asked, cwd=self.folder, capture_output=True, check=False)
        )
        return shown

    def evaluate(self, source: str) -> str:
        """Evaluate a Python statement of a page."""
        self.timed(" ".join(source.split()), lambda: super(Timed, self).evaluate(source))
        return ""

    def timed(self, what: str, work: Callable[[], object]) -> None:
        """Call `work`, and record its CPU time under the name `what`."""
        before = cpu_s()
        work()
        self.costs.append((cpu_s() - before, what))


def cpu_s() -> float:
    """Return the CPU time of this process and of its ended child processes. [s]"""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def loop_s() -> float:
    """Return the CPU time of a million iterations of an empty loop: the smallest of five
    measurements. [s]
    """

    def once() -> float:
        before = process_time()
        total = 0
        for turn in range(TURNS):
            total += turn
        return (process_time() - before) / TURNS * 1e6

    return min(once() for _ in range(5))


def main() -> None:
    """Measure the commands of the pages and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE")
    parser.add_argument("--slowest", type=int, default=10, metavar="N")
    asked = parser.parse_args()
    pages = asked.pages or [page for each in PAGES for page in sorted(ROOT.glob(each))]
    os.environ.update(COLUMNS=str(transcripts.WIDTH), NO_COLOR="1", TERM="dumb")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a reader's Python has stored compiled modules
    loop, costs = loop_s(), []
    for page in pages:
        text = page.read_text("utf-8")
        with tempfile.TemporaryDirectory(prefix="lasthop-bench-") as folder:
            reader = Timed(Path(folder))
            for kind, body in transcripts.BLOCK.findall(text):
                reader.block(kind, body)
        costs += [(cost, page.stem, what) for cost, what in reader.costs]
    print(f"{'CPU [s]':>8} {'loops':>6}  page, command")
    for cost, page_name, what in sorted(costs, reverse=True)[: asked.slowest]:
        print(f"{cost:8.2f} {cost / loop:6.0f}  {page_name}: {what[:110]}")


if __name__ == "__main__":
    require_release_build()
    main()
