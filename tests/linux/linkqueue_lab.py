"""A gateway whose uplink has a queue: files, fixtures, helpers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands import lasthop
from lab import (
    GATEWAY,
    Lab,
    entered,
    leftovers,
    sh,
    station_v4,
    station_v6,
    take_back,
)
from lasthop.enforce.queue.program import object_of
from lasthop.linux import offload
from lasthop.linux.bpf import BpfError
from lasthop.linux.classifier import Classifier

THRESHOLD = """\
[interface]
name = "wan"
rate = "50 Mbps"
from = "lan"
queue.threshold = 15
"""
SHARED = f"""\
[interface]
name = "wan"
rate = "50 Mbps"
from = "lan"
[interface.queue]
limit = 100
vbs = {{ class.near.share = 0.526, class.far.share = 0.474 }}
[interface.class]
near = {{ address = "{station_v4(0)}, {station_v6(0)}", mark = 7 }}
far = {{ address = "{station_v4(1)}/32" }}
"""
PI = THRESHOLD.replace("threshold = 15", "limit = 100\nqueue.pi.target = 40")
TEXTS = {"threshold": THRESHOLD, "shared": SHARED, "pi": PI}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Yield a gateway without a slow hop, whose uplink is shaped."""
    with Lab(stations=3, rate_bps=None) as lab:
        with entered(GATEWAY):
            sh("ip link set wan gso_max_segs 65535")
            offload.set_merging("lan", True)
        yield lab


@pytest.fixture(scope="module")
def programs() -> None:
    """Skip with a reason if no BPF program can be loaded."""
    try:
        Classifier(object_of("sharing"), "try").close()
    except BpfError as error:
        pytest.skip(f"no BPF program can be loaded here: {error}")


@pytest.fixture
def directory(lab: Lab, tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    with entered(GATEWAY):
        take_back(tmp_path)
        assert leftovers() == []


def written(directory: Path, text: str, name: str = "up.toml") -> Path:
    file = directory / name
    file.write_text(text)
    return file


def others(directory: Path) -> str:
    """Return the settings of the machine that a queue changes and must restore."""
    with entered(GATEWAY):
        return sh("tc qdisc show dev wan; tc class show dev wan; ip -d -o link show dev wan") + str(
            offload.merges("lan")
        )


def status(file: Path) -> dict[str, Any]:
    printed = json.loads(lasthop("queue", "status", file, "--json")[1])
    assert isinstance(printed, dict)
    return printed
