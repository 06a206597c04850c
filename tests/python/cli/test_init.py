"""`lasthop init` asks six questions, and writes a file from the answers."""

import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import lasthop as lh
from lasthop.cli import main
from lasthop.explanation.objectives import objective_for
from lasthop.init import AIMS, KINDS, MODELS, QUESTIONS, Answers, scenario
from lasthop.init.answers import AGGREGATING, Wire
from lasthop.init.questions import read_wire
from lasthop.scenario.typed import CellScenario
from lasthop.tuning.objectives import objective_for as tuning_objective_for

from ..conftest import Lasthop


def test_default_answers_make_a_scenario_that_all_commands_accept(lasthop: Lasthop) -> None:
    done = lasthop("init", "--yes", "--aim", "models")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "scenario.toml: written; next: lasthop compare scenario.toml\n"
    for command in ("check", "predict"):
        assert lasthop(command, "scenario.toml").returncode == 0
    short = ("--set", "duration=2 s", "--set", "warmup=0.5 s", "--replications", "2")
    assert lasthop("simulate", "scenario.toml", *short).returncode == 0


@pytest.mark.parametrize("hop", ["802.11b", "802.11g", "router"])
def test_each_kind_of_last_hop_can_be_predicted(hop: str, lasthop: Lasthop) -> None:
    assert lasthop("init", "--yes", "--hop", hop).returncode == 0
    assert "predicted by model" in lasthop("predict", "scenario.toml").stdout


@pytest.mark.parametrize("hop", AGGREGATING)
def test_a_cell_that_aggregates_is_simulated_and_predict_is_not_promised(
    hop: str, lasthop: Lasthop
) -> None:
    assert lasthop("init", "x.toml", "--yes", "--hop", hop).returncode == 0
    checked = lasthop("check", "x.toml")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "hostapd" not in checked.stdout  # no warning about the new file
    assert 'edca = "hostapd"' in Path("x.toml").read_text("utf-8")
    short = ("--set", "duration=0.4 s", "--set", "warmup=0.1 s", "--replications", "1")
    done = lasthop("simulate", "x.toml", *short)
    assert done.returncode == 0
    known = lh.check("x.toml").typed
    assert isinstance(known, CellScenario)
    assert known.cell.phy == hop
    assert known.cell.ap.queue_packets == 1000
    mcs = {each.name: each.mcs for each in known.stations}
    assert mcs["uploader"] == {"802.11n": 7, "802.11ac": 9, "802.11ax": 11}[hop]
    assert mcs["far-downloader"] == 2
    assert "lasthop predict" not in Path("x.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("word", "hop"),
    [("wifi", "802.11ax"), ("Wi-Fi 6", "802.11ax"), ("wifi 5", "802.11ac"), ("n", "802.11n")],
)
def test_common_names_of_wifi_are_accepted(word: str, hop: str, lasthop: Lasthop) -> None:
    assert lasthop("init", "x.toml", "--yes", "--hop", word).returncode == 0
    assert f'phy = "{hop}"' in Path("x.toml").read_text("utf-8")


def test_ratios_choose_the_mcs_of_each_station(lasthop: Lasthop) -> None:
    options = ("--hop", "802.11ax", "--stations", "2 at 35 dB, 1 far, 1", "--queue", "pie")
    done = lasthop("init", "x.toml", "--yes", *options, "--traffic", "all x 1 down")
    assert done.returncode == 0
    known = lh.check("x.toml").typed
    assert isinstance(known, CellScenario)
    assert [(each.name, each.snr_db, each.mcs) for each in known.stations] == [
        ("downloader-1", 35.0, 9),
        ("downloader-2", 35.0, 9),
        ("far-downloader", 15.0, 2),
        ("downloader-2x", 40.0, 11),
    ]


def test_the_weakest_station_that_is_allowed_still_receives(lasthop: Lasthop) -> None:
    options = ("--stations", "1 at 8 dB", "--traffic", "1 down", "--wire", "none")
    assert lasthop("init", "x.toml", "--yes", "--hop", "802.11n", *options).returncode == 0
    result = lh.simulate(
        "x.toml", settings={"duration": "1 s", "warmup": "0.2 s", "replications": 1}
    )
    assert result.summary["cells"][0]["goodput_bps"]["mean"] > 5e6


