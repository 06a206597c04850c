"""The studies of paper 000 run with the setup of the paper."""

from functools import cache

import pytest

from .made_up import every, normalised, only
from .vbs_points import ERRORS, LAWS, LIMITS, SIMULATED, SOME, STUDY


@cache
def scenarios(name: str) -> dict[str, dict]:
    return normalised(STUDY[name])


@pytest.mark.parametrize("name", SIMULATED)
def test_every_scenario_is_of_table_ii(name):
    for point, tree in scenarios(name).items():
        # `preamble_s` is the sum of the PLCP preamble (144 us) and the PLCP header (48 us).
        cell = only(tree["cell"], "phy", "slot_s", "sifs_s", "preamble_s", "rts_threshold_bytes")
        assert cell == {
            "phy": "802.11g-long",
            "slot_s": 1e-6 if point.startswith("dense") else 20e-6,
            "sifs_s": 10e-6,
            "preamble_s": 192e-6,
            "rts_threshold_bytes": None,
        }
        assert every(tree["stations"], "rate_bps") == {36e6}
        assert every(tree["stations"], "control_rate_bps") == {2e6}
        for node in (tree["cell"]["ap"], *tree["stations"]):
            assert only(node, "cwmin", "cwmax", "aifsn") == {"cwmin": 31, "cwmax": 1023, "aifsn": 2}
        far = name == "fig08" or point.endswith("70ms")
        # Paper, line 404: "the minimum round-trip propagation delay for all connections was 70 ms"
        assert tree["wire"]["delay_s"] == (0.035 if far else 0), point
        assert tree["cell"]["rate_control"] == ("arf" if "arf" in point else "fixed")


# Studies with eight attempts, which are the paper's first attempt and seven retries.
# The figures of the other studies require four attempts.
EIGHT = {"fig17", "fig18", "contenders"}


@pytest.mark.parametrize("name", SIMULATED)
def test_attempts_are_four_or_the_stated_eight(name):
    for point, tree in scenarios(name).items():
        words = ("8-", "stated-", "eight-")
        wanted = 8 if name in EIGHT or point.startswith(words) or "-eight-" in point else 4
        for node in (tree["cell"]["ap"], *tree["stations"]):
            assert (node["attempts_short"], node["attempts_long"]) == (wanted, wanted), point


@pytest.mark.parametrize("name", SIMULATED)
def test_every_connection_is_compound_with_immediate_acks_and_a_window_of_45(name):
    for point, tree in scenarios(name).items():
        settings = [flow["tcp"] for flow in tree["flows"] if "tcp" in flow]
        assert every(settings, "congestion") == {"compound"}
        assert every(settings, "delayed_ack") == {False}
        # Paper, line 400: "maximum advertised window to W_max = 45 packets"
        wanted = 20 if point.startswith("window-") else 45
        assert every(settings, "window_packets") == {wanted}, point
        short = point.startswith(("equal", "dense"))
        assert every(settings, "mss_bytes") == {1 if short else 1460}
        assert every(settings, "handshake") == {False}
        gentle = 0.125 if point == "gentle" else 0.5
        assert {tcp["compound"]["beta"] for tcp in settings} == {gentle}  # line 120 of the paper


def room(name: str, point: str) -> int:
    """Paper, line 437: "B_ap = 100 packets (unless otherwise specified)"."""
    if name in ("fig17", "opposite"):
        return int(point.rpartition("-")[2])
    return 450 if name == "fig16" else 100


@pytest.mark.parametrize("name", SIMULATED)
def test_the_access_point_has_room_for_100_packets(name):
    for point, tree in scenarios(name).items():
        if point == "fair-0_3":
            continue
        assert tree["cell"]["ap"]["queue_packets"] == room(name, point), point


def law(name: str, point: str) -> str:
    """Return the policy of the access point's queue that follows from the name of a point."""
    words = point.replace("trace-", "").replace("stated-", "")
    if words.startswith("partition"):
        return "partition"
    if name == "fig07" or point in ("two_classes", "all_0_3"):
        return "vbs"
    for policy in ("vbs", "regulated", "partition"):
        if words.startswith(policy) or words.endswith(f"-{policy}"):
            return policy
    return "fq_codel" if words == "fair-0_3" else "drop_tail"


