import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import jsonschema
import pytest

import lasthop as lh
from lasthop.batch import Workers
from lasthop.models import MODELS

from ..conftest import EXAMPLES, SMALL, Lasthop

COMMANDS = ["schema", "check", "predict", "simulate", "compare", "sweep", "reproduce"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(lasthop: Lasthop, command: str) -> None:
    done = lasthop(command, "--help")
    assert done.returncode == 0
    assert f"lasthop {command}" in done.stdout
    assert "--json" in done.stdout
    assert not re.search(r"[<>{}]", done.stdout)


@pytest.mark.parametrize("command", [("import", "pcap"), ("queue", "check")])
def test_the_help_of_an_argument_is_one_column(command: tuple[str, str], lasthop: Lasthop) -> None:
    lines = lasthop(*command, "--help").stdout.splitlines()
    first = lines[lines.index("Arguments:") + 1]
    assert first.startswith("  FILE  ")
    following = lines[lines.index("Arguments:") + 2]
    assert len(following) - len(following.lstrip()) == len("  FILE  ")


def test_no_command_prints_the_help(lasthop: Lasthop) -> None:
    done = lasthop()
    assert done.returncode == 0
    assert all(command in done.stdout for command in COMMANDS)


def test_version_is_that_of_the_package(lasthop: Lasthop) -> None:
    assert lasthop("--version").stdout == f"lasthop {lh.__version__}\n"


def test_schema_is_a_json_schema(lasthop: Lasthop) -> None:
    schema = json.loads(lasthop("schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema == lh.schema()


def test_check_counts_and_json_is_normalised(lasthop: Lasthop, small: Path) -> None:
    assert lasthop("check", small).stdout == (
        f"{small}: ok: two downloaders: 2 stations, 3 flows, 3 x 4 s\n"
        "  tcp: newreno, SACK off, initial window 2, window 42 packets (defaults of 802.11b)\n"
    )
    assert json.loads(lasthop("check", small, "--json").stdout) == lh.Scenario(SMALL).to_dict()


@pytest.mark.parametrize(
    ("network", "tcp", "printed"),
    [
        (
            'cell.phy = "802.11ax"\nstation.a.upload = 1\n',
            "",
            "cubic, SACK on, initial window 10, window 20000 packets (defaults of 802.11ax)",
        ),
        (
            'link.l = { from = "a", to = "b", delay = "1 ms" }\n'
            'flow.f = { from = "a", to = "b" }\n',
            'tcp = { congestion = "reno", window = 9 }\n',
            "SACK on, initial window 10 (defaults with [link])",
        ),
        (
            'dumbbell = { bottleneck = "9 Mbps", delay = "1 ms", flows = 1 }\n',
            'tcp = { congestion = "reno", sack = true, window = 9 }\n',
            "initial window 2 (defaults with [dumbbell])",
        ),
    ],
)
def test_check_prints_the_defaults_of_tcp_that_flows_have(
    lasthop: Lasthop, tmp_path: Path, network: str, tcp: str, printed: str
) -> None:
    path = tmp_path / "network.toml"
    path.write_text(f'duration = "1 s"\n{network}{tcp}')
    assert f"\n  tcp: {printed}\n" in lasthop("check", path).stdout


def test_check_lists_flows_of_web_traffic(lasthop: Lasthop, tmp_path: Path) -> None:
    path = tmp_path / "web.toml"
    path.write_text("""\
duration = "10 s"
replications = 1
queue = 50
dumbbell = { bottleneck = "20 Mbps", rtt = "40 ms" }
flow.bulk.count = 5
flow.site.web = { connections = 80, arrivals = "poisson" }
""")
    done = lasthop("check", path)
    assert "6 flows" in done.stdout
    assert "\n  flow site is web traffic: 80 new connections per second\n" in done.stdout
    assert done.stdout.count("web traffic") == 1


def test_check_lists_conflicts_that_follow_from_positions(lasthop: Lasthop) -> None:
    places = {"a": 0, "b": 200, "c": 500, "d": 700, "e": 1200, "f": 1300}
    links = {"near": ("a", "b"), "middle": ("c", "d"), "far": ("e", "f")}
    tree = {
        "duration": "4 s",
        "csma": {
            "sensing_range": "600 m",
            "interference_range": "600 m",
            "node": {name: {"x": f"{x} m"} for name, x in places.items()},
            "link": {name: {"from": a, "to": b} for name, (a, b) in links.items()},
        },
        "flow": {"x": {"route": ["near"]}},
    }
    assert lasthop("check", "-", stdin=json.dumps(tree).encode()).stdout.splitlines()[2:] == [
        "  link near conflicts with middle",
        "  link middle conflicts with near",
        "  link far conflicts with none; hidden from middle, whose frames it destroys",
    ]
    listed = json.loads(lasthop("check", "-", "--json", stdin=json.dumps(tree).encode()).stdout)
    assert [link["conflicts"] for link in listed["csma"]["links"]] == [["middle"], ["near"], []]


@pytest.mark.parametrize("command", ["check", "predict", "simulate"])
def test_standard_input_accepts_both_formats(lasthop: Lasthop, command: str, small: Path) -> None:
    tree = {
        "name": "two downloaders",
        "duration": "4 s",
        "warmup": "1 s",
        "replications": 3,
        "cell": {"phy": "802.11b"},
        "station": {"near": {"download": 1}, "far": {"rate": "2 Mbps", "upload": 2}},
    }
    from_file = lasthop(command, small, "--json")
    assert from_file.returncode == 0
    for text in (SMALL, json.dumps(tree), "  \n" + json.dumps(tree, indent=4)):
        from_stdin = lasthop(command, "-", "--json", stdin=text.encode())
        assert from_stdin.stdout == from_file.stdout


def test_simulate_prints_the_result_of_the_library(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("simulate", small, "--seed", "5", "--set", "cell.ap.cwmin=15", "--json")
    expected = lh.simulate(SMALL, seed=5, settings={"cell.ap.cwmin": 15}).to_json()
    assert done.stdout == expected


def test_predict_prints_solver_active_stations_and_round_trips(lasthop: Lasthop) -> None:
    example = Path(__file__).parents[3] / "examples" / "seven-downloads.toml"
    prediction = lh.predict(example)
    lines = lasthop("predict", example).stdout.splitlines()
    assert lines[1] == f"solver product, {prediction.summary['states']} states"
    active = prediction.cells.active_stations.iloc[0]
    assert lines[2] == f"active stations E[N_active] {active:.3f}"
    flow = next(line for line in lines if line.startswith("sta-1/down/1"))
    assert flow.split()[-1] == f"{1e3 * prediction.flows.rtt_s.iloc[0]:.2f}"


@pytest.mark.parametrize("command", ["predict", "compare"])
def test_help_names_the_models_of_the_registry(lasthop: Lasthop, command: str) -> None:
    words = " ".join(lasthop(command, "--help").stdout.split())
    *most, last = sorted(MODELS)
    assert f"Use this analytical model: {', '.join(most)} or {last};" in words


@pytest.mark.usefixtures("blank")
def test_tables_fit_eighty_columns(lasthop: Lasthop, hotspot: Path) -> None:
    for command in ("predict", "simulate", "compare"):
        done = lasthop(command, hotspot)
        lines = done.stdout.splitlines()
        widest = max((line for line in lines if not line.startswith("what helps: ")), key=len)
        assert len(widest) <= 80, widest


def test_headers_have_units(lasthop: Lasthop, small: Path) -> None:
    text = lasthop("simulate", small).stdout
    assert re.search(r"^station +\[Mb/s\] +\[%\]", text, re.MULTILINE)
    assert re.search(r"^near +\d\.\d+ ± \d\.\d+ ", text, re.MULTILINE)


AT_REST = ("--set", "duration=40 s", "--set", "warmup=10 s")
"""Settings with which the small scenario causes no warning."""


def test_timing_goes_to_standard_error_only(lasthop: Lasthop, small: Path) -> None:
    plain = lasthop("simulate", small, "--json", *AT_REST)
    timed = lasthop("simulate", small, "--json", "--timing", *AT_REST)
    assert timed.stdout == plain.stdout
    assert plain.stderr == ""
    assert re.fullmatch(r"timing: .* simulated seconds per second\n", timed.stderr)


def test_out_has_the_printed_result(lasthop: Lasthop, small: Path, tmp_path: Path) -> None:
    done = lasthop("simulate", small, "--json", "--out", tmp_path / "o", "--series", "0.1s")
    assert (tmp_path / "o" / "result.json").read_text() == done.stdout
    names = {path.name for path in (tmp_path / "o").iterdir()}
    assert {"stations.csv", "stations.parquet", "series.csv", "samples.parquet"} <= names


def test_foreign_result_is_refused_before_the_run(
    lasthop: Lasthop, small: Path, tmp_path: Path
) -> None:
    foreign = tmp_path / "o" / "result.json"
    foreign.parent.mkdir()
    foreign.write_text("mine")
    done = lasthop("simulate", small, "--out", foreign.parent)
    assert done.returncode == 2
    message = "exists and is not a result of lasthop; expected another name or directory"
    assert done.stderr == f"error: {foreign}: {message}\n"
    assert done.stdout == ""
    assert foreign.read_text() == "mine"


def test_capture_that_is_cut_short_says_so(lasthop: Lasthop, small: Path, tmp_path: Path) -> None:
    short = ("--set", "record.frames=10")
    done = lasthop("simulate", small, "--pcapng", tmp_path / "a.pcapng", *short, *AT_REST)
    assert done.stderr == f"warning: {tmp_path / 'a.pcapng'}: ends after 10 frames\n"
    done = lasthop("simulate", small, "--pcapng", tmp_path / "b.pcapng", *AT_REST)
    assert done.stderr == ""


def test_compare_prints_one_table_and_names_its_picture(
    lasthop: Lasthop, small: Path, tmp_path: Path
) -> None:
    done = lasthop("compare", small)
    assert done.stdout.endswith("picture: out/small-compare.png\n")
    assert (tmp_path / "home" / "out" / "small-compare.png").exists()
    header = next(line for line in done.stdout.splitlines() if line.startswith("quantity"))
    assert header.split() == ["quantity", "item", "predicted", "simulated", "difference"]


def test_large_cell_prints_a_few_rows_of_each_quantity(lasthop: Lasthop) -> None:
    text = SMALL.replace("[station.near]", "[station.near]\ncount = 60").replace('"4 s"', '"2 s"')
    compared = lasthop("compare", "-", stdin=text.encode()).stdout
    assert compared.count("... and 49 more") == 2
    assert compared.count("... and 50 more") == 2
    assert len(re.findall(r"^mean queue \[packets\] +ap ", compared, re.MULTILINE)) == 1
    assert "near-13 " not in compared
    simulated = lasthop("simulate", "-", stdin=text.encode()).stdout
    assert "near-40 " in simulated
    assert "near-41 " not in simulated
    assert "... and 21 more: --json has them all" in simulated


@pytest.mark.usefixtures("blank")
def test_compare_simulates_a_scenario_that_the_model_refuses(
    lasthop: Lasthop, tmp_path: Path
) -> None:
    text = 'duration = "1 s"\ncell = { phy = "802.11b" }\n[station.a]\n'
    text += 'udp_up = "greedy"\n[station.b]\nupload = 1\n'
    done = lasthop("compare", "-", stdin=text.encode())
    assert done.returncode == 0
    assert (
        "no prediction: the scenario breaks the assumption of long-lived TCP connections"
        in done.stdout
    )
    for quantity in ("goodput [Mb/s]", "goodput share [%]", "fairness level [-]"):
        assert quantity in done.stdout


SHARED = """duration = "2 s"
replications = 1
cell = { phy = "802.11g-long", ap_queue = 100 }
tcp = { congestion = "compound", window = 45, delayed_ack = false }
station.a = { count = 5, download = 1 }
station.b = { count = 5, download = 1 }
"""


def sharing(share: float, sum_of_all: float = 1.0) -> str:
    shares = {"a": share, "b": sum_of_all - share}
    tables = (f"{n} = {{ station = '{n}', share = {part} }}" for n, part in shares.items())
    return f"cell.ap_queue.vbs.class={{ {', '.join(tables)} }}"


def test_a_solver_that_gives_up_is_reported_in_a_sentence(lasthop: Lasthop) -> None:
    """The table of `compare` and the error of `predict` both report that the solver has no
    solution.
    """
    done = lasthop("compare", "-", "--set", sharing(0.05), stdin=SHARED.encode())
    assert done.returncode == 0
    [line] = (line for line in done.stdout.splitlines() if line.startswith("no prediction"))
    start = "no prediction: the scenario has no solution in the model: target 0.05 of class a"
    assert line.startswith(start)
    assert "the model supports targets from about 0.17 on" in line
    done = lasthop("predict", "-", "--set", sharing(0.05), stdin=SHARED.encode())
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].startswith("error: <stdin>: model vbs: no solution: target")


def test_check_prints_the_targets_and_warns_on_standard_error(lasthop: Lasthop) -> None:
    done = lasthop("check", "-", "--set", sharing(0.25, 0.5), stdin=SHARED.encode())
    assert done.returncode == 0
    assert done.stdout.splitlines()[2] == (
        "`cell.ap_queue.vbs`: 60 of 100 packets, corrected; targets a 0.5, b 0.5"
    )
    [line] = done.stderr.splitlines()
    assert line.startswith("warning: `cell.ap_queue.vbs.class`: shares sum to 0.5")
    done = lasthop("check", "-", "--json", "--set", sharing(0.25, 0.5), stdin=SHARED.encode())
    targets = [each["target_share"] for each in json.loads(done.stdout)["cell"]["vbs_classes"]]
    assert targets == [0.5, 0.5]


def test_a_bare_queue_is_a_limit_and_keeps_the_shares(lasthop: Lasthop) -> None:
    both = ("--set", sharing(0.5), "--set", "cell.ap_queue=50")
    done = lasthop("check", "-", *both, stdin=SHARED.encode())
    assert "`cell.ap_queue.vbs`: 30 of 50 packets" in done.stdout
    assert NOTE.format("cell.ap_queue", 50, "vbs") in done.stderr
    plain = ("--set", sharing(0.5), "--set", "cell.ap_queue={ limit = 50 }")
    done = lasthop("check", "-", *plain, stdin=SHARED.encode())
    assert "vbs" not in done.stdout
    assert "note: " not in done.stderr


NOTE = (
    "note: {0}={1} sets only the limit of {2}; for a FIFO of {1} packets, set "
    "'{0}={{ limit = {1} }}'\n"
)
AX = """duration = "20 ms"
warmup = "5 ms"
replications = 1
cell = { phy = "802.11ax", ap_queue.mac80211 = {}, queue.codel = {} }
station.a.download = 1
"""


@pytest.mark.parametrize(
    ("settings", "notes"),
    [
        (["cell.ap_queue=100"], [("cell.ap_queue", 100, "mac80211")]),
        (
            ["cell.ap_queue=9", "cell.queue=30"],
            [("cell.ap_queue", 9, "mac80211"), ("cell.queue", 30, "codel")],
        ),
        (["cell.ap_queue={ limit = 100 }"], []),
        (["cell.ap_queue.limit=100"], []),  # Only the limit of the given queue discipline changes.
        (["cell.ap_queue={ limit = 20 }", "cell.ap_queue=100"], []),
        (["cell.ap_queue={ limit = 20 }", "cell.ap_queue=9", "cell.ap_queue.pie={}"], []),
    ],
)
def test_a_bare_number_over_a_discipline_causes_a_note(
    settings: list[str], notes: list[tuple[str, int, str]], lasthop: Lasthop
) -> None:
    options = [word for setting in settings for word in ("--set", setting)]
    done = lasthop("check", "-", *options, stdin=AX.encode())
    assert done.returncode == 0
    assert done.stderr == "".join(NOTE.format(*note) for note in notes)
    assert lasthop("check", "-", "-q", *options, stdin=AX.encode()).stderr == ""


def test_a_sweep_over_bare_numbers_causes_a_single_note(lasthop: Lasthop) -> None:
    Path("ax.toml").write_text(AX, "utf-8")
    done = lasthop("sweep", "ax.toml", "--over", "cell.ap_queue={ pie = {} },50,100")
    assert done.returncode == 0
    assert done.stderr.count("note: ") == 1
    assert NOTE.format("cell.ap_queue", 50, "mac80211") in done.stderr


@pytest.mark.slow
def test_compare_prints_each_warning_once(lasthop: Lasthop) -> None:
    done = lasthop("compare", "-", "--set", sharing(0.2), stdin=SHARED.encode())
    lines = [line for line in done.stderr.splitlines() if "target 0.2" in line]
    assert len(lines) == 1


def test_datagrams_have_their_delay_in_the_table(lasthop: Lasthop) -> None:
    text = SMALL + 'udp_up = "100 kbps"\n'
    table = lasthop("simulate", "-", stdin=text.encode()).stdout
    assert re.search(r"^flow .*RTT +delay", table, re.MULTILINE) or "delay" in table
    assert max(map(len, table.splitlines())) <= 80


def test_sweep_prints_the_goodput_of_each_station(lasthop: Lasthop, small: Path) -> None:
    over = ("--over", "station.near.count=1,3")
    table = lasthop("sweep", small, *over).stdout
    heading = next(line for line in table.splitlines() if line.startswith("station.near.count"))
    assert heading.split() == ["station.near.count", "[%]", "[%]"]
    rows = [line for line in table.splitlines() if re.match(r"[13] ", line)]
    assert re.match(r"1 +\d+\S* ± \S+ +\d+\S* ± \S+$", rows[0])
    assert re.match(r"3 +\d+\.\d+ each of 3 +\d+\S* ± \S+$", rows[1])
    assert "Jain's" in table


def test_sweep_shows_the_requested_quantities(lasthop: Lasthop, small: Path) -> None:
    over = ("--over", "station.near.count=1,2", "--show", "stations.collision_rate")
    table = lasthop("sweep", small, *over, "--show", "flows.rtt_s").stdout
    collisions, rtts = table.split("\n\n")[-3:-1]
    assert "collisions" in collisions
    assert "[ms]" in rtts
    # The second row shows "-", because there is a single station.
    assert [line.split()[-1] == "-" for line in rtts.splitlines()[-2:]] == [True, False]
    refused = lasthop("sweep", small, *over, "--show", "flows.rtd_s")
    assert refused.returncode == 2
    assert 'no quantity "rtd_s"; the nearest are' in refused.stderr
    absent = lasthop("sweep", small, *over, "--show", "mark_probability")
    assert absent.returncode == 2
    assert "--show mark_probability: no point has this quantity" in absent.stderr
    without = lasthop("sweep", small, *over, "--show", "stations.airtime_fraction")
    assert (without.returncode, "Jain's" in without.stdout) == (2, True)
    assert "airtime_fraction: no point has this quantity; expected one of" in without.stderr
    assert "stations.goodput_bps" in without.stderr
    misplaced = lasthop("sweep", small, *over, "--show", "flows.airtime_fraction")
    assert (misplaced.returncode, misplaced.stdout) == (2, "")
    expected = "expected one of links.airtime_fraction, stations.airtime_fraction"
    assert expected in misplaced.stderr


ROUTER = """\
duration = "6 s"
warmup = "2 s"
replications = 2
queue = 20
dumbbell = { flows = 4, bottleneck = "10 Mbps", rtt = "20 ms", rtt_spread = "20 ms" }
tcp = { congestion = "cubic", window = 100 }
[flow.file]
segments = 50
"""


def test_sweep_tries_disciplines_and_shows_queues(lasthop: Lasthop) -> None:
    over = ("--over", "queue=20,{red={min_th=5,max_th=15}},{codel={}}")
    done = lasthop("sweep", "-", *over, stdin=ROUTER.encode())
    tables = done.stdout.split("\n\n")
    queues = next(table for table in tables if "sojourn" in table)
    swept = ["20", "{red={min_th=5,max_th=15}}", "{codel={}}"]
    for value in swept:
        assert re.search(rf"^{re.escape(value)} +bottleneck +\d", queues, re.MULTILINE)
    for table in tables:  # No table has a column without a number.
        rows = [re.split(r"  +", line) for line in table.splitlines() if line.startswith("20 ")]
        columns = list(zip(*rows, strict=True))
        assert not any(set(column) == {"-"} for column in columns if len(rows) > 2)
    assert "[ms]" in queues
    assert "mean rate" not in done.stdout
    assert "phase effects" in done.stderr
    assert "queue=20:" in done.stderr


def test_finite_class_has_a_rate_and_no_goodput(lasthop: Lasthop) -> None:
    done = lasthop("simulate", "-", stdin=ROUTER.encode())
    transfers, *tables = done.stdout.split("\n\n")[1:]
    assert "transfer" in transfers  # The table of delays comes before that of transfers.
    assert [line.split()[0] for line in transfers.splitlines()[-1:]] == ["file"]
    table = next(table for table in tables if "\nclass " in table)
    flow, file = (
        next(line for line in table.splitlines() if line.startswith(name))
        for name in ("flow", "file")
    )
    assert re.match(r"file +- +- +-", file)
    assert re.match(r"flow +\d", flow)
    assert "warning: queue bottleneck: phase effects" in done.stderr
    jitter = ("--set", "dumbbell.jitter=packet")
    assert lasthop("simulate", "-", *jitter, stdin=ROUTER.encode()).stderr == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--series", "0.1 s"], "--series 0.1 s: no option saves or draws"),
        (["--pcapng", "a.pcapng"], "--pcapng a.pcapng: <stdin> has no cell"),
        (["--out", "/proc/x"], "--out /proc/x: the directory /proc is not writable"),
        (["--out", "OUT"], "flows.csv is a directory: expected a file"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_run(
    lasthop: Lasthop, tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "flows.csv").mkdir()
    args = [str(tmp_path) if option == "OUT" else option for option in options]
    done = lasthop("simulate", "-", *args, stdin=ROUTER.encode())
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".json"] == []


def test_sweep_writes_tables_and_continues_where_it_stopped(
    lasthop: Lasthop, small: Path, tmp_path: Path
) -> None:
    args = ["sweep", small, "--over", "cell.ap.cwmin=15,31", "--json"]
    first = lasthop(*args)
    home = tmp_path / "home" / "out" / "small-sweep"
    parts = {path: path.stat().st_mtime_ns for path in home.glob("parts/*.zip")}
    assert len(parts) == 2
    assert (home / "stations.parquet").exists()
    assert lasthop(*args).stdout == first.stdout
    assert {path: path.stat().st_mtime_ns for path in home.glob("parts/*.zip")} == parts
    settings = [point["settings"] for point in json.loads(first.stdout)["points"]]
    assert settings == [{"cell.ap.cwmin": "15"}, {"cell.ap.cwmin": "31"}]


def test_classes_that_share_a_queue_name_the_base_of_their_shares(lasthop: Lasthop) -> None:
    options = ["--set", "duration=4 s", "--replications", "1"]
    for of in ("queue", "service"):
        share_of = ["--set", f"cell.ap_queue.vbs.share_of={of}"]
        text = lasthop("simulate", EXAMPLES / "vbs.toml", *options, *share_of).stdout
        *heads, names = text[: text.index("class ") + 90].splitlines()[-5:-1]
        words = [" ".join(" ".join(line.split()) for line in heads), names]
        assert words[0].startswith("share share target of of of Jain's goodput goodput queue")
        assert f"queue {of}" in words[0]


@pytest.mark.usefixtures("blank")
def test_rows_are_not_counted_if_there_is_room_for_them(lasthop: Lasthop) -> None:
    """All eleven stations of the scenario have a row, so that no line counts further rows. The last
    row is the station `meter`.
    """
    options = ["--set", "duration=4 s", "--replications", "1", "--out", "here"]
    text = lasthop("compare", EXAMPLES / "vbs.toml", *options).stdout
    shares = text[text.index("goodput share") : text.index("share of the queue")]
    assert len(shares.splitlines()) == 13
    assert shares.splitlines()[-1].split()[0] == "meter"
    assert "... and 1 more" not in text


def test_a_sweep_and_studies_may_run_on_a_cluster(
    lasthop: Lasthop, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    @contextmanager
    def near(address: str) -> Iterator[Workers]:
        asked.append(address)
        with ThreadPoolExecutor(2) as pool:
            yield Workers(pool, 2)

    monkeypatch.setattr("lasthop.cli.elsewhere.dask_cluster", near)
    over = ["sweep", small, "--over", "seed=1,2", "--json"]
    remote = lasthop(*over, "--cluster", "tcp://far:8786", "--out", "there").stdout
    assert remote == lasthop(*over, "--out", "here").stdout
    done = lasthop("reproduce", "acsma-16", "--cluster", "tcp://away:1", "--out", "claims")
    assert done.returncode == 0, done.stderr
    assert asked == ["tcp://far:8786", "tcp://away:1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cluster", "tcp://far:8786", "--slurm"], "--slurm: --cluster is given as well"),
        (["--cluster", "tcp://far:8786", "--jobs", "2"], "--jobs 2: cannot be combined with"),
        (["--slurm-option", "timeout_min=5"], "--slurm-option timeout_min=5: expected --slurm"),
        (["--slurm", "--slurm-option", "what=5", "--slurm-option", "cluster=local"], "slurm: "),
        (["--points", "none.csv"], "--points none.csv: cannot be combined with --over or --zip"),
        (
            ["--zip", "--over", "cell.ap_queue=5"],
            "need the same number of values: seed 2, cell.ap_queue",
        ),
    ],
)
def test_commands_that_cannot_run_on_a_cluster_are_refused(
    lasthop: Lasthop, small: Path, options: list[str], message: str
) -> None:
    done = lasthop("sweep", small, "--over", "seed=1,2", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) <= 2
