"""`--plot`: its position on the command line, and the paths, names and titles of pictures."""

import json
import re
from pathlib import Path

import pytest

from lasthop.cli.picture import changes_part, with_values

from ..conftest import Lasthop

QUICK = ["--set", "duration=1 s", "--set", "warmup=0.2 s"]
STEM = "small-{}-duration=1s-warmup=0.2s"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["simulate", "--plot", "a.toml"], ["simulate", "--plot=", "a.toml"]),
        (["simulate", "a.toml", "--plot"], ["simulate", "a.toml", "--plot="]),
        (["simulate", "--plot", "x.svg", "a.toml"], ["simulate", "--plot=x.svg", "a.toml"]),
        (["simulate", "--plot", "--seed", "3"], ["simulate", "--plot=", "--seed", "3"]),
        (["simulate", "--plot", "X.PNG"], ["simulate", "--plot=X.PNG"]),
        (["simulate", "--plot", "x.gif"], ["simulate", "--plot=x.gif"]),
        (["emulate", "a", "--plot", "--", "--plot"], ["emulate", "a", "--plot=", "--", "--plot"]),
        (["simulate", "--plot=x.pdf"], ["simulate", "--plot=x.pdf"]),
    ],
)
def test_the_next_word_is_the_value_of_plot_only_if_it_is_a_picture(
    given: list[str], read: list[str]
) -> None:
    assert with_values(given) == read


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize("command", ["simulate", "predict", "compare"])
@pytest.mark.parametrize("last", [False, True])
def test_without_a_value_plot_prints_the_path_of_its_picture(
    lasthop: Lasthop, small: Path, command: str, last: bool
) -> None:
    words = [small, "--plot"] if last else ["--plot", small]
    done = lasthop(command, *words, *QUICK)
    assert done.returncode == 0, done.stderr
    picture = Path("out", f"{STEM.format(command)}.png")
    assert f"picture: {picture}\n" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in Path("out").iterdir()] == [picture.name]


def test_changes_are_in_the_name_and_the_title(lasthop: Lasthop, small: Path) -> None:
    options = ["--model", "hotspot", "--option", "beta=1.5"]
    changed = ["--seed", "7", "--replications", "2"]
    assert lasthop("predict", small, "--plot", *options).returncode == 0
    assert Path("out/small-predict-model=hotspot-beta=1.5.png").exists()
    done = lasthop("simulate", small, "--plot", "x.svg", *changed, *QUICK)
    assert done.returncode == 0
    assert lasthop("simulate", small, "--plot", *changed, *QUICK).returncode == 0
    assert Path(f"out/{STEM.format('simulate')}-replications=2-seed=7.png").exists()
    # In the SVG, each letter of the title is a path. A comment contains the text.
    letters = re.findall(r"<!-- (.*?) -->", Path("x.svg").read_text())
    assert "duration=1 s, warmup=0.2 s, replications=2, seed=7" in letters


@pytest.mark.usefixtures("blank")
def test_another_setting_has_another_picture(lasthop: Lasthop, small: Path) -> None:
    for queue in ("20", "30"):
        lasthop("compare", small, *QUICK, "--set", f"cell.ap_queue={queue}")
    assert len(list(Path("out").glob("*.png"))) == 2


def test_shortened_names_of_changes_differ() -> None:
    assert changes_part([("cell.ap.cwmin", "15")]) == "-cell.ap.cwmin=15"
    assert changes_part([("dumbbell.rtt", "10 ms")]) == "-dumbbell.rtt=10ms"
    first, other = (changes_part([("queue", f"{{red={{min_th={n}}}}}")]) for n in (5, 6))
    assert re.fullmatch(r"-queue=_red=_min_th=5_-[0-9a-f]{8}", first)
    assert first[-8:] != other[-8:]
    long = [changes_part([("over", ",".join(map(str, range(n))))]) for n in (200, 201)]
    assert all(len(each) < 120 for each in long)
    assert long[0] != long[1]
    assert "/" not in changes_part([("file", "../../etc")])


@pytest.mark.usefixtures("blank")
def test_pictures_go_to_out_unless_they_have_a_path(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("simulate", small, "--plot", "--out", "o", *QUICK)
    assert "result and tables: o\n" in done.stdout
    assert f"picture: o/{STEM.format('simulate')}.png\n" in done.stdout
    done = lasthop("compare", small, "--plot", "here.pdf", "--out", "o", *QUICK)
    assert "picture: here.pdf\n" in done.stdout
    assert Path("here.pdf").read_bytes().startswith(b"%PDF")
    assert not list(Path("o").glob("*compare*"))


@pytest.mark.usefixtures("blank")
@pytest.mark.smoke(3)
@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
@pytest.mark.parametrize("command", ["simulate", "predict", "compare"])
def test_a_foreign_picture_is_refused_before_the_run_and_our_picture_is_replaced(
    lasthop: Lasthop, small: Path, command: str, suffix: str
) -> None:
    mine = Path(f"mine.{suffix}")
    mine.write_text("mine")
    done = lasthop(command, small, *QUICK, "--plot", mine)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {mine}: exists and is not a picture of lasthop")
    assert mine.read_text() == "mine"
    mine.unlink()
    for _ in range(2):
        assert lasthop(command, small, *QUICK, "--plot", mine).returncode == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--plot", "x.gif"], '--plot "x.gif": expected a name that ends in .png, .pdf, .svg'),
        (["--plot=x"], '--plot "x": expected a name that ends in .png, .pdf, .svg'),
        (["--plot", "no/x.png"], "--plot no/x.png: the directory no does not exist"),
        (["--air", "1..2"], "--air 1..2: the times must have a unit"),
        (["--air", "1kB..2kB"], "--air 1kB..2kB: the times must have a unit"),
        (["--air", "now"], "--air now: expected FROM..TO"),
        (["--air", "9s..10s"], "--air 9s..10s: expected FROM before TO, and both within"),
        (["--air", "1s..900s"], "--air 1s..900s: expected FROM before TO, and both within"),
        (["--air", "1s..2s", "--series", "0.1 s", "--plot"], "cannot be combined with --series"),
        (["--series", "0.1 s"], "expected --out DIR or --plot as well"),
    ],
)
def test_an_impossible_picture_is_refused_before_the_run(
    lasthop: Lasthop, small: Path, words: list[str], message: str
) -> None:
    done = lasthop("simulate", small, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) <= 2