@pytest.mark.parametrize("name", SIMULATED)
def test_queues_have_the_policy_of_their_name_and_hold_0_6_of_the_buffer(name):
    for point, tree in scenarios(name).items():
        queue = tree["cell"]["ap"]["queue"]
        wanted = law(name, point)
        known = {"regulated": "vbs", "partition": "vbs"}
        assert queue["discipline"] == known.get(wanted, wanted), point
        if queue["discipline"] != "vbs":
            continue
        assert queue["algorithm"] == {"vbs": "corrected"}.get(wanted, wanted), point
        assert queue["occupancy"] == 0.6  # The target c B is 60 packets (line 448).
        # Class 1 has the share "h_i* = 0.526" (lines 171 and 480), or shares are equal.
        shares = [vbs_class["share"] for vbs_class in tree["cell"]["vbs_classes"]]
        assert shares == pytest.approx([0.526, 0.474] if name == "fig18" else [0.5, 0.5])
        by_direction = name in ("fig16", "fig17") or point.startswith("mixed-")
        service = by_direction and wanted != "partition"
        assert queue["share_of"] == ("service" if service else "queue"), point
        parts = [
            {flow.partition("-")[0] for flow in vbs_class["flows"]}
            for vbs_class in tree["cell"]["vbs_classes"]
        ]
        assert parts == ([{"up"}, {"down"}] if by_direction else [{"high"}, {"low"}])


def test_tolerances_are_those_of_figure_7():
    tolerances = {
        point: tree["cell"]["ap"]["queue"]["tol_packets2"]
        for point, tree in scenarios("fig07").items()
    }
    # Paper, line 375: "which implies tol = 1/B_ap^2". With B_ap = 100, this is 1e-4.
    tols = {"printed": 1e-4, "small": 1, "medium": 25, "large": 225}
    tols |= {f"partition-{size}": tol for size, tol in tols.items()}
    assert tolerances == pytest.approx(tols)


def groups(tree) -> dict[str, tuple[int, float, float]]:
    """Return three values by the name of a group of stations: the number of stations, the error
    probability downlink, and the error probability uplink.
    """
    errors: dict[str, list] = {}
    for station in tree["stations"]:
        errors.setdefault(station["group"], []).append((station["error_down"], station["error_up"]))
    assert all(len(set(some)) == 1 for some in errors.values())
    return {group: (len(some), *some[0]) for group, some in errors.items()}


def error_of(point: str) -> float:
    return float(point.rpartition("-")[2].replace("_", "."))


@pytest.mark.parametrize("name", ["fig02", "fig03", "fig04"])
def test_two_of_four_stations_are_far(name):
    """Paper, line 50: "two of the devices have excellent wireless channel quality, while two
    ...".
    """
    for point, tree in scenarios(name).items():
        known = {"trace": 0.3, "trace-0": 0, "gentle": 0.3, "trace-70ms": 0.3, "70ms": 0.3}
        error = known[point] if point in known else error_of(point)
        assert groups(tree) == {"high": (2, 0, 0), "low": (2, error, 0)}, point
        assert {flow["direction"] for flow in tree["flows"]} == {"down"}


@pytest.mark.parametrize("name", ["fig09", "fig10", "fig11", "fig12", "fig13", "fig15"])
def test_one_of_two_classes_of_five_has_errors(name):
    """Paper, line 437: "SNR class 1 has p_w = 0, ... Each class has five IoT devices"."""
    for point, tree in scenarios(name).items():
        if point.startswith("snr"):
            by_group = groups(tree)
            assert by_group["high"] == (5, 0, 0)
            # error probability of a data frame at this signal-to-noise ratio
            assert by_group["low"][:2] == (5, pytest.approx(error_of(point), rel=0.005))
            levels = {0.1: 16.617, 0.2: 16.381, 0.3: 16.23}
            far = [station["snr_db"] for station in tree["stations"] if station["group"] == "low"]
            assert far == [levels[error_of(point)]] * 5
            continue
        error = 0.3 if point == "trace" else error_of(point)
        up = error if "acks" in point else 0
        near = 0.3 if point == "all-0_3" else 0
        assert groups(tree) == {"high": (5, near, 0), "low": (5, error, up)}, point
        assert {flow["direction"] for flow in tree["flows"]} == {"down"}


@pytest.mark.parametrize("name", ["fig16", "fig17", "opposite"])
def test_five_uploads_and_five_downloads_all_have_errors(name):
    """Paper, lines 472, 475: "both suffering from error probability p_w"."""
    for point, tree in scenarios(name).items():
        error = 0.2 if name == "fig17" else error_of(point)
        if name == "opposite":
            error = error_of(point.rpartition("-")[0])
        assert groups(tree) == {"up": (5, error, error), "down": (5, error, error)}
        assert every(tree["stations"], "ack_error_up") == {0}
        ways = [(flow["class"], flow["direction"]) for flow in tree["flows"]]
        assert ways == [("up", "up")] * 5 + [("down", "down")] * 5


