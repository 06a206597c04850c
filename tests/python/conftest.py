import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import lasthop as lh
from lasthop.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"

SMALL = """\
name = "two downloaders"
duration = "4 s"
warmup = "1 s"
replications = 3
cell = { phy = "802.11b" }

[station.near]
download = 1

[station.far]
rate = "2 Mbps"
upload = 2
"""


CALL: dict[str, Any] = {
    "name": "a call",
    "duration": "3 s",
    "warmup": "1 s",
    "replications": 2,
    "tcp": {"congestion": "cubic", "window": 1000},
    "cell": {"phy": "802.11g"},
    "wire": {"rate": "8 Mbps", "delay": "10 ms", "queue": 100},
    "station": {
        "laptop": {"upload": 1},
        "phone": {"udp_up": {"rate": "100 kbps", "packet": "200 B"}},
    },
}
"""A call in the upload direction, which shares a queue with an upload."""


class Done(NamedTuple):
    """Exit code and output of a command."""

    returncode: int
    stdout: str
    stderr: str


Lasthop = Callable[..., Done]


@pytest.fixture
def hotspot() -> Path:
    """Return the example of the README."""
    return EXAMPLES / "hotspot.toml"


@pytest.fixture
def blank(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make pictures empty, for tests that check only where pictures are saved.

    Drawing takes half a second. Tests of the contents of pictures do not use this fixture.
    """

    def draw(figure: object, renderer: object) -> None:
        """Draw nothing."""

    # Without this attribute, matplotlib would wrap `draw` of every subclass imported in the test.
    draw._supports_rasterization = True  # type: ignore[attr-defined]
    monkeypatch.setattr("matplotlib.figure.Figure.draw", draw)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Write a scenario file that simulates in milliseconds."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="session")
def small_result() -> lh.Result:
    """Return a result with time series and recorded frames."""
    return lh.simulate(SMALL, series="0.1 s", frames=1000)


@pytest.fixture
def lasthop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Lasthop:
    """Return a function that runs a lasthop command in an empty directory."""
    monkeypatch.delenv("COLUMNS", raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)

    def run(*args: str | Path, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(arg) for arg in args])
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def coarse_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw pictures small and without layout, for tests that only require that pictures are
    written.
    """
    from lasthop.plot.figure import Figure

    write = Figure.savefig

    def savefig(figure: Figure, name: object, **options: object) -> None:
        figure.set_layout_engine("none")
        write(figure, name, **{**options, "dpi": 20})

    monkeypatch.setattr(Figure, "savefig", savefig)
