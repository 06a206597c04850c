"""Models with extreme values of all settings: each gives a prediction or a refusal, within limits
of time and memory.
"""

import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from random import Random, randrange
from typing import Any

import pytest

import lasthop as lh
from corners import Corners, Setting
from lasthop.errors import ScenarioError, UserError
from lasthop.models import MODELS

ROOT = Path(__file__).parents[2]
SEED = int(os.environ.get("SEED", "0")) or randrange(1, 2**31)
"""Seed of the random settings. The seed is printed if a test fails."""

MAX_TIME_S = 4.0
"""Largest time of a prediction in the long test. [s]"""
GRACE = 2.0
"""A prediction is stopped after its time limit multiplied by this factor. [-]"""
LATE_S = 2.0
"""Time between two checks of the clock. [s]"""
MANY = 1000
"""Smallest number of stations, connections or flows with which reading a scenario takes too long
for these tests.
"""

ROUTER: dict[str, Any] = {
    "duration": "4 s",
    "dumbbell": {"bottleneck": "10 Mbps", "flows": 5, "delay": "20 ms"},
    "tcp": {"congestion": "reno"},
}
CELL: dict[str, Any] = {"duration": "5 s", "cell": {"phy": "802.11b", "ap_queue": 75}}
AGGREGATING: dict[str, Any] = {
    "phy": "802.11ax",
    "txop_limit": "none",
    "ap_queue": 1000,
    "aggregation": {"mpdus": 8},
}
RED = {"min_th": 5, "max_th": 15}
UP = {"udp_up": "greedy"}
OWN: dict[str, tuple[str, dict[str, Any]]] = {
    "red": ("red", ROUTER | {"queue": {"limit": 50, "red": RED}}),
    "strict red": ("red", ROUTER | {"queue": {"limit": 50, "red": RED | {"gentle": False}}}),
    "pi": ("red", ROUTER | {"queue": {"limit": 500, "pi": {"target": 20}}}),
    "proportional": ("red", ROUTER | {"queue": {"limit": 500, "proportional": {"slope": 0.001}}}),
    "threshold": ("red", ROUTER | {"queue": {"threshold": 15}}),
    "hotspot": (
        "hotspot",
        CELL
        | {"wire": {"rate": "50 Mbps"}, "station": {"a": {"upload": 6, "download": 1}, "b": {}}},
    ),
    "hotspot that aggregates": (
        "hotspot",
        CELL | {"cell": AGGREGATING, "station": {"a": {"upload": 6}, "b": {"download": 2}}},
    ),
    "losses": (
        "aggregates",
        CELL | {"cell": AGGREGATING, "station": {"a": {**UP, "error": 0.1}, "b": UP}},
    ),
    "alone": ("aggregates", CELL | {"cell": AGGREGATING, "station": {"a": {**UP, "error": 0.1}}}),
    "shares": (
        "bottleneck",
        CELL
        | {
            "vsb": {"rate": "2 Mbps", "group": {"g": {"stations": "a", "share": 2}}},
            "station": {"a": {"count": 2, "upload": 1}, "b": {"download": 2, **UP}},
        },
    ),
    "saturated": (
        "dcf",
        CELL | {"station": {"a": {"count": 3, **UP}, "b": {**UP, "udp_down": "greedy"}}},
    ),
    "categories": (
        "dcf",
        CELL
        | {
            "cell": {"phy": "802.11g", "countdown": "edca"},
            "station": {"a": {"count": 3, **UP}, "b": {"aifsn": 4, "error": 0.1, **UP}},
        },
    ),
}
EXAMPLES = {
    "hotspot": "hotspot",
    "seven-downloads": "edca",
    "pifs": "edca",
    "vbs": "vbs",
    "snr-classes": "vbs",
    "dumbbell": "red",
    "saturated-aggregates": "aggregates",
    "one-slow": "airtime",
    "csma": "acsma",
    "csma-hops": "acsma",
    "csma-wires": "acsma",
}