@pytest.mark.parametrize("hop", AGGREGATING)
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_access_point_is_a_cell_with_the_page_of_each_value(
    kind: str, hop: str, lasthop: Lasthop
) -> None:
    assert lasthop("init", "x.toml", "--yes", "--hop", hop, "--queue", kind).returncode == 0
    text = Path("x.toml").read_text("utf-8")
    cell = text.partition("[cell]\n")[2].partition("\n[wire]")[0].splitlines()
    values = [(cell[at - 1], line) for at, line in enumerate(cell) if line and line[0] != "#"]
    assert all("  # " in line or before.startswith("# ") for before, line in values)
    known = lh.check("x.toml")["cell"]
    best_effort = {key: known["ap"][key] for key in ("aifsn", "cwmin", "cwmax")}
    assert best_effort == {"aifsn": 3, "cwmin": 15, "cwmax": 63}
    burst_s = 0.002 if (kind, hop != "802.11n") == ("openwrt", True) else None
    assert known["ap"]["txop_limit_s"] == burst_s
    assert (known["ap"]["queue"].get("discipline") == "mac80211") == (kind != "isp")


def test_in_an_office_air_time_is_fair_and_sparse_stations_do_not_wait(
    lasthop: Lasthop,
) -> None:
    options = ("--stations", "1 near, 1 far, 1 at 39 dB", "--traffic", "1 down")
    lasthop("init", "x.toml", "--yes", "--hop", "ax", "--queue", "office", *options)
    settings: dict[str, object] = {"duration": "1.2 s", "warmup": "0.4 s", "replications": 1}
    stations = ("downloader", "far-downloader", "downloader-2x")
    settings |= {f"station.{name}.download": 0 for name in stations}
    flood, small = "{ rate = '150 Mbps', arrivals = 'poisson' }", "{ rate = '50 kbps' }"
    settings |= {
        f"station.{name}.udp_down": load
        for name, load in zip(stations, (flood, flood, small), strict=True)
    }
    r = lh.simulate("x.toml", settings=settings)
    near, far, _ = r.stations.airtime_fraction
    assert near == pytest.approx(far, rel=0.05)
    waited_s = r.flows.one_way_delay_s
    assert waited_s["downloader-2x/udp-down/1"] - 0.010 < 0.02 < waited_s["downloader/udp-down/1"]


BAD_OF_AGGREGATES = [
    ("stations", "3 at 54", "such as 3 near, 1 far, or 3 at 35 dB"),
    ("stations", "1 at 7 dB", "a ratio is from 8 to 60 dB"),
    ("stations", "1 at 61 dB", "a ratio is from 8 to 60 dB"),
    ("stations", "201 near", "expected a number from 1 to 200"),
    ("queue", "red", "pie, mac80211, or a kind of access point: openwrt, isp, office"),
]


@pytest.mark.parametrize(("key", "answer", "allowed"), BAD_OF_AGGREGATES)
def test_a_bad_option_of_a_cell_that_aggregates_is_refused(
    key: str, answer: str, allowed: str, lasthop: Lasthop
) -> None:
    done = lasthop("init", "x.toml", "--yes", "--hop", "802.11ax", f"--{key}", answer)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: --{key} ")
    assert allowed in done.stderr
    assert not Path("x.toml").exists()


def test_every_line_of_the_file_says_what_it_means(lasthop: Lasthop) -> None:
    for hop in ("802.11g", "802.11ax", "router"):
        lasthop("init", f"{hop}.toml", "--yes", "--hop", hop)
        lines = Path(f"{hop}.toml").read_text("utf-8").splitlines()
        settings = [line for line in lines if line and line[0] not in "#["]
        assert all("  # " in line for line in settings)
        promised = ("check", "predict", "simulate", "compare")
        for command in ("check", "simulate") if hop == "802.11ax" else promised:
            assert f"lasthop {command} {hop}.toml" in "\n".join(lines)


