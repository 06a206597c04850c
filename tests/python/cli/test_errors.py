"""Each mistake of a user causes one line and at most one hint, and no file is written."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.shell import command_text

from ..conftest import EXAMPLES, SMALL, Lasthop
from .test_shell import LASTHOP

BAD_SCENARIOS = {
    "unknown key": (SMALL.replace("download = 1", "downlaod = 1"), ":8: `station.near.downlaod`"),
    "wrong type": (SMALL.replace("download = 1", 'download = "x"'), ":8: `station.near.download`"),
    "not a number": (SMALL + "error_up = nan\n", ":13: `station.far.error_up`"),
    "negative": (SMALL.replace("replications = 3", "replications = -3"), ":4: `replications`"),
    "zero rate": (SMALL.replace('"2 Mbps"', '"0 Mbps"'), ":11: `station.far.rate`"),
    "window 0": (SMALL + "tcp = { window = 0 }\n", ":13: `station.far.tcp.window`"),
    "duplicate name": (SMALL + "[station.near]\nupload = 1\n", ":13"),
    "empty file": ("", ": the file is empty"),
    "half a file": (SMALL[:60], "bad.toml"),
    "not toml": ("<html>", "bad.toml:1"),
}


def assert_refused(stderr: str, code: int, problem: str) -> None:
    lines = stderr.splitlines()
    assert code == 2, stderr
    assert lines[0].startswith("error: ")
    assert problem in lines[0]
    assert not lines[0].endswith(".")
    assert all(line.startswith("hint: ") for line in lines[1:2])
    assert len(lines) <= 2
    assert "Traceback" not in stderr


@pytest.mark.parametrize("command", ["check", "predict", "simulate", "compare"])
@pytest.mark.parametrize("case", ["unknown key", "empty file"])
def test_all_commands_refuse_in_the_same_way(
    lasthop: Lasthop, tmp_path: Path, command: str, case: str
) -> None:
    text, problem = BAD_SCENARIOS[case]
    path = tmp_path / "bad.toml"
    path.write_text(text)
    done = lasthop(command, path)
    assert_refused(done.stderr, done.returncode, problem)
    assert done.stdout == ""
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize("case", BAD_SCENARIOS)
def test_a_bad_scenario_is_one_line(lasthop: Lasthop, tmp_path: Path, case: str) -> None:
    text, problem = BAD_SCENARIOS[case]
    path = tmp_path / "bad.toml"
    path.write_text(text)
    done = lasthop("simulate", path, "--out", "out")
    assert_refused(done.stderr, done.returncode, problem)
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\x7fELF\0\0", "NUL"),
        (b'name = "\xff"\n', "UTF-8"),
        (b"# " + b"x" * 10_000_000, "more than 1048576 bytes"),
    ],
    ids=["binary", "latin-1", "10 MB"],
)
def test_a_binary_file_is_one_line(
    lasthop: Lasthop, tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    for args, stdin in (([path], b""), (["-"], content)):
        done = lasthop("check", *args, stdin=stdin)
        assert_refused(done.stderr, done.returncode, problem)


def test_a_missing_file_hints_at_the_nearest(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("check", small.with_name("smal.toml"))
    assert_refused(done.stderr, done.returncode, "no such file")
    assert done.stderr.splitlines()[1] == f"hint: did you mean {small}?"


def test_a_link_to_nothing_is_reported_as_a_link(lasthop: Lasthop, tmp_path: Path) -> None:
    link = tmp_path / "linked.toml"
    link.symlink_to("absent.toml")
    done = lasthop("check", link)
    assert_refused(done.stderr, done.returncode, f"{link}: is a link to absent.toml, which does")
    assert len(done.stderr.splitlines()) == 1
    done = lasthop("check", tmp_path / "linkd.toml")
    assert "did you mean" not in done.stderr


def test_a_link_to_nothing_is_no_directory(lasthop: Lasthop, small: Path) -> None:
    link = small.parent / "linked"
    link.symlink_to("absent")
    done = lasthop("simulate", small, "--out", link)
    assert_refused(done.stderr, done.returncode, f"--out {link}: is a link to absent, which does")


def test_a_missing_scenario_hints_at_init(lasthop: Lasthop, tmp_path: Path) -> None:
    done = lasthop("check", tmp_path / "home.toml")
    hint = f"hint: run `lasthop init {tmp_path / 'home.toml'}` to write a first scenario"
    assert done.stderr.splitlines()[1] == hint


def test_import_of_a_measurement_hints_at_compare(lasthop: Lasthop) -> None:
    done = lasthop("import", "iperf3", "up.json")
    assert_refused(done.stderr, done.returncode, "no such command 'iperf3'")
    assert "lasthop compare SCENARIO --measured FILE" in done.stderr


def test_a_command_without_two_dashes_hints_at_them(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("emulate", small, "--at", "near", "ping", "-c", "1", "server")
    assert_refused(done.stderr, done.returncode, "no such option: -c")
    assert done.stderr.splitlines()[1] == "hint: write -- before the command of a program"


def test_an_option_of_another_command_hints_at_that_command(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("simulate", small, "--uplink", "eth0")
    assert_refused(done.stderr, done.returncode, "no such option: --uplink")
    assert done.stderr.splitlines()[1] == "hint: option of `lasthop emulate`"


def test_a_with_option_that_lacks_its_place_is_named(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("emulate", small, "--with", "cat -", "--at", "near", "--", "true")
    message = '--with "cat -": expected a place and a command'
    assert_refused(done.stderr, done.returncode, message)


def test_a_directory_is_not_a_scenario(lasthop: Lasthop, tmp_path: Path) -> None:
    done = lasthop("check", tmp_path)
    assert_refused(done.stderr, done.returncode, "is a directory, not a file")


ADDRESS = "https://example.org/a/hotspot.toml"


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (["check", ADDRESS], f"curl -L {ADDRESS} | lasthop check -"),
        (["simulate", ADDRESS, "--seed", "2"], f"curl -L {ADDRESS} | lasthop simulate -"),
        (["import", "iw", ADDRESS], f"curl -L {ADDRESS} | lasthop import iw -"),
        (["sweep", "FILE", "--points", ADDRESS], "save it as a file first"),
        (["compare", "FILE", "--measured", ADDRESS], "save it as a file first"),
        (["check", "file:///tmp/hotspot.toml"], "its path is /tmp/hotspot.toml"),
    ],
)
def test_an_address_is_recognised_as_an_address(
    lasthop: Lasthop, small: Path, command: list[str], remedy: str
) -> None:
    done = lasthop(*(str(small) if arg == "FILE" else arg for arg in command))
    address = next(arg for arg in command if "://" in arg)
    assert_refused(done.stderr, done.returncode, f"{address}: is an address; lasthop reads files")
    assert done.stderr.splitlines()[1] == f"hint: {remedy}"


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/proc/self/status", "contains state of the kernel and is not a file on disk"),
        ("/dev/zero", "is a device, not a file"),
        ("/dev/null", "is a device, not a file"),
        ("SOCKET", "is a socket, not a file"),
    ],
)
@pytest.mark.parametrize("command", [["check"], ["import", "hostapd"]])
def test_a_special_file_is_named_by_its_kind(
    lasthop: Lasthop, command: list[str], path: str, what: str
) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("SOCKET")  # A file in the directory in which the command runs.
        done = lasthop(*command, path)
    assert_refused(done.stderr, done.returncode, f"error: {path}: {what}")


PIPES = {
    "FIFO": 'mkfifo pipe && { cat "$1" > pipe & "${@:2}" check pipe; wait; }',
    "process substitution": '"${@:2}" check <(cat "$1")',
    "/dev/stdin of a pipe": 'cat "$1" | "${@:2}" check /dev/stdin',
    "/dev/stdin of a file": '"${@:2}" check /dev/stdin < "$1"',
    "here-document": '"${@:2}" check /dev/stdin <<< "$(cat "$1")"',
    "a measurement": (
        '"${@:2}" simulate "$1" -q --json > r.json'
        ' && "${@:2}" compare "$1" -q --measured <(cat r.json)'
    ),
}


@pytest.mark.smoke(3)
@pytest.mark.parametrize("way", PIPES)
def test_pipes_are_files(small: Path, tmp_path: Path, way: str) -> None:
    done = subprocess.run(
        ["bash", "-c", PIPES[way], "bash", str(small), *LASTHOP],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "two downloaders" in done.stdout


USAGE = {
    "unknown command": (["simulat", "FILE"], "no such command 'simulat'", "simulate"),
    "option with the name of a key": (
        ["emulate", "FILE", "--duration", "20 s"],
        "no such option: --duration",
        command_text(["--set", "duration=20 s"]),
    ),
    "several values of a setting": (
        ["simulate", "FILE", "--set", "station.near.upload=1,6"],
        '"1,6" is not a number',
        "run `lasthop sweep FILE --over station.near.upload=1,6`",
    ),
    "several values of a setting of a sweep": (
        ["sweep", "FILE", "--set", "station.near.upload=1,6"],
        '"1,6" is not a number',
        "write `--over station.near.upload=1,6`",
    ),
    "unknown option": (["simulate", "FILE", "--replicatons", "3"], "--replicatons", "did you mean"),
    "no file": (["simulate"], "missing argument", "run `lasthop init`"),
    "no value": (["simulate", "FILE", "--seed"], "--seed", "--help"),
    "extra argument": (["check", "FILE", "more"], "more", "--help"),
    "zero threads": (["simulate", "FILE", "--jobs", "0"], '--jobs "0"', "--help"),
    "threads with a leading zero": (["simulate", "FILE", "--jobs", "01"], '--jobs "01"', "--help"),
    "seed with a leading zero": (["simulate", "FILE", "--seed", "007"], "--seed 007: `seed`", None),
    "empty seed": (["simulate", "FILE", "--seed", ""], '--seed "": `seed`: "" is not', None),
    "empty interval": (
        ["simulate", "FILE", "--air", ""],
        '--air "": expected FROM..TO',
        "--air 1s",
    ),
    "value of a flag": (
        ["simulate", "FILE", "--tails=1"],
        "option '--tails' does not take a value",
        "hint: write --tails without a value",
    ),
    "picture of another kind": (
        ["simulate", "FILE", "--plot", "p.xyz"],
        '--plot "p.xyz": expected a name that ends in .png, .pdf, .svg',
        "--help",
    ),
    "picture of another kind before the file": (
        ["simulate", "--plot", "p.xyz", "FILE"],
        '--plot "p.xyz": expected a name that ends in .png, .pdf, .svg',
        "--help",
    ),
    "empty picture": (
        ["simulate", "FILE", "--plot", ""],
        '--plot "": expected a name that ends in .png, .pdf, .svg',
        "--help",
    ),
    "picture on standard output": (
        ["simulate", "FILE", "--plot", "-"],
        '--plot "-": expected a name that ends in .png, .pdf, .svg',
        "--help",
    ),
    "extra argument of a picture": (["simulate", "--plot", "FILE", "more"], "(more)", "--help"),
    "long name of a directory": (
        ["simulate", "FILE", "--out", 300 * "a"],
        f"--out {300 * 'a'}: File name too long",
        None,
    ),
    "long name of a picture": (
        ["simulate", "FILE", "--plot", f"{300 * 'a'}.png"],
        f"--plot {300 * 'a'}.png: File name too long",
        None,
    ),
    "words for a number": (["simulate", "FILE", "--seed", "x"], "`seed`", None),
    "negative replications": (["simulate", "FILE", "--replications", "-1"], "`replications`", None),
    "setting without value": (["check", "FILE", "--set", "seed"], "PATH=VALUE", "--set cell.ap"),
    "empty setting": (
        ["check", "FILE", "--set", ""],
        '--set "": expected PATH=VALUE',
        "--set cell.ap.cwmin=15",
    ),
    "no setting": (["check", "FILE", "--set"], "--set", "lasthop check --help"),
    "replications as typed": (
        ["simulate", "FILE", "--replications", "0"],
        "--replications 0: `replications`",
        None,
    ),
    "seed as typed": (["simulate", "FILE", "--seed", "-1"], "--seed -1: `seed`", None),
    "series as typed": (
        ["simulate", "FILE", "--series", "5"],
        "--series 5: `record.series_interval`",
        None,
    ),
    "series longer than the run": (["simulate", "FILE", "--series", "5 s"], "no sample", None),
    "sweep as typed": (["sweep", "FILE", "--over", "foo=1,2"], "--over foo=1,2: `foo`", None),
    "sweep without values": (["sweep", "FILE", "--over", "foo"], "PATH=V1,V2", "=15,31"),
    "path swept twice": (
        ["sweep", "FILE", "--over", "seed=1", "--over", "seed=2"],
        "--over seed: the path is given twice",
        "--over seed=V1,V2",
    ),
    "value swept twice": (
        ["sweep", "FILE", "--over", "seed=1,2,1"],
        "--over seed: the value 1 is given twice",
        None,
    ),
    "table not closed": (
        ["sweep", "FILE", "--over", "cell.ap_queue=5,{codel={}"],
        "--over cell.ap_queue: a brace or bracket is not closed",
        "{red={min_th=50,max_th=100}}",
    ),
    "quote not closed": (
        ["sweep", "FILE", "--over", 'name="a,b'],
        '--over name: a quote " is not closed',
        None,
    ),
    "swept and set": (
        ["sweep", "FILE", "--over", "cell.ap_queue=20,30", "--set", "cell.ap_queue=40"],
        "--over cell.ap_queue: --set cell.ap_queue also sets this path",
        None,
    ),
    "seed swept and given": (
        ["sweep", "FILE", "--over", "seed=1,2", "--seed", "3"],
        "--over seed: --seed also sets this path",
        None,
    ),
    "too many threads": (
        ["simulate", "FILE", "--jobs", "10240"],
        '--jobs "10240": expected a number of threads from 1 to 1024',
        "--help",
    ),
    "more threads than can be counted": (
        ["simulate", "FILE", "--jobs", "1" + 30 * "0"],
        "expected a number of threads",
        "--help",
    ),
    "nothing to confirm": (
        ["tune", "FILE", "--for", "delay", "--confirm", "0"],
        '--confirm "0": expected a number of candidates from 1 to 1000',
        "--help",
    ),
    "words to confirm": (
        ["tune", "FILE", "--for", "delay", "--confirm", "all"],
        '--confirm "all": expected a number of candidates',
        "--help",
    ),
    "bytes that are no text": (
        ["check", "FILE", "--set", "name=\udcff"],
        'argument "name=\\udcff": not text in UTF-8',
        None,
    ),
    "no name": (["simulate", ""], "the name is empty", None),
    "empty model": (["predict", "FILE", "--model", ""], 'model "": expected one of acsma', None),
    "out without name": (["simulate", "FILE", "--out", ""], "--out: the name is empty", None),
    "capture without name": (["simulate", "FILE", "--pcapng", ""], "--pcapng: the name", None),
    "picture without name": (["compare", "FILE", "--out", ""], "--out: the name is empty", None),
    "sweep without name": (
        ["sweep", "FILE", "--over", "seed=1", "--out", " "],
        "--out: the name is empty",
        None,
    ),
    "report without name": (["reproduce", "--out", ""], "--out: the name is empty", None),
    "capture is a directory": (["simulate", "FILE", "--pcapng", "."], "is a directory", None),
    "unknown setting": (["check", "FILE", "--set", "sed=1"], "`sed`", "did you mean"),
    "unknown option of a model": (
        ["predict", "FILE", "--model", "hotspot", "--option", "bta=1"],
        'option "bta": unknown; model hotspot has beta',
        None,
    ),
    "value of an option": (
        ["compare", "FILE", "--model", "hotspot", "--option", "beta=-1"],
        "option beta: -1 is not a number from 0.001 to 1000",
        None,
    ),
    "no number for an option": (
        ["predict", "FILE", "--model", "hotspot", "--option", "beta=x"],
        'option beta: "x" is not a number',
        None,
    ),
    "word of an option": (
        ["predict", "FILE", "--model", "edca", "--option", "collision=half"],
        "option collision = 'half' is none of eifs, frame",
        None,
    ),
    "a model without options": (
        ["predict", "FILE", "--model", "red", "--option", "beta=1"],
        'option "beta": model red has no options',
        None,
    ),
    "unknown model": (
        ["predict", "FILE", "--model", "oracle"],
        'model "oracle": expected one of',
        None,
    ),
    "empty sweep": (
        ["sweep", "FILE", "--over", "seed="],
        '--over seed: "" has an empty value',
        None,
    ),
    "no sweep": (["sweep", "FILE"], "expected --over or --points", "--over cell.ap"),
    "series of no time": (["simulate", "FILE", "--series", "0 s"], "record.series_interval", None),
    "out is a file": (
        ["simulate", "FILE", "--out", "FILE"],
        "is a file: expected a directory",
        None,
    ),
    "capture nowhere": (
        ["simulate", "FILE", "--pcapng", "no/x.pcapng"],
        "--pcapng no/x.pcapng: the directory no does not exist",
        None,
    ),
}


@pytest.mark.parametrize("case", USAGE)
def test_usage_errors_look_the_same(lasthop: Lasthop, small: Path, case: str) -> None:
    args, problem, hint = USAGE[case]
    done = lasthop(*(str(small) if arg == "FILE" else arg for arg in args))
    assert_refused(done.stderr, done.returncode, problem)
    assert done.stdout == ""
    if hint is not None:
        assert hint in done.stderr.splitlines()[1]


@pytest.mark.parametrize("word", ["simulat", "simulate"])
def test_only_similar_names_are_suggested(lasthop: Lasthop, small: Path, word: str) -> None:
    assert "did you mean" in lasthop(word, small, "--sed", "1").stderr
    assert "did you mean" not in lasthop("frobnicate").stderr
    assert "did you mean" not in lasthop("check", small, "--frobnicate").stderr
    assert "did you mean" not in lasthop("check", small, "--set", "foo=1").stderr


# Command prefix that removes the capability CAP_DAC_OVERRIDE.
# Without this capability, root may write only where other users may.
WITHOUT_OVERRIDE = ["setpriv", "--bounding-set", "-dac_override", "--inh-caps", "-dac_override"]


def test_directory_without_permission_is_refused_first(small: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    lasthop = [sys.executable, "-m", "lasthop", "simulate", small, "--out", locked / "out"]
    command = [*(WITHOUT_OVERRIDE if os.geteuid() == 0 else []), *lasthop]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert_refused(done.stderr, done.returncode, "not writable")


def test_every_problem_of_a_file_has_its_line(lasthop: Lasthop, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(SMALL.replace("upload = 2", "uplaod = 2").replace("2 Mbps", "3 Mbps"))
    done = lasthop("check", path)
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert [line.split(": `")[0] for line in errors] == [
        f"error: {path}:11",
        f"error: {path}:12",
    ]


def test_model_refusal_names_the_assumption(lasthop: Lasthop, tmp_path: Path) -> None:
    path = tmp_path / "udp.toml"
    path.write_text(
        'duration = "1 s"\ncell = { phy = "802.11b" }\n'
        '[station.a]\nudp_up = "greedy"\n[station.b]\nupload = 1\n'
    )
    done = lasthop("predict", path)
    assert_refused(
        done.stderr,
        done.returncode,
        "model hotspot: breaks the assumption of long-lived TCP connections in steady state: "
        "`station.a.udp_up` is UDP (section 3 of model hotspot)",
    )
    assert "hint: run `lasthop simulate`, which makes no such assumption" in done.stderr


@pytest.mark.parametrize("lossless", [True, False])
def test_model_refusal_names_another_model_only_if_that_model_works(
    lasthop: Lasthop, tmp_path: Path, lossless: bool
) -> None:
    path = tmp_path / "ax.toml"
    path.write_text(
        'duration = "1 s"\ncell = { phy = "802.11ax" }\n'
        "[station.a]\nupload = 2\n[station.b]\ndownload = 1\n"
    )
    settings = ["--set", f"tcp.window={42 if lossless else 20000}"]
    refused = lasthop("predict", path, *settings)
    assert refused.returncode == 2
    options = ["--model", "hotspot", "--option", "beta=1"]
    assert (f"hint: add `{' '.join(options)}`" in refused.stderr) == lossless
    done = lasthop("predict", path, *settings, *options)
    assert (done.returncode == 0) == lossless


def test_model_refusal_names_every_assumption(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("predict", small, "--set", "wire.loss=0.1", "--set", "station.far.error=0.1")
    assert done.returncode == 2
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    where = " of model hotspot)"
    assert errors[0].endswith(f"the wire loses packets, `wire.loss` = 0.1 (a1{where}")
    assert errors[1].endswith(
        f"`station.far.error_up` = 0.1; the same holds for `station.far.error_down` (a7{where}"
    )


def test_a_refusal_of_a_model_folds_reasons_that_differ_only_in_names(lasthop: Lasthop) -> None:
    done = lasthop("predict", EXAMPLES / "rain.toml", "--model", "hotspot")
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 4
    assert errors[-1].endswith(
        "timer never expires: `station.near.download` runs compound; expected `tcp.congestion` = "
        "reno or newreno; the same holds for `station.far.download`, `station.guest.download` "
        "(a3 of model hotspot)"
    )


DEN = """\
duration = "4 s"
replications = 1
cell = { phy = "802.11g" }
station.den = { download = 1, snr = "20 dB" }
"""


def test_a_scenario_that_a_model_refuses_has_its_warnings_too(lasthop: Lasthop) -> None:
    done = lasthop("predict", "-", stdin=DEN.encode())
    assert done.returncode == 2
    warning, error, _ = done.stderr.splitlines()
    assert warning.startswith("warning: `station.den`: at snr = 20 dB 54 Mb/s loses 100 %")
    assert "model vbs: breaks the assumption that the AP always has a packet" in error
    assert error.endswith("(assumption 1 of model vbs)")


def test_a_goodput_of_zero_is_shown(lasthop: Lasthop) -> None:
    done = lasthop("simulate", "-", stdin=DEN.encode())
    tables = done.stdout.split("\n\n")
    for name in ("station", "flow", "cell"):
        [table] = (each for each in tables if f"\n{name} " in each)
        assert "goodput" in table
        assert table.splitlines()[-1].split()[1] == "0"


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_after_the_last_run_does_not_report_a_loss(
    lasthop: Lasthop, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lh.Result, "save", stop)
    done = lasthop("simulate", small, "--out", "out")
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")
    assert "two downloaders" in done.stdout


def test_ctrl_c_after_the_last_point_reports_the_saved_points(
    lasthop: Lasthop, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lh.Sweep, "save", stop)
    done = lasthop("sweep", small, "--over", "seed=1,2")
    assert done.returncode == 130
    assert (
        done.stderr.splitlines()[0] == "error: interrupted: 2 points are saved, but not all tables"
    )
