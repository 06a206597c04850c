"""Check whether tests notice a wrong line in studies, rules or the ledger.

    make mutations SEED=7              about ten minutes on two cores
    .venv/bin/python tests/mutations/mutations.py --seed 7

Only the seed determines the faults. There is a fixed number of faults of each kind, and a fault
changes one line (`fault.py` defines the kinds). Each fault is put into a fresh copy of the tree.
The suites of `make test` that could notice the fault run on the copy until a test fails. The suite
closest to the fault runs first. A test that also fails without the fault is ignored. The table
names the test that noticed a fault. If no test noticed a fault, the fault is listed as survived: a
test is missing. The exit status is 1 if a fault survived.

A fault that is proven to change nothing is replaced by another fault, and listed. There are two
proofs: the file with the fault compiles to the same code, or all outputs are the same
(`outputs.py` defines the outputs and the limits of this proof). The second proof is valid for
measures, settings and the ledger. It is not valid for rules, because rules accept any numbers.

**Tests that could notice** are tests that name studies, claims or `reproduce` in their file or in
the page that they run (`NAMED`). No other code of the package loads a study. `--blind` proves this:
it makes the studies unreadable and runs all other quick suites, all of which must pass. Tests of
studies of one subject cannot notice faults of another subject, because no study imports a study of
another subject (`outputs.py` asserts this). A claim, which a fault of the ledger changes, also
belongs to one subject.

Finished faults are stored in out/mutations, by tree and seed: after Ctrl-C the same command
continues.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

from fault import CLAIMS, KINDS, Fault, queues

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "out" / "mutations"
SUBJECTS = ("hotspot", "edca", "vbs", "acsma", "red", "ax")
CLOSE = "tests/python/studies"
QUICK = ("tests/python", "tests/equations")
NAMED = re.compile(r"studies|claims|reproduce|refresh|rglob|plot\.(family|points|study)")
"""Pattern for the text of test files outside `CLOSE`. Only files that match it read studies or
claims. Therefore only the tests in these files could notice a fault.
"""
LEFT_OUT = (".git", ".venv", ".peers", "target", "out", "site", ".*_cache", ".hypothesis")
"""Files and folders that a copy of the tree omits."""
PATIENCE_S = 1800.0
"""Longest time for the tests of a fault, on a busy machine. Tests that do not end count as having
noticed the fault. [s]
"""
OUTPUTS = str(Path(__file__).with_name("outputs.py"))
PYTEST = ("-m", "pytest", "-W", "error", "-q", "-p", "no:cacheprovider")
FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$", re.MULTILINE)


class Stopped(Exception):
    """Raised to end the program after Ctrl-C."""


class Processes:
    """Running child processes, which Ctrl-C must end."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self.stopped = False

    def run(self, tree: Path, *arguments: str, patience_s: float = PATIENCE_S) -> str | None:
        """Run Python on a tree. Return its output, or None if it runs longer than `patience_s`."""
        environment = {**os.environ, "PYTHONPATH": str(tree / "python")}
        with self._lock:
            if self.stopped:
                raise Stopped
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=tree,
                env=environment,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process)
        try:
            return process.communicate(timeout=patience_s)[0]
        except subprocess.TimeoutExpired:
            return None
        finally:
            self._end(process)
            if self.stopped:
                raise Stopped

    def stop(self) -> None:
        """End all processes."""
        with self._lock:
            self.stopped = True
            for process in self._running:
                _kill(process)

    def _end(self, process: "subprocess.Popen[str]") -> None:
        if process.poll() is None:
            _kill(process)
            process.communicate()
        with self._lock:
            self._running.discard(process)