def test_answers_by_lines_and_by_options_are_the_same(lasthop: Lasthop) -> None:
    answers = ["models", "802.11b", "2 at 11, 1 at 2", "1 x 6 up, rest x 1 down", "none", "codel"]
    lines = "".join(f"{line}\n" for line in answers).encode()
    assert lasthop("init", "x.toml", stdin=lines).returncode == 0
    first = Path("x.toml").read_text("utf-8")
    Path("x.toml").unlink()
    keys = ("aim", "hop", "stations", "traffic", "wire", "queue")
    options = [
        word for key, answer in zip(keys, answers, strict=True) for word in (f"--{key}", answer)
    ]
    assert lasthop("init", "x.toml", *options).returncode == 0
    assert Path("x.toml").read_text("utf-8") == first
    known = lh.check("x.toml").typed
    assert isinstance(known, CellScenario)
    assert [each.name for each in known.stations] == ["uploader", "downloader", "slow-downloader"]
    assert [each.rate_bps for each in known.stations] == [11e6, 11e6, 2e6]
    assert sum(flow.direction == "up" for flow in known.flows) == 6


def test_an_empty_line_is_the_default_answer(lasthop: Lasthop) -> None:
    lasthop("init", "asked.toml", stdin=b"\n" * 6)
    lasthop("init", "yes.toml", "--yes")
    assert tomllib.loads(Path("asked.toml").read_text()) == tomllib.loads(
        Path("yes.toml").read_text()
    )


BAD = [
    ("aim", "gossip", "expected one of call, slow, guest, line, queue, models"),
    ("hop", "token ring", "expected one of 802.11ax, 802.11ac, 802.11n, 802.11g, 802.11b, router"),
    ("stations", "none", "expected a number from 1 to 200"),
    ("stations", "3 at 55", "rates of 802.11g are 6, 9, 12"),
    ("stations", "0", "expected a number from 1 to 200"),
    ("stations", "-4", "expected a number from 1 to 200"),
    ("stations", "99999999999", "expected a number from 1 to 200"),
    ("stations", "150, 100", "expected at most 200 stations in total"),
    ("traffic", "lots", "expected stations x connections up or down"),
    ("traffic", "9 x 1 up", "there are 5 stations, and 0 of them already have connections"),
    ("traffic", "1 x 0 up", "expected stations x connections"),
    ("wire", "fast", "expected rate and round trip"),
    ("wire", "100 Mbps, 99999 ms", "round trips up to 10000 ms"),
    ("wire", "0 Mbps", "expected rates from 1 bps to 100 Gbps"),
    ("wire", "101 Gbps, 5 ms", "expected rates from 1 bps to 100 Gbps"),
    ("queue", "0", "expected packets from 1 to 1000000"),
    ("queue", "red", "or codel, fq_codel, pie"),
]


@pytest.mark.parametrize(("key", "answer", "allowed"), BAD)
def test_a_bad_answer_is_asked_again_with_the_valid_answers(
    key: str, answer: str, allowed: str, lasthop: Lasthop
) -> None:
    keys = ["aim", "hop", "stations", "traffic", "wire", "queue"]
    before = keys.index(key)
    first = "models\n" if before else ""
    lines = first + "\n" * (before - len(first[:1])) + f"{answer}\n" + "\n" * 6
    done = lasthop("init", "x.toml", stdin=lines.encode())
    assert done.returncode == 0
    assert allowed in done.stderr
    assert done.stderr.count(f"{before + 1}/6") == 2
    assert Path("x.toml").exists()


@pytest.mark.parametrize(("key", "answer", "allowed"), BAD)
def test_a_bad_option_is_refused_by_its_name(
    key: str, answer: str, allowed: str, lasthop: Lasthop
) -> None:
    done = lasthop("init", "x.toml", "--yes", f"--{key}", answer)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: --{key} ")
    assert allowed in done.stderr
    assert not Path("x.toml").exists()