def test_points_of_every_study_are_these():
    wanted = {
        "fig02": [*ERRORS, "trace", "trace-0", "gentle"],
        "fig03": ERRORS,
        "fig08": [
            f"{kind}-{n}" for kind in ("plain", "errors", "window") for n in (2, 4, 6, 8, 10)
        ],
        "fig09": ["0", "0_05", "0_1", "0_15", "0_2", "0_25", "0_3"],
        "fig15": [
            *(f"{law}-{error}" for law in LAWS for error in ERRORS),
            *(f"stated-{law}-{error}" for law in LAWS for error in SOME),
            *("all-0_3", "fair-0_3"),
        ],
        "fig16": [f"{law}-{limit}-{error}" for law in LAWS for limit in LIMITS for error in ERRORS],
        "fig17": [f"{law}-{buffer}" for law in LAWS for buffer in (50, 100, 150)],
        "opposite": [
            f"{limit}-{error}-{room}"
            for limit in LIMITS
            for error in ("0", "0_2")
            for room in (50, 100, 150, 225, 300, 450)
        ],
        "sensor": [
            f"{traffic}-{queue}"
            for traffic in ("downloads", "mixed")
            for queue in ("drop_tail", "vbs", "regulated")
        ],
        "contenders": [f"{kind}{n}" for kind in ("", "equal-", "dense-") for n in (2, 5, 10, 20)],
    }
    for name, points in wanted.items():
        assert list(scenarios(name)) == list(points), name


def test_figure_8_has_2_to_10_devices():
    for point, tree in scenarios("fig08").items():
        kind, _, count = point.partition("-")
        error = 0.2 if kind == "errors" else 0
        assert groups(tree) == {"high": (int(count), error, 0)}


def test_figure_14_has_errors_of_a_single_class_and_of_both():
    for point, tree in scenarios("fig14").items():
        near = 0.3 if point.endswith("all_0_3") else 0
        assert groups(tree) == {"high": (5, near, 0), "low": (5, 0.3, 0)}, point


def test_figure_18_has_two_guests_of_class_1_from_100_to_200_s_and_later_two_of_class_2():
    trees = scenarios("fig18")
    assert len(trees) == 45
    for point, tree in trees.items():
        law, begin, end = point.split("-")
        assert (tree["warmup_s"], tree["duration_s"]) == (int(begin), int(end))
        judged = law != "regulated" and int(end) - int(begin) == 70
        assert tree["replications"] == (40 if judged else 10), point
        wanted = {"high": (5, 0, 0), "low": (5, 0.3, 0)}
        if int(end) > 100:
            wanted["high-guest"] = (2, 0, 0)
        if int(end) > 200:
            wanted["low-guest"] = (2, 0.3, 0)
        assert groups(tree) == wanted, point
        times = {(flow["class"], flow["start_s"], flow["stop_s"]) for flow in tree["flows"]}
        guests = {"high-guest": (100, 200), "low-guest": (200, None)}
        assert times == {(group, *guests.get(group, (0, None))) for group in wanted}


def test_sensors_get_and_send_a_report_every_5_s():
    for point, tree in scenarios("sensor").items():
        reports = [flow["sensor"] for flow in tree["flows"] if "sensor" in flow]
        assert len(reports) == 10
        assert every(reports, "every_s") == {5}
        if point.startswith("downloads"):
            wanted = {"high": (5, 0, 0), "low": (5, 0.3, 0), "sensor": (5, 0, 0)}
        else:
            wanted = {"up": (5, 0, 0), "down": (5, 0, 0), "sensor": (5, 0, 0)}
        assert groups(tree) == wanted
        bulk = {(each["class"], each["direction"]) for each in tree["flows"] if "tcp" in each}
        assert bulk == (
            {("high", "down"), ("low", "down")}
            if point.startswith("downloads")
            else {("up", "up"), ("down", "down")}
        )


def test_devices_that_contend_are_equal():
    for point, tree in scenarios("contenders").items():
        assert groups(tree) == {"high": (int(point.rpartition("-")[2]), 0, 0)}
        assert tree["replications"] == 5


@pytest.mark.parametrize(
    "name", [name for name in SIMULATED if name not in ("fig18", "contenders")]
)
def test_runs_take_200_s_without_the_first_20_s_and_traces_take_100_s(name):
    for point, tree in scenarios(name).items():
        lengths = tree["warmup_s"], tree["duration_s"], tree["replications"]
        assert lengths == ((0, 100, 1) if point.startswith("trace") else (20, 200, 20)), point