def scenarios() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return scenarios that models support, by name. Each scenario is paired with the name of its
    model.
    """
    by_name = dict(OWN)
    for name, model in EXAMPLES.items():
        by_name[f"{name}.toml"] = (
            model,
            tomllib.loads((ROOT / f"examples/{name}.toml").read_text()),
        )
    return by_name


@pytest.fixture(scope="module")
def corners() -> Corners:
    """Return the keys of scenarios with their extreme values, from the schema."""
    return Corners(lh.schema())


def test_every_model_has_a_scenario() -> None:
    assert {model for model, _ in scenarios().values()} == set(MODELS)


def impossible(tree: Any, path: str = "") -> Iterator[str]:
    """Yield values of a prediction that are impossible."""
    if isinstance(tree, list):
        for item in tree:
            yield from impossible(item, path)
    elif isinstance(tree, Mapping) and "ci95" in tree:
        value, name = tree["mean"], path.rpartition("/")[2]
        is_part = name.endswith(("_probability", "_rate", "_share", "_fraction", "utilisation"))
        if not isfinite(value) or value < -1e-9 or (is_part and value > 1.0 + 1e-6):
            yield f"{path} = {value}"
    elif isinstance(tree, Mapping):
        for key, item in tree.items():
            yield from impossible(item, f"{path}/{key}")


def answer(name: str, settings: list[Setting], max_time_s: float) -> bool | None:
    """Return whether a scenario has a prediction with these settings, or None if the scenario is
    invalid.
    """
    model, base = scenarios()[name]
    options = {"beta": 1.3} if name.endswith("aggregates") and model == "hotspot" else {}
    what = f"SEED={SEED}: {name} with {settings}"
    try:
        scenario = lh.Scenario(base, settings=settings)
    except ScenarioError:
        return None
    begun = time.process_time()
    try:
        prediction = lh.predict(scenario, model=model, options=options, max_time_s=max_time_s)
    except UserError:
        prediction = None
    except Exception as error:
        raise AssertionError(what) from error
    assert time.process_time() - begun < GRACE * max_time_s + LATE_S, what
    wrong = [] if prediction is None else list(impossible(prediction.summary))
    assert not wrong, f"{what}: {wrong}"
    return prediction is not None


def is_small(setting: Setting) -> bool:
    """Return whether a scenario with this setting has few stations, connections and flows."""
    key, value = setting
    many = key.rpartition(".")[2] in ("count", "upload", "download", "flows")
    return not (many and isinstance(value, int) and value > MANY)


def drawn(corners: Corners, draws: Random, most: int) -> tuple[str, list[Setting]]:
    """Return a scenario, and a few of its keys with extreme values."""
    name = draws.choice(sorted(scenarios()))
    settings = corners.draw(scenarios()[name][1], draws, most)
    return name, list(filter(is_small, settings))


def test_a_sample_of_corners_has_an_answer_or_a_refusal(corners: Corners) -> None:
    """The test draws random extreme values for one second."""
    draws, begun = Random(SEED), time.process_time()
    while time.process_time() - begun < 1.0:
        answer(*drawn(corners, draws, 1), max_time_s=0.2)


@pytest.mark.parametrize("max_p", [1.0, 1e-6])
@pytest.mark.parametrize("gentle", [True, False])
def test_red_at_extreme_settings_has_an_answer_or_a_refusal(max_p: float, gentle: bool) -> None:
    settings: list[Setting] = [("queue.red.max_p", max_p), ("queue.red.gentle", gentle)]
    assert answer("red", settings, max_time_s=1.0) is not None
    assert max_p < 1.0 or answer("red", settings, max_time_s=1.0)


@pytest.mark.slow
def test_all_single_corners_and_many_combinations_have_an_answer_or_a_refusal(
    corners: Corners,
) -> None:
    answered = 0
    for name, (_, base) in scenarios().items():
        for key, values in corners.of(base).items():
            for value in values:
                if is_small((key, value)):
                    answered += bool(answer(name, [(key, value)], MAX_TIME_S))
    draws = Random(SEED)
    for _ in range(2000):
        answered += bool(answer(*drawn(corners, draws, 4), max_time_s=MAX_TIME_S))
    assert answered > 2000


# -- costs ---------------------------------------------------------------------------------------

COSTLY = {
    "attempts": {"cell.attempts_short": 255, "station.a.count": 5},
    "kinds": {"cell.attempts_short": 40},
    "kinds and attempts": {"cell.attempts_short": 255},
    "losses": {"station.a.error": 0.1, "cell.aggregation.mpdus": 64},
    "losses in a long window": {"station.a.error": 0.02, "cell.aggregation.mpdus": 256},
    "stations": {"station.a.count": 2000},
    "opportunities": {"cell.txop_limit": "10 s"},
    "long queue": {"cell.ap_queue": 1_000_000},
}
"""Settings with which the models of aggregating cells are costly."""

MEASURE = """
import json, resource, sys, time
from importlib import import_module
import lasthop as lh
from lasthop.progress import cost_limits
from lasthop.errors import UserError
_, hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, hard))
estimate = {"time_s": 0.0, "memory_bytes": 0.0}
def need(what, **costs):
    costs.pop("smaller", None)
    for name, cost in costs.items():
        estimate[name] += cost
    cost_limits.need(what, **costs)
for model in ("aggregates", "airtime", "dcf"):
    import_module(f"lasthop.models.{model}.predict").need = need
scenario = lh.Scenario(json.loads(sys.argv[1]), settings=json.loads(sys.argv[2]))
import numpy, scipy.sparse.linalg  # which take time and memory whatever is predicted
scenario.typed
before_s, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
estimate = {"time_s": 0.0, "memory_bytes": 0.0}
try:
    lh.predict(scenario, max_time_s=120.0)
except UserError as error:
    estimate["refused"] = str(error)
estimate["used_s"] = time.process_time() - before_s
estimate["used_bytes"] = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(json.dumps(estimate))
"""

MACHINE = 3.0
"""Largest accepted ratio of a prediction's time to its estimated time. The estimate assumes an idle
machine. [-]
"""
LITTLE_S, LITTLE_BYTES = 2.0, 2e8
"""Time and memory that estimates do not include. [s, bytes]"""


@pytest.mark.slow
@pytest.mark.parametrize("case", COSTLY)
@pytest.mark.parametrize("downloads", [False, True])
def test_an_answer_costs_at_most_its_estimate(case: str, downloads: bool) -> None:
    source = {"udp_down": {"rate": "400 Mbps"}} if downloads else UP
    stations = {f"{name}": {"cwmin": 15 + 2 * n, **source} for n, name in enumerate("abcdef")}
    if case == "attempts":
        stations = {"a": source}
    base = CELL | {"cell": AGGREGATING, "station": stations}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, json.dumps(base), json.dumps(COSTLY[case])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    costs = json.loads(done.stdout)
    assert costs["used_s"] < MACHINE * costs["time_s"] + LITTLE_S, costs
    assert costs["used_bytes"] < costs["memory_bytes"] + LITTLE_BYTES, costs


def test_the_estimate_counts_backoff_stages() -> None:
    stations = {name: {"cwmin": 15 + n, **UP} for n, name in enumerate("abcdefghijkl")}
    base = CELL | {"cell": AGGREGATING | {"attempts_short": 255}, "station": stations}
    with pytest.raises(UserError, match=r"would take up to .* and .* MB"):
        lh.predict(base, max_time_s=30.0)
