"""`lasthop plot` draws saved results again, and pictures contain the command that made them."""

from pathlib import Path

import pytest
from PIL import Image

import lasthop as lh
from lasthop import _core

from ..conftest import Lasthop


def metadata_of(picture: str) -> dict[str, str]:
    with Image.open(picture) as opened:
        return {str(key): str(value) for key, value in opened.info.items()}


@pytest.mark.usefixtures("blank")
def test_a_picture_carries_command_and_version(lasthop: Lasthop, small: Path) -> None:
    lasthop("simulate", small, "--out", "saved", "--plot", "first.png")
    lasthop("plot", "saved", "--plot", "again.png")
    first, again = metadata_of("first.png"), metadata_of("again.png")
    assert first["Software"] == f"lasthop {_core.VERSION}"
    assert first["Description"] == f"lasthop simulate {small} --out saved --plot first.png"
    assert again["Description"] == "lasthop plot saved --plot again.png"


@pytest.mark.usefixtures("blank")
def test_a_sweep_and_printed_json_are_drawn(lasthop: Lasthop, small: Path) -> None:
    lasthop("sweep", small, "--over", "seed=1,2", "--out", "swept")
    assert "small-sweep-quantity=jain.png" in lasthop("plot", "swept", "--quantity", "jain").stdout
    Path("printed.json").write_text(lh.simulate(small).to_json())
    assert "picture: out/printed-simulate.png" in lasthop("plot", "printed.json").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("nothing",), "nothing: no such file or directory"),
        ((" ",), '" ": the name is empty'),
        (("printed.json", "--series"), "printed.json: has no series"),
        (("printed.json", "--plot", "picture.gif"), "expected a name that ends in"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused(
    lasthop: Lasthop, small: Path, options: tuple[str, ...], message: str
) -> None:
    Path("printed.json").write_text(lh.simulate(small).to_json())
    done = lasthop("plot", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert not Path("out").exists()