def _kill(process: "subprocess.Popen[str]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@dataclass(frozen=True)
class Finished:
    """Outcome of a fault.

    Parameters
    ----------
    fault : Fault
    test : str
        The test that noticed the fault; "" if no test did.
    proof : str
        Why the fault changes nothing; "" if that is not proven.
    seconds : float
    """

    fault: Fault
    test: str
    proof: str
    seconds: float

    def to_json(self) -> str:
        """Return the outcome as a line for the file of finished faults."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, line: str) -> "Finished":
        """Return the outcome from a line of the file of finished faults."""
        tree = json.loads(line)
        return cls(**{**tree, "fault": Fault(**tree["fault"])})


@dataclass(frozen=True)
class Bench:
    """A bench on which faults are tried, each in a fresh copy of a source tree.

    Parameters
    ----------
    root : Path
        The tree, which stays unchanged.
    processes : Processes
    structures : str
        Prefix of the names of files for `outputs.py`, one file per subject. A file contains the
        names of all values in the results of the subject's scenarios. It is written when it is
        first used.
    failing : dict
        Whether a test fails without a fault, for each test that was checked.
    lock : threading.Lock
        Lock for values that one thread computes for all faults.
    """

    root: Path
    processes: Processes
    structures: str
    failing: dict[str, bool] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tried(self, fault: Fault) -> Finished:
        """Run the tests on a copy with the fault. If no test notices the fault, look for a proof
        that it has no effect.
        """
        began_s = time.monotonic()

        def finished(test: str = "", proof: str = "") -> Finished:
            return Finished(fault, test, proof, time.monotonic() - began_s)

        original = (self.root / fault.file).read_text("utf-8")
        changed = fault.applied(original)
        if fault.file.endswith(".py") and same_code(original, changed):
            return finished(proof="the same code")
        with copied(self.root) as tree:
            (tree / fault.file).write_text(changed, "utf-8")
            close, rest = suites(self.root, fault)
            strangers = not_of(subject_of(self.root, fault))
            if test := self.noticed(tree, [*strangers, *close]):
                return finished(test)
            if fault.kind != "rules" and self.same_outputs(tree, fault):
                return finished(proof="the same outputs")
            return finished(self.noticed(tree, [*strangers, *rest]))

    def noticed(self, tree: Path, wanted: Sequence[str]) -> str:
        """Return the first test that fails with the fault and passes without it, or an empty
        text.
        """
        while True:
            without = [f"--deselect={test}" for test, fails in [*self.failing.items()] if fails]
            printed = self.processes.run(tree, *PYTEST, "-x", *wanted, *without)
            if printed is None:
                return f"did not end in {PATIENCE_S:g} s"
            match = FAILED.search(printed)
            if match is None:
                if re.search(r"\d+ passed", printed):
                    return ""
                return f"pytest: {printed.strip().splitlines()[-1]}"
            if not self.fails_anyhow(match[1]):
                return match[1]

    def fails_anyhow(self, test: str) -> bool:
        """Return whether a test, or the collection of its file, fails even without a fault."""
        if test not in self.failing:
            how = () if "::" in test else ("--collect-only",)
            with copied(self.root) as tree:
                printed = self.processes.run(tree, *PYTEST, *how, test)
            self.failing[test] = printed is None or FAILED.search(printed) is not None
        return self.failing[test]

    def same_outputs(self, tree: Path, fault: Fault) -> bool:
        """Return whether all outputs with the fault equal those without it, and the faulty line
        ran.
        """
        mine, without = (self.outputs(folder, fault.file) for folder in (tree, self.root))
        if mine is None or without is None or mine["outputs"] != without["outputs"]:
            return False
        return fault.file == CLAIMS or fault.line in mine["ran"]

    def outputs(self, tree: Path, file: str) -> Any:
        """Return the outputs of a tree that a change of `file` can affect."""
        known = [] if file == CLAIMS else [str(self.prepared(Path(file).parent.name))]
        printed = self.processes.run(tree, OUTPUTS, file, *known)
        with suppress(ValueError, IndexError, AttributeError):
            return json.loads((printed or "").strip().splitlines()[-1])
        return None

    def prepared(self, subject: str) -> Path:
        """Return the path of a subject's file with the names of values in results. Write the file
        when it is first used.
        """
        file = Path(f"{self.structures}-{subject}.json.gz")
        with self.lock:
            if not file.exists():
                part = file.with_suffix(".part")
                printed = self.processes.run(self.root, OUTPUTS, "--structures", subject, str(part))
                if not part.exists():
                    raise RuntimeError(f"no structures of runs:\n{printed}")
                part.replace(file)
        return file


def same_code(source: str, other: str) -> bool:
    """Return whether two texts compile to the same code, except for line numbers."""
    return _code(compile(source, "", "exec")) == _code(compile(other, "", "exec"))


def _code(code: CodeType) -> tuple[object, ...]:
    constants = [
        _code(constant) if isinstance(constant, CodeType) else (type(constant), repr(constant))
        for constant in code.co_consts
    ]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """Yield a fresh copy of the tree, with the compiled engine."""
    with tempfile.TemporaryDirectory(prefix="lasthop-mutation-") as directory:
        tree = Path(directory) / "tree"
        shutil.copytree(root, tree, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        yield tree


def suites(root: Path, fault: Fault) -> tuple[list[str], list[str]]:
    """Return the test files of studies (the closest to the fault first) and all other files that
    could notice the fault.
    """
    words = closeness(fault)
    subject = subject_of(root, fault)

    def distance(file: str) -> tuple[int, str]:
        name = Path(file).stem
        return min((k for k, word in enumerate(words) if word in name), default=len(words)), file

    close = [
        str(path.relative_to(root))
        for path in (root / CLOSE).glob("test_*.py")
        if subject is None or not of_others(path.read_text("utf-8"), subject)
    ]
    return sorted(close, key=distance), [file for file in others(root) if named(root / file)]


def subject_of(root: Path, fault: Fault) -> str | None:
    """Return the subject whose study or claim has the fault, or None if the fault concerns all
    subjects.
    """
    if fault.file != CLAIMS:
        return None if fault.kind == "rules" else Path(fault.file).parent.name
    lines = (root / CLAIMS).read_text("utf-8").splitlines()[: fault.line]
    ids = re.findall(r'^id = "(\w+)-\d+"', "\n".join(lines), re.MULTILINE)
    return ids[-1] if ids else None


def of_others(text: str, subject: str) -> bool:
    """Return whether a test file reads only studies of other subjects."""
    subjects = set(re.findall(rf"lasthop\.studies\.({'|'.join(SUBJECTS)})\b", text))
    return bool(subjects) and subject not in subjects and "reproduction" not in text


def not_of(subject: str | None) -> list[str]:
    """Return pytest options that exclude tests of studies of other subjects."""
    others = [f"[{name}-" for name in SUBJECTS if name != subject]
    return ["-k", f"not ({' or '.join(others)})"] if subject else []


def closeness(fault: Fault) -> Sequence[str]:
    """Return words to look for in the names of test files. A file whose name contains an earlier
    word is more likely to notice the fault.
    """
    if fault.kind == "claims":
        return "papers", "verdicts", "ledger", "kept", "reproduce"
    if fault.kind == "rules":
        return Path(fault.file).stem, "ledger", "study", "sweep", "papers", "verdicts"
    subject = Path(fault.file).parent.name
    routers = ("router", "theory") if subject == "red" else ()
    return f"measures_{subject}", "measures", "kept", *routers, subject


def others(root: Path) -> list[str]:
    """Return all other quick test files, and the validation files that read studies."""
    quick = [path for part in QUICK for path in (root / part).rglob("test_*.py")]
    validation = [path for path in (root / "tests/validation").glob("test_*.py") if named(path)]
    files = [str(path.relative_to(root)) for path in [*quick, *validation]]
    return sorted(file for file in files if not file.startswith(CLOSE))


def named(path: Path) -> bool:
    """Return whether a test file names studies, claims or `reproduce`."""
    return NAMED.search(path.read_text("utf-8")) is not None


def blind(bench: Bench) -> bool:
    """Return whether all excluded test suites pass if no study can be read."""
    with copied(bench.root) as tree:
        for path in (tree / "python/lasthop/studies").rglob("*.py"):
            path.write_text('raise RuntimeError("a study is read")\n', "utf-8")
        (tree / CLAIMS).write_text("a study is read\n", "utf-8")
        files = [file for file in others(bench.root) if not named(bench.root / file)]
        printed = bench.processes.run(tree, *PYTEST, *files, patience_s=2 * PATIENCE_S)
    failed = FAILED.findall(printed or "did not end")
    failed = [test for test in failed if not bench.fails_anyhow(test)]
    print("\n".join(failed) or f"{len(files)} files of tests pass without any study")
    return printed is not None and not failed


# -- a seed ------------------------------------------------------------------------------------


class Seed:
    """All faults of a seed, finished and remaining."""

    def __init__(self, bench: Bench, seed: str, counts: Mapping[str, int]) -> None:
        self.bench = bench
        self.counts = counts
        self.queues = queues(bench.root, seed)
        self.file = OUT / f"{fingerprint(bench.root)}-{seed}.jsonl"
        self.known: dict[Fault, Finished] = {}
        with suppress(FileNotFoundError):
            each = map(Finished.of, self.file.read_text("utf-8").splitlines())
            self.known = {row.fault: row for row in each}

    def drawn(self) -> list[Fault]:
        """Return the drawn faults of all kinds. Faults without effect do not count towards the
        number of faults of a kind.
        """
        faults = []
        for kind, count in self.counts.items():
            wanted = count
            for fault in self.queues[kind]:
                if not wanted:
                    break
                faults.append(fault)
                wanted -= not (fault in self.known and self.known[fault].proof)
        return faults

    def run(self, workers: int) -> None:
        """Try every fault that is not finished; `workers` faults are tried simultaneously."""
        pool = ThreadPoolExecutor(workers)
        running: dict[Future[Finished], Fault] = {}
        try:
            while True:
                for fault in self.drawn():
                    waits = fault not in self.known and fault not in running.values()
                    if waits and len(running) < workers:
                        running[pool.submit(self.bench.tried, fault)] = fault
                if not running:
                    return
                done, _ = wait(running, timeout=1.0, return_when=FIRST_COMPLETED)
                for ended in done:
                    del running[ended]
                    self.keep(ended.result())
                self.progress(list(running.values()))
        except BaseException:
            self.bench.processes.stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def keep(self, finished: Finished) -> None:
        """Store the outcome of a fault in the file of finished faults."""
        self.known[finished.fault] = finished
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(finished.to_json() + "\n")
        print(f"\r\033[K{finished.fault.place}: {_outcome(finished)}", file=sys.stderr)

    def progress(self, running: Sequence[Fault]) -> None:
        """Show the progress on a terminal."""
        if sys.stderr.isatty():
            done = [row for row in map(self.known.get, self.drawn()) if row and not row.proof]
            caught = sum(bool(row.test) for row in done)
            under_way = ", ".join(fault.place for fault in running)
            text = f"{len(done)} of {sum(self.counts.values())}, {caught} caught; {under_way}"
            print(f"\r\033[K{text[:100]}", end="", file=sys.stderr, flush=True)

    def table(self) -> tuple[str, int]:
        """Return the table of finished faults, and the number of faults that survived."""
        every = [self.known[fault] for fault in self.drawn() if fault in self.known]
        judged = [row for row in every if not row.proof]
        lines = []
        for number, row in enumerate(judged, 1):
            fault = row.fault
            lines += [
                f"{number:2}  {fault.kind:8}  {fault.place}  {row.seconds:.0f} s",
                f"    - {fault.before.strip()}",
                f"    + {fault.after.strip()}",
                f"    {_outcome(row)}",
            ]
        for row in every:
            if row.proof:
                fault = row.fault
                lines += [
                    f" =  {fault.kind:8}  {fault.place}  {row.seconds:.0f} s",
                    f"    - {fault.before.strip()}",
                    f"    + {fault.after.strip()}",
                    f"    changes nothing: {row.proof}; drawn again",
                ]
        caught = sum(bool(row.test) for row in judged)
        return "\n".join([*lines, f"{caught} of {len(judged)} caught"]), len(judged) - caught


def _outcome(finished: Finished) -> str:
    if finished.proof:
        return f"changes nothing: {finished.proof}"
    return f"caught by {finished.test}" if finished.test else "survived"


PARTS = ("python", "tests", "docs", "examples")


def fingerprint(root: Path, parts: Sequence[str] = PARTS) -> str:
    """Return a fingerprint of the files that may affect the outcome of a fault."""
    digest = hashlib.sha256()
    for part in parts:
        for path in sorted((root / part).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(root)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def main() -> int:
    """Draw the faults, try them, and print the table."""
    parser = argparse.ArgumentParser(description="Faults of a line: does a test notice?")
    parser.add_argument("--seed", default=str(int(time.time())), help="draws the same again")
    parser.add_argument("--workers", type=int, default=2, help="faults tried at a time")
    parser.add_argument("--blind", action="store_true", help="prove what cannot notice")
    options = parser.parse_args()
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    bench = Bench(ROOT, Processes(), f"{OUT}/{fingerprint(ROOT, parts=('python',))}-structures")
    if options.blind:
        return 0 if blind(bench) else 1
    counts = ", ".join(f"{count} in {kind}" for kind, count in KINDS.items())
    print(f"faults are drawn from SEED={options.seed}: {counts}", flush=True)
    seed = Seed(bench, options.seed, KINDS)
    try:
        seed.run(options.workers)
    except (KeyboardInterrupt, Stopped):
        print(f"\n{seed.table()[0]}\nstopped; the same command goes on")
        return 130
    text, survived = seed.table()
    print(f"\n{text}")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
