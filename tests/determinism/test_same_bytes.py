"""A scenario and a seed give the same bytes with every build and on every processor."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: The scenario has Poisson arrivals and channel errors, so that it uses floating point and random
#: streams of all kinds.
SCENARIO = """
name = "a bit of everything"
duration = "20 s"
replications = 3
seed = 7
cell = { phy = "802.11b", ap_queue = 30, rts_threshold = "600 B" }
wire = { rate = "10 Mbps", delay = "7 ms", loss = 0.002 }
[station.up]
upload = 2
error = 0.1
[station.down]
count = 3
rate = "5.5 Mbps"
download = { connections = 2, congestion = "reno" }
[station.calls]
cwmin = 15
udp_up = { rate = "200 kbps", arrivals = "poisson", packet = "160 B" }
udp_down = { rate = "200 kbps", arrivals = "poisson", packet = "160 B" }
"""


def _build(profile: str = "debug") -> Path:
    """Return the `summary` example of this build profile. The debug build was made with the
    tests.
    """
    flags = {"release": ["--release", "--package", "lasthop-engine"], "debug": ["--workspace"]}
    command = ["cargo", "build", "--quiet", "--example", "summary", *flags[profile]]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / profile / "examples" / "summary"


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("determinism") / "everything.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="module")
def expected(scenario: Path) -> bytes:
    return _run([str(_build())], scenario)


def _run(command: list[str], scenario: Path, *arguments: str) -> bytes:
    full = [*command, str(scenario), *arguments]
    return subprocess.run(full, check=True, capture_output=True).stdout


def test_run_twice(scenario: Path, expected: bytes) -> None:
    assert _run([str(_build())], scenario) == expected
    assert b'"goodput_bps"' in expected


def test_two_jobs(scenario: Path, expected: bytes) -> None:
    assert _run([str(_build())], scenario, "2") == expected


@pytest.mark.slow
def test_the_release_build_gives_the_expected_bytes(scenario: Path, expected: bytes) -> None:
    assert _run([str(_build("release"))], scenario) == expected


def test_another_machine(scenario: Path, expected: bytes, built_page: Path) -> None:
    """The engine in the page of the workbench is a WebAssembly program. This program has addresses
    of 32 bits and no fused or wide arithmetic.
    """
    node = ["node", str(ROOT / "workbench/node/simulate.mjs"), str(built_page / "engine.wasm")]
    assert _run(node, scenario) == expected


def test_processor_without_fma_and_avx2(
    scenario: Path, expected: bytes, debian_program: Callable[[str, str], str]
) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("hides FMA and AVX2, which only x86-64 has")
    emulator = debian_program("qemu-x86_64", "qemu-user")
    old = [emulator, "-cpu", "Nehalem", str(_build())]
    assert _run(old, scenario) == expected


def test_another_seed_differs(scenario: Path, expected: bytes, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(SCENARIO.replace("seed = 7", "seed = 8"))
    assert _run([str(_build())], other) != expected