def test_input_that_ends_names_the_question_and_writes_nothing(lasthop: Lasthop) -> None:
    done = lasthop("init", "x.toml", stdin=b"models\n802.11g\nwhat\n")
    assert done.returncode == 2
    assert 'ends before an answer to question 3; "what": expected' in done.stderr
    assert "use --yes for the default answers" in done.stderr
    assert not Path("x.toml").exists()


def test_a_file_that_exists_is_never_replaced(lasthop: Lasthop) -> None:
    Path("scenario.toml").write_text("mine")
    done = lasthop("init", "--yes")
    assert done.returncode == 2
    assert done.stderr == (
        "error: scenario.toml: exists, and is not replaced; expected a new name\n"
        "hint: give another FILE, such as scenario-2.toml\n"
    )
    assert Path("scenario.toml").read_text() == "mine"
    Path("scenario-2.toml").write_text("mine")
    assert "such as scenario-3.toml" in lasthop("init", "--yes").stderr
    assert "1/6" not in lasthop("init", stdin=b"\n" * 6).stderr, "it is told before all questions"


def test_a_folder_that_is_not_writable_is_reported_with_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert main(["init", "--yes"]) == 2
    expected = "error: FILE scenario.toml: the directory . is not writable\n"
    assert capsys.readouterr().err == expected


def test_a_command_that_cannot_compare_is_not_next(lasthop: Lasthop) -> None:
    done = lasthop("init", "x.toml", "--yes", "--aim", "models", "--hop", "802.11ax")
    assert done.stdout == "x.toml: written; next: lasthop simulate x.toml\n"


def test_a_bad_option_is_reported_before_an_existing_file(lasthop: Lasthop) -> None:
    """A newcomer who asks for an unknown aim needs the list of aims, not another file name."""
    Path("scenario.toml").write_text("mine")
    done = lasthop("init", "--aim", "gaming", "--yes")
    assert done.returncode == 2
    assert done.stderr.startswith('error: --aim "gaming": expected one of call, ')
    assert Path("scenario.toml").read_text() == "mine"
    assert 'error: --hop "token-ring"' in lasthop("init", "--hop", "token-ring", "--yes").stderr


@pytest.mark.parametrize("stations", ["3 near, 1 far", "2 old", "1 at 12 dB"])
def test_distances_without_a_hop_hint_at_wifi(stations: str, lasthop: Lasthop) -> None:
    done = lasthop("init", "x.toml", "--yes", "--stations", stations)
    assert done.returncode == 2
    assert "several with their rates in Mb/s" in done.stderr
    assert done.stderr.endswith(
        "hint: use --hop wifi for distances, such as 3 near: --hop wifi is 802.11ax; without --hop "
        "it is 802.11g\n"
    )
    assert "hint:" not in lasthop("init", "x.toml", "--yes", "--stations", "3 x y").stderr


def test_a_file_in_no_folder_is_refused_before_anything_is_asked(lasthop: Lasthop) -> None:
    done = lasthop("init", "no/where.toml", stdin=b"\n" * 6)
    assert done.returncode == 2
    assert "the directory no does not exist" in done.stderr
    assert "1/6" not in done.stderr


def test_ctrl_c_writes_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "from lasthop.cli import main; raise SystemExit(main())", "init"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
    )
    assert process.stderr is not None
    asked = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert asked.startswith("1/6 What do you want to know?")
    assert process.returncode == 130
    assert errors.endswith("error: interrupted: no file was written\n")
    assert list(tmp_path.iterdir()) == []


