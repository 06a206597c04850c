"""Commands write files, and replace only files that they have written."""

from pathlib import Path

import pytest

from ..conftest import Lasthop

COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "simulate": ([], ["result.json", "flows.csv", "stations.parquet", "samples.csv"]),
    "compare": ([], ["small-compare.png"]),
    "sweep": (["--over", "cell.ap_queue=5,9"], ["flows.csv", "stations.parquet"]),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_foreign_file_is_refused_before_the_run_and_stays(
    lasthop: Lasthop, small: Path, command: str
) -> None:
    options, names = COMMANDS[command]
    for name in names:
        mine = Path("mine", name)
        mine.parent.mkdir(exist_ok=True)
        mine.write_text("mine")
        done = lasthop(command, small, *options, "--out", "mine")
        assert done.returncode == 2
        assert done.stdout == ""
        [line] = done.stderr.splitlines()
        assert line.startswith(f"error: {mine}: exists and is not a ")
        assert line.endswith(" of lasthop; expected another name or directory")
        assert mine.read_text() == "mine"
        mine.unlink()


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_command_again_replaces_its_own_files(
    lasthop: Lasthop, small: Path, command: str
) -> None:
    options, names = COMMANDS[command]
    for _ in range(2):
        done = lasthop(command, small, *options, "--out", "out")
        assert done.returncode == 0, done.stderr
    assert {path.name for path in Path("out").iterdir()} >= set(names)
    notes = Path("out", "notes.txt")
    notes.write_text("mine")
    assert lasthop(command, small, *options, "--out", "out", "--seed", "2").returncode == 0
    assert notes.read_text() == "mine"