@pytest.mark.usefixtures("blank")
def test_with_json_written_files_are_listed_on_standard_error(
    lasthop: Lasthop, small: Path
) -> None:
    words = ["--json", "--plot", "x.png", "--out", "o", "--set", "duration=40 s"]
    done = lasthop("simulate", small, *words, "--set", "warmup=10 s")
    json.loads(done.stdout)
    assert done.stderr == "result and tables: o\npicture: x.png\n"


def test_requested_series_are_drawn(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("simulate", small, "--series", "0.1 s", "--plot", *QUICK)
    assert done.returncode == 0, done.stderr
    assert Path(f"out/{STEM.format('simulate')}-series=0.1s.png").exists()
    lasthop("simulate", small, "--series", "0.1 s", "--plot", "x.svg", *QUICK)
    assert "time [s], first replication; shaded: warm-up" in Path("x.svg").read_text()


def test_frames_on_the_air_are_drawn_without_further_options(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("simulate", small, "--air", "500..520 ms", *QUICK)
    assert done.returncode == 0, done.stderr
    assert Path(f"out/{STEM.format('simulate')}-air=500..520ms.png").exists()
    lasthop("simulate", small, "--air", "0.5s..0.52s", "--plot", "x.svg", *QUICK)
    assert "time since 0.5 s [ms], first replication" in Path("x.svg").read_text()


@pytest.mark.usefixtures("blank")
def test_sweep_draws_a_quantity_and_names_the_values(lasthop: Lasthop, small: Path) -> None:
    words = ["sweep", small, *QUICK, "--replications", "1", "--over", "cell.ap_queue=5,9"]
    assert lasthop(*words, "--plot").returncode == 0
    done = lasthop(*words, "--plot", "--quantity", "jain")
    stem = f"out/small-sweep/{STEM.format('sweep')}-replications=1-cell.ap_queue=5,9"
    assert f"picture: {stem}-quantity=jain.png\n" in done.stdout
    assert Path(f"{stem}.png").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--plot", "--quantity", "jam"], 'no quantity "jam"; the nearest are jain'),
        (
            ["--quantity", "jain"],
            "--quantity jain: no picture was requested: expected --plot as well",
        ),
        (["--plot", "--over", "seed=1..9", "--over", "replications=1..5"], "a picture of "),
    ],
)
def test_a_sweep_that_makes_no_picture_is_refused_before_it_runs(
    lasthop: Lasthop, small: Path, words: list[str], message: str
) -> None:
    done = lasthop("sweep", small, "--over", "cell.ap_queue=5,9", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "command",
    [
        ["simulate"],
        ["predict"],
        ["compare"],
        ["sweep"],
        ["tune"],
        ["emulate"],
        ["stability", "chart"],
        ["stability", "cycle"],
        ["stability", "integrate"],
    ],
)
def test_every_command_that_answers_can_draw(lasthop: Lasthop, command: list[str]) -> None:
    assert "--plot [FILE]" in lasthop(*command, "--help").stdout


RULE = "Write files to this place and print the name of each file."


@pytest.mark.parametrize(
    "command",
    [
        ["simulate"],
        ["compare"],
        ["sweep"],
        ["tune"],
        ["reproduce"],
        ["stability", "chart"],
        ["stability", "cycle"],
        ["stability", "integrate"],
    ],
)
def test_out_means_the_same_everywhere(lasthop: Lasthop, command: list[str]) -> None:
    words = " ".join(lasthop(*command, "--help").stdout.split())
    assert f"--out DIR {RULE}" in words


def test_aggregates_are_drawn_and_captured(
    lasthop: Lasthop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = 'duration = "0.5 s"\ncell = { phy = "802.11ax" }\n[station.a]\nudp_down = "50 Mbps"\n'
    (tmp_path / "new.toml").write_text(text)
    options = ("--replications", "1", "--air", "0.2s..0.21s", "--pcapng", "new.pcapng")
    done = lasthop("simulate", "new.toml", *options)
    assert done.returncode == 0, done.stderr
    [picture] = (tmp_path / "out").glob("*.png")
    assert picture.stat().st_size > 10_000
    assert (tmp_path / "new.pcapng").stat().st_size > 1_000_000
    short = lasthop("simulate", "new.toml", *options, "--set", "record.frames=100")
    assert "new.pcapng: ends after" in short.stderr
    assert "no frames from 0.2 s to 0.21 s" in short.stderr