def test_json_is_the_scenario_in_normalised_form(lasthop: Lasthop) -> None:
    done = lasthop("init", "x.toml", "--yes", "--json")
    assert done.stdout == lh.check("x.toml").to_json() + "\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--queue", "openwrt"],
            'error: --queue "openwrt": is of 802.11n, 802.11ac, 802.11ax, and the hop is 802.11g\n'
            "hint: --hop wifi is 802.11ax; without --hop it is 802.11g\n",
        ),
        (["--queue", "opnwrt"], "\nhint: did you mean openwrt?\n"),
        (["--hop", "wifi", "--queue", "mac8021"], "\nhint: did you mean mac80211?\n"),
        (["--hop", "router", "--queue", "mac80211"], "and the hop is router\nhint: --hop wifi"),
        (["--hop", "wif"], ", router, and wifi for 802.11ax\nhint: did you mean wifi?\n"),
    ],
)
def test_an_option_of_another_hop_or_a_misspelt_option_is_named(
    options: list[str], message: str, lasthop: Lasthop
) -> None:
    done = lasthop("init", "x.toml", "--yes", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert not Path("x.toml").exists()


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        (["--hop", "wifi", "--queue", "openwrt"], "'cell.ap_queue={ limit = 100 }'"),
        (["--hop", "wifi", "--queue", "office"], "'cell.ap_queue={ limit = 100 }'"),
        (["--hop", "wifi", "--queue", "isp"], "cell.ap_queue=100"),
        (["--hop", "n", "--queue", "pie"], "'cell.ap_queue={ limit = 100 }'"),
        (["--hop", "router", "--queue", "codel"], "'queue={ limit = 20 }'"),
        (["--queue", "30"], "cell.ap_queue=20"),
    ],
)
def test_the_change_suggested_by_the_file_makes_a_fifo(
    options: list[str], asked: str, lasthop: Lasthop
) -> None:
    lasthop("init", "x.toml", "--yes", *options)
    line, what = Path("x.toml").read_text("utf-8").split(" --set ")[1].splitlines()[:2]
    assert line == asked
    assert what.split("#")[1].strip().startswith("what if the queue ")
    path, _, value = shlex.split(line)[0].partition("=")
    tried = lh.Scenario("x.toml", [(path, value)])
    queue = tried["links.0.queue" if path == "queue" else "cell.ap.queue"]
    assert queue["discipline"] == "drop_tail"


@pytest.mark.parametrize(
    ("answer", "down_mbps", "up_mbps"),
    [
        ("1 Gbps/500 Mbps, 5 ms", 1000.0, 500.0),
        ("1/0.5 Gbps, 5 ms", 1000.0, 500.0),
        ("2.5 Gbit/s down, 64 kb/s up, 5 ms", 2500.0, 0.064),
        ("9600 bps, 5 ms", 0.0096, None),
    ],
)
def test_rates_of_a_line_have_the_units_of_scenarios(
    answer: str, down_mbps: float, up_mbps: float | None
) -> None:
    assert read_wire(answer, Answers(hop="802.11g")) == Wire(down_mbps, 5.0, up_mbps)


HOME = [aim for aim in AIMS if aim != MODELS]


@pytest.mark.parametrize("aim", HOME)
def test_the_file_ends_with_the_commands_that_answer_the_question(
    aim: str, lasthop: Lasthop
) -> None:
    done = lasthop("init", "home.toml", "--yes", "--aim", aim)
    assert (done.returncode, done.stderr) == (0, "")
    first = AIMS[aim].commands[0].arguments.replace("FILE", "home.toml")
    assert done.stdout == f"home.toml: written; next: lasthop {first}\n"
    text = Path("home.toml").read_text("utf-8")
    end = text.rpartition("\n\n")[2].splitlines()
    assert text.count(f"# {AIMS[aim].question}\n") == 1
    assert end[0] == "# Commands that answer the question above:"
    assert f"#   lasthop {first}" in end
    assert all(line[0] == "#" for line in end)
    assert "[tcp]" not in text


def test_the_readme_does_not_promise_predictions_of_these_networks(lasthop: Lasthop) -> None:
    """README says that `lasthop predict` refuses the networks of its questions."""
    readme = Path(__file__).parents[3].joinpath("README.md").read_text("utf-8")
    asked = re.findall(r"`lasthop init (--aim .*) -y`", readme)
    assert len(asked) == len(HOME)
    for number, options in enumerate(asked):
        file = f"{number}.toml"
        assert lasthop("init", file, "-y", *shlex.split(options)).returncode == 0
        assert lasthop("predict", file).returncode == 2


def written(**given: str) -> str:
    """Return the scenario for some given answers, with the default answers to other questions."""
    known = Answers()
    for question in QUESTIONS:
        text = given.get(question.key) or question.default(known)
        known = known.with_answer(question.key, question.read(text, known))
    return scenario(known, "home.toml")


