"""Kernels of user-mode Linux: their sources, builds with fake programs, and the list of kernels."""

import fcntl
import io
import json
import signal
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from lasthop.cli.completion.answering import answered
from lasthop.cli.kernel import confirm, interrupted_by_termination
from lasthop.errors import UserError
from lasthop.uml import build, source
from lasthop.uml.build import CONFIGURATION, REQUIRED
from lasthop.uml.kernel import Kernel, candidates, read_kernel
from lasthop.uml.source import Source, find_source
from lasthop.uml.store import built_kernels, kernel_folder

from .conftest import Lasthop

LINUX = """#!/bin/sh
case $1 in
  --version) echo 6.12.7-lasthop;;
  --showconfig) echo CONFIG_UML=y;;
esac
"""
MAKE = """
case "$*" in
  *allnoconfig) grep -v "^CONFIG_LACKING=" {settings} > .config;;
  *linux)
    echo "  CC      init/main.o"
    find "$XDG_CACHE_HOME" -name kernel.json >> {root}/seen
    echo make >> {root}/seen
    {compile}
    cp {root}/linux linux;;
esac
"""
APT_CACHE = """
case $1 in
  pkgnames) echo linux-source-6.1; echo linux-source-6.12; echo linux-source-6.12-rt;;
  show) echo "Package: $3"; echo "Version: $3-1"; echo "Size: 153000000";;
esac
"""