HOPS = {
    "802.11ax": ("", "1 near", "2 near", "1 near, 1 far", "1 near, 1 old far"),
    "802.11g": ("", "1 at 54", "1 at 54, 1 at 6"),
}
"""Types of hops, with the answers to the question about the stations. An empty answer is the
default.
"""


@pytest.mark.parametrize("traffic", ["", "1 x 1 call, rest x 1 down", "all x 1 call"])
@pytest.mark.parametrize("hop", HOPS)
@pytest.mark.parametrize("aim", HOME)
def test_every_written_command_accepts_the_file(aim: str, hop: str, traffic: str) -> None:
    for stations in HOPS[hop]:
        text = written(aim=aim, hop=hop, stations=stations, traffic=traffic)
        known = lh.Scenario(text)
        assert ("without it: " in text) == ("What the slow device costs" in text)
        lines = [shlex.split(line) for line in text.splitlines() if line.startswith("#   lasthop")]
        cases = [word.partition(": ")[2] for line in lines for word in line if ": " in word]
        assert cases or stations or traffic
        for case in cases:
            lh.Scenario(known, [setting.partition("=")[::2] for setting in case.split("; ")])
        for _, _, command, _, *options in lines:
            objective = options[1] if options[:1] == ["--for"] else None
            if command == "explain" and "TERM" not in options:
                objective_for(known, objective)
            if command == "tune":
                tuning_objective_for(str(objective), known)


def test_an_old_device_has_a_single_stream_and_without_a_line_there_is_no_case_for_it(
    lasthop: Lasthop,
) -> None:
    options = ("--aim", "line", "--hop", "ac", "--stations", "2 near, 1 old far", "--wire", "none")
    assert lasthop("init", "home.toml", "--yes", *options).returncode == 0
    stations = lh.check("home.toml")["stations"]
    assert [(each["name"], each["phy"], each["streams"]) for each in stations] == [
        ("downloader-1", "802.11ac", 2),
        ("downloader-2", "802.11ac", 2),
        ("old-downloader", "802.11n", 1),
    ]
    text = Path("home.toml").read_text("utf-8")
    assert "--case" in text
    assert "wire.rate=" not in text


def test_a_home_has_a_call_and_a_line_with_two_rates(lasthop: Lasthop) -> None:
    assert lasthop("init", "home.toml", "--yes").returncode == 0
    known = lh.check("home.toml")
    assert known["cell"]["phy"] == "802.11ax"
    assert (known["wire"]["rate_bps"], known["wire"]["back_rate_bps"]) == (100e6, 20e6)
    calls = [flow["name"] for flow in known["flows"] if flow["name"].startswith("phone/")]
    assert len(calls) == 4
    assert all("audio" in name or "video" in name for name in calls)


def test_an_option_for_the_network_is_for_models_without_an_aim(lasthop: Lasthop) -> None:
    done = lasthop("init", "x.toml", "--hop", "ax", stdin=b"\n" * 4)
    assert "2/5" in done.stderr
    assert "What do you want to know" not in done.stderr
    assert "call = " not in Path("x.toml").read_text("utf-8")
    lasthop("init", "y.toml", "--yes", "--hop", "802.11g", "--aim", "call")
    text = Path("y.toml").read_text("utf-8")
    assert 'congestion = "cubic"' in text
    assert "call = 1" in text


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--aim", "call", "--hop", "router"], 'error: --hop "router": must be Wi-Fi to answer'),
        (["--hop", "router", "--traffic", "1 x 1 call"], "a router of `init` has no calls"),
        (["--aim", "cal"], "hint: did you mean call?"),
        (["--aim", "call", "--traffic", "1 x 101 calls"], "or stations x calls, such as 1 x 1 cal"),
    ],
)
def test_a_call_needs_wifi(options: list[str], error: str, lasthop: Lasthop) -> None:
    done = lasthop("init", "x.toml", "--yes", *options)
    assert done.returncode == 2
    assert error in done.stderr
    assert not Path("x.toml").exists()