class Machine(NamedTuple):
    """A folder with fake programs, an archive and a cache."""

    root: Path
    program: Callable[[str, str], None]
    """Function that writes a program, given its name and its shell commands."""
    make: Callable[..., None]
    """Function that writes a program `make`. The program supports the given settings and runs
    `compile`.
    """
    archive: Path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine on which builds are faked and take no time."""
    programs = tmp_path / "bin"
    programs.mkdir()

    def program(name: str, commands: str) -> None:
        (programs / name).write_text(f"#!/bin/sh\n{commands}\n")
        (programs / name).chmod(0o755)

    def make(settings: str = CONFIGURATION.read_text(), compile: str = ":") -> None:
        (tmp_path / "settings").write_text(settings)
        commands = MAKE.format(settings=tmp_path / "settings", root=tmp_path, compile=compile)
        program("make", commands)

    for name in build.PROGRAMS:
        program(name, "exit 1")
    program("strip", 'cp "$4" "$3"')
    program("xz", 'exec /usr/bin/xz "$@"')
    program("apt-cache", APT_CACHE)
    program("apt-get", 'echo "E: no network" >&2; exit 100')
    program("dpkg-query", "echo 6.12.7-1")
    make()
    (tmp_path / "linux").write_text(LINUX)
    (tmp_path / "linux").chmod(0o755)
    (tmp_path / "usr").mkdir()
    archive = tmp_path / "linux.tar.xz"
    with tarfile.open(archive, "w") as opened:  # `tar` detects the compression.
        for name in ("Kbuild", "arch/um/Makefile"):
            opened.addfile(tarfile.TarInfo(f"linux-6.12.7/{name}"))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LASTHOP_UML", raising=False)
    monkeypatch.setattr(source, "INSTALLED", tmp_path / "usr")
    monkeypatch.setattr(build, "HEADERS", {})
    monkeypatch.setattr(build, "check_boot", lambda kernel: None)
    monkeypatch.setattr(build, "PASSED", (*build.PASSED, "XDG_CACHE_HOME"))
    return Machine(tmp_path, program, make, archive)


def names_in_cache() -> set[str]:
    return {path.name for path in kernel_folder().iterdir()}


# -- sources -----------------------------------------------------------------------------------


def test_the_newest_source_is_chosen_and_downloaded_only_if_it_is_not_installed(
    machine: Machine,
) -> None:
    (machine.root / "usr" / "linux-source-6.1.tar.xz").touch()
    chosen = find_source()
    assert (chosen.package, chosen.download_bytes) == (
        "linux-source-6.12=linux-source-6.12-1",
        153_000_000,
    )
    archive = machine.root / "usr" / "linux-source-6.12.tar.xz"
    archive.touch()
    assert find_source() == Source(
        "linux-source-6.12 6.12.7-1", "linux-source-6.12=6.12.7-1", archive
    )
    assert find_source("linux-source-6.1").download_bytes == 0


def test_an_unknown_source_is_refused_with_a_list_of_sources(
    machine: Machine, lasthop: Lasthop
) -> None:
    done = lasthop("kernel", "build", "--source", "linux-source-5.10")
    assert done.returncode == 2
    assert "expected one of linux-source-6.12, linux-source-6.1, or a file .tar.xz" in done.stderr
    machine.program("apt-cache", "exit 1")
    done = lasthop("kernel", "build")
    assert "no kernel source found" in done.stderr
    assert "--source FILE.tar.xz" in done.stderr


def test_a_file_that_is_not_a_kernel_source_is_refused(machine: Machine, lasthop: Lasthop) -> None:
    (machine.root / "text.tar.xz").write_text("no archive")
    done = lasthop("kernel", "build", "--source", machine.root / "text.tar.xz", "--yes")
    assert done.returncode == 2
    assert "expected an archive of a kernel" in done.stderr
    with tarfile.open(machine.root / "other.tar.xz", "w") as opened:
        opened.addfile(tarfile.TarInfo("other/README"))
    done = lasthop("kernel", "build", "--source", machine.root / "other.tar.xz", "--yes")
    assert "not a kernel source: expected a folder with arch/um" in done.stderr


# -- builds ------------------------------------------------------------------------------------


def test_a_build_first_prints_its_cost_and_the_same_kernel_is_not_built_again(
    machine: Machine, lasthop: Lasthop
) -> None:
    done = lasthop("kernel", "build", "--source", machine.archive, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"building linux.tar.xz: {build.DISK_BYTES / 1e9:.1f} GB of disk")
    assert "of CPU time (about " in done.stderr
    assert "the kernel has 13 MB" in done.stderr
    [kernel] = built_kernels()
    shown = json.loads(done.stdout)
    assert (shown["name"], shown["version"]) == (kernel.name, "6.12.7-lasthop")
    assert kernel.program.read_text() == LINUX
    again = lasthop("kernel", "build", "--source", machine.archive)
    assert again.returncode == 0
    assert "is already built from linux.tar.xz" in again.stderr
    # There was only one build. No kernel existed before this build.
    assert (machine.root / "seen").read_text() == "make\n"
    assert names_in_cache() == {".lock", kernel.name}


def test_a_download_is_part_of_the_cost(machine: Machine, lasthop: Lasthop) -> None:
    done = lasthop("kernel", "build", "--yes")
    assert done.returncode == 2
    assert "building linux-source-6.12 linux-source-6.12-1: download 153 MB, " in done.stderr
    assert "error: apt-get: E: no network" in done.stderr


def test_missing_options_are_named_and_a_source_without_a_needed_option_is_refused(
    machine: Machine, lasthop: Lasthop
) -> None:
    known = CONFIGURATION.read_text()
    machine.make(known.replace("CONFIG_NET_SCH_CAKE=y\n", ""))
    done = lasthop("kernel", "build", "--source", machine.archive)
    assert done.returncode == 0
    assert "linux.tar.xz has no NET_SCH_CAKE: the kernel is built without\n" in done.stderr
    assert lasthop("kernel", "remove", "--all").returncode == 0
    machine.make(known.replace("CONFIG_HOSTFS=y\n", ""))
    done = lasthop("kernel", "build", "--source", machine.archive)
    assert done.returncode == 2
    assert "this source has no HOSTFS, which emulations need" in done.stderr
    assert built_kernels() == []


def test_the_configuration_has_all_that_emulations_need() -> None:
    lines = CONFIGURATION.read_text().splitlines()
    assert [option for option in REQUIRED if f"CONFIG_{option}=y" not in lines] == []


def test_a_failed_build_leaves_only_its_output(machine: Machine, lasthop: Lasthop) -> None:
    machine.make(compile='echo "net/a.c:1: error: no such thing"; echo more; exit 2')
    done = lasthop("kernel", "build", "--source", machine.archive)
    assert done.returncode == 2
    assert "make failed: net/a.c:1: error: no such thing\nhint: see " in done.stderr
    assert names_in_cache() == {".lock", "build.log"}


def test_an_interrupted_build_leaves_nothing_and_ends_its_programs(
    machine: Machine,
) -> None:
    machine.make(compile=f"exec 3> {machine.root}/alive; flock 3; sleep 100")

    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build.build(find_source(str(machine.archive)), interrupt)
    assert names_in_cache() == {".lock"}
    with (machine.root / "alive").open("w") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_second_build_is_refused_and_files_of_a_killed_build_are_removed(
    machine: Machine, lasthop: Lasthop
) -> None:
    left_over = kernel_folder() / ".build-killed"
    left_over.mkdir(parents=True)
    with (kernel_folder() / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = lasthop("kernel", "build", "--source", machine.archive)
        assert done.returncode == 2
        assert "another `lasthop kernel build` is running" in done.stderr
        assert left_over.exists()
    assert lasthop("kernel", "build", "--source", machine.archive).returncode == 0
    assert not left_over.exists()


def test_missing_programs_and_headers_and_a_full_disk_are_refused(
    machine: Machine, lasthop: Lasthop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "DISK_BYTES", 1e18)
    done = lasthop("kernel", "build", "--source", machine.archive)
    assert "GB free: a build needs 1000000000.0 GB" in done.stderr
    monkeypatch.setattr(build, "PROGRAMS", {"make": "make", "no-such-pahole": "dwarves"})
    monkeypatch.setattr(build, "HEADERS", {"no-such.h": "libelf-dev", "other.h": "libelf-dev"})
    done = lasthop("kernel", "build", "--source", machine.archive)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: building a kernel needs no-such-pahole, no-such.h, other.h: not found",
        "hint: run `apt install dwarves libelf-dev` as root",
    ]


def test_at_a_terminal_the_cost_must_be_confirmed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def typed(text: str, *, terminal: bool = True) -> bool:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        monkeypatch.setattr(sys.stdin, "isatty", lambda: terminal)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
        return confirm()

    assert typed("\n")
    assert not typed("")
    assert not typed("maybe\nno\n")
    assert '"maybe": expected yes or no' in capsys.readouterr().err
    assert typed("no\n", terminal=False)


# -- kernels -----------------------------------------------------------------------------------


def put_kernel(name: str, built_at_s: float) -> None:
    folder = kernel_folder() / name
    folder.mkdir(parents=True)
    (folder / "linux").write_text(LINUX)
    about = {"version": "6.12", "source": "s", "built_at_s": built_at_s, "processor_s": 1.0}
    (folder / "kernel.json").write_text(json.dumps(about))


def test_the_list_begins_with_the_kernel_that_emulations_use(
    machine: Machine, lasthop: Lasthop, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.program("linux.uml", LINUX.partition("\n")[2])
    put_kernel("old", 86400.0)
    put_kernel("new", 86400.0 * 365)
    monkeypatch.setenv("COLUMNS", "300")
    lines = lasthop("kernel", "list").stdout.rstrip().splitlines()
    assert [line.split()[0] for line in lines[2:]] == [
        "new",
        "old",
        str(machine.root / "bin/linux.uml"),
    ]
    assert lines[2].endswith("0.0  1971-01-01   yes")
    assert [each.built and each.built.name for each in candidates()] == ["new", "old", None]
    monkeypatch.setenv("LASTHOP_UML", "/dev/null")
    done = lasthop("kernel", "list", "--json")
    first, *rest = json.loads(done.stdout)["kernels"]
    assert (first["used"], [each["used"] for each in rest]) == (True, [False] * 3)
    assert first["problem"].startswith("LASTHOP_UML=/dev/null: ")


def test_a_kernel_in_the_current_folder_is_not_searched_in_the_path(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(machine.root)
    assert read_kernel(Path("linux"), "here").version == "6.12.7-lasthop"


@pytest.mark.parametrize(
    ("version", "options", "needs"),
    [
        ("6.1.192-lasthop", {}, True),
        ("6.1.176", {"BLOCK": "y"}, False),
        ("6.12.117-lasthop", {}, False),
    ],
)
def test_an_old_kernel_without_a_block_layer_needs_the_name_of_its_root(
    version: str, options: dict[str, str], needs: bool
) -> None:
    assert Kernel(Path("linux"), version, options).needs_root_name is needs


def test_kernels_are_removed_by_name_or_all(machine: Machine, lasthop: Lasthop) -> None:
    for number, name in enumerate(("a", "b", "c")):
        put_kernel(name, float(number))
    for words in ([], ["a", "--all"]):
        assert lasthop("kernel", "remove", *words).returncode == 2
    done = lasthop("kernel", "remove", "a", "../a")
    assert done.returncode == 2
    assert 'NAME: "../a" is not a built kernel: expected one of c, b, a' in done.stderr
    assert answered(["kernel", "remove", "c", ""]).words == [("b", ""), ("a", "")]
    assert lasthop("kernel", "remove", "a").stdout == "a is removed\n"
    assert names_in_cache() == {"b", "c"}
    assert lasthop("kernel", "remove", "--all").returncode == 0
    assert names_in_cache() == set()
    assert lasthop("kernel", "remove", "--all").stdout == "no kernel is built\n"


def test_a_folder_with_a_space_is_refused(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine.root / "my cache"))
    with pytest.raises(UserError, match="cannot be built in a folder with spaces"):
        build.check(find_source(str(machine.archive)))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminated_build_ends_as_an_interrupted_build(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), interrupted_by_termination():
        signal.raise_signal(number)
    assert signal.getsignal(number) == before
