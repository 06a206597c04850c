import json
import struct
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

import lasthop as lh
from lasthop.answers.overwrite import CAPTURE, is_ours, refuse_foreign
from lasthop.answers.quantities import LISTS
from lasthop.answers.saving import text_writer, write_all, write_atomically
from lasthop.answers.tables import Table, table_writers

from .conftest import EXAMPLES, SMALL


def test_saved_tables_read_back_as_they_were(small_result: lh.Result, tmp_path: Path) -> None:
    paths = small_result.save(tmp_path / "new" / "deep")
    names = {path.name for path in paths}
    assert {"result.json", "stations.parquet", "stations.csv", "series.parquet"} <= names
    expected = small_result.stations.reset_index()
    for read, name in ((pd.read_parquet, "stations.parquet"), (pd.read_csv, "stations.csv")):
        table = read(tmp_path / "new" / "deep" / name)
        pd.testing.assert_frame_equal(table, expected, check_dtype=False)
    assert (tmp_path / "new" / "deep" / "result.json").read_text() == small_result.to_json()


@pytest.mark.parametrize("example", ["hotspot", "aggregates", "dumbbell", "csma", "calls"])
def test_csv_files_equal_those_of_pandas_to_the_byte(example: str, tmp_path: Path) -> None:
    short = {"duration": "3 s", "warmup": "1 s", "record.series_interval": "1 s"}
    result = lh.simulate(EXAMPLES / f"{example}.toml", replications=2, settings=short)
    paths = {path.name: path for path in result.save(tmp_path)}
    tables = {name: result.table(name).reset_index() for name in LISTS}
    tables |= {"samples": result.samples, "series": result.series}
    shown = {name: table for name, table in tables.items() if not table.empty}
    assert {"stations", "flows"} & set(shown)
    assert {name for name in paths if name.endswith(".csv")} == {f"{name}.csv" for name in shown}
    for name, table in shown.items():
        expected = table.to_csv(index=False, lineterminator="\n")
        assert paths[f"{name}.csv"].read_text() == expected, name


MIXED = {
    "count": [1, None, 3],
    "ratio": [0.5, 2, float("nan")],
    "whole": [1, 2, 3],
    "is_best": [True, False, None],
    "name": ["a,b", None, 'say "x"'],
    "small": [1e-07, 1e16, -0.0],
}


def test_a_column_of_mixed_values_is_written_as_pandas_writes_it(tmp_path: Path) -> None:
    frame = pd.DataFrame(MIXED)
    writers = table_writers(tmp_path, [Table("mixed", MIXED, lambda: frame)])
    writers["mixed.csv"](tmp_path / "mixed.csv")
    expected = frame.to_csv(index=False, lineterminator="\n")
    assert (tmp_path / "mixed.csv").read_text() == expected


def test_parquet_fields_have_unit_and_definition(small_result: lh.Result, tmp_path: Path) -> None:
    small_result.save(tmp_path)
    schema = pq.read_schema(tmp_path / "stations.parquet")
    assert schema.field("goodput_bps").metadata[b"unit"] == b"bit/s"
    assert b"half width" in schema.field("goodput_bps_ci95").metadata[b"definition"]
    assert json.loads(schema.metadata[b"lasthop"])["seed"] == "1"


def test_table_of_an_earlier_result_does_not_stay(small_result: lh.Result, tmp_path: Path) -> None:
    small_result.save(tmp_path)
    (tmp_path / "mine.csv").write_text("not lasthop's")
    lh.simulate(SMALL).save(tmp_path)
    assert not (tmp_path / "series.csv").exists()
    assert (tmp_path / "mine.csv").exists()


def test_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text("old")

    def fail(file: Path) -> None:
        file.write_text("half")
        raise OSError(28, "No space left on device", str(file))

    with pytest.raises(OSError, match="No space left") as caught:
        write_atomically(path, fail)
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"
    with pytest.raises(OSError, match="No space left"):
        write_all(tmp_path, {"result.json": text_writer("new"), "b.csv": fail})
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_replaced_keeps_all_others(tmp_path: Path) -> None:
    old = {"a.csv": "old a", "z.csv": "old z"}
    for name, text in old.items():
        (tmp_path / name).write_text(text)
    locked = tmp_path / "m.csv"
    locked.mkdir()
    new = {name: text_writer("new") for name in ("a.csv", "b.csv", "m.csv", "z.csv")}
    with pytest.raises(IsADirectoryError) as caught:
        write_all(tmp_path, new)
    assert caught.value.filename == str(locked)
    locked.rmdir()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == old


def test_a_file_that_another_program_has_open_keeps_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Windows, a file cannot be replaced while another program has it open."""
    old = {"a.csv": "old a", "b.csv": "old b"}
    for name, text in old.items():
        (tmp_path / name).write_text(text)
    replace = Path.replace

    def refuse(path: Path, target: Path) -> Path:
        if "b.csv" in (path.name, target.name):
            raise PermissionError(13, "The process cannot access the file", str(path))
        return replace(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", refuse)
        with pytest.raises(PermissionError) as caught:
            write_all(tmp_path, {name: text_writer("new") for name in ("a.csv", "b.csv")})
    assert caught.value.filename == str(tmp_path / "b.csv")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == old


def test_failed_write_removes_the_directories_it_made(tmp_path: Path) -> None:
    def fail(file: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_all(tmp_path / "a" / "b", {"x": fail})
    assert not (tmp_path / "a").exists()


def test_result_is_not_saved_over_a_file(small_result: lh.Result, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    with pytest.raises(lh.UserError, match="is a file"):
        small_result.save(tmp_path / "a")


@pytest.mark.parametrize("text", ["mine", "[1, 2]", '{"kind": "survey"}', ""])
def test_a_file_of_another_program_is_not_replaced(
    small_result: lh.Result, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "result.json"
    path.write_text(text)
    with pytest.raises(lh.UserError, match="exists and is not a result of lasthop"):
        small_result.save(tmp_path)
    assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


def test_result_of_lasthop_is_replaced(small_result: lh.Result, tmp_path: Path) -> None:
    lh.simulate(SMALL).save(tmp_path)
    small_result.save(tmp_path)
    assert (tmp_path / "result.json").read_text() == small_result.to_json()


def test_capture_without_frames_is_refused(tmp_path: Path) -> None:
    with pytest.raises(lh.UserError, match="no frames were recorded"):
        lh.simulate(SMALL).save_capture(tmp_path / "air.pcapng")
    assert list(tmp_path.iterdir()) == []


def test_capture_begins_with_a_section_header(small_result: lh.Result, tmp_path: Path) -> None:
    small_result.save_capture(tmp_path / "air.pcapng")
    content = (tmp_path / "air.pcapng").read_bytes()
    assert struct.unpack("<I4xI", content[:12]) == (0x0A0D0D0A, 0x1A2B3C4D)
    assert small_result.frame_count == 1000


FOREIGN = {
    "flows.csv": "name,mine\na,1\n",
    "flows.parquet": "mine",
    "samples.csv": "",
    "series.parquet": "PAR1 lasthop PAR1",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_table_is_neither_replaced_nor_removed(
    small_result: lh.Result, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_text(FOREIGN[name])
    with pytest.raises(lh.UserError, match=f"{name}: exists and is not a table of lasthop"):
        small_result.save(tmp_path)
    assert path.read_text() == FOREIGN[name]
    assert list(tmp_path.iterdir()) == [path]


def test_a_table_changed_by_hand_is_not_replaced(small_result: lh.Result, tmp_path: Path) -> None:
    small_result.save(tmp_path)
    (tmp_path / "flows.csv").write_text("name,my_notes\n")
    with pytest.raises(lh.UserError, match=r"flows\.csv: exists"):
        small_result.save(tmp_path)


def test_pictures_name_lasthop_and_are_recognised_by_it(
    small_result: lh.Result, tmp_path: Path
) -> None:
    picture = tmp_path / "goodput.png"
    small_result.plot.goodput().savefig(picture)
    assert is_ours(picture)
    other = tmp_path / "other.png"
    Figure(figsize=(1, 1)).savefig(other)
    assert not is_ours(other)
    with pytest.raises(lh.UserError, match=r"other\.png: exists and is not a picture of lasthop"):
        refuse_foreign(tmp_path, ["goodput.png", "other.png", "not-there.png"])
    small_result.plot.goodput().savefig(tmp_path / "goodput.pdf")


OTHERS = {
    "talk.svg": "<svg><title>my talk about lasthop</title></svg>",
    "hostapd.conf": "# my own, see lasthop tune\nssid=mine\n",
    "report.html": "<title>lasthop 0.1.0</title>",
    "result.json": '{"kind": "npm", "scenario": "mine", "version": "1"}',
    "manifest.json": "[" * 100_000,
    "flows.csv": "x" * 300_000,
    "own.pcapng": "what a lasthop is",
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_that_only_mentions_lasthop_is_foreign(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(OTHERS[name])
    (tmp_path / name).with_suffix(".parquet").write_text("no table")
    with pytest.raises(lh.UserError, match=f"{name}: exists and is not"):
        refuse_foreign(tmp_path, [name])


def test_a_capture_replaces_only_an_older_capture_of_lasthop(tmp_path: Path) -> None:
    result = lh.simulate(SMALL, settings={"record.frames": 100})
    path = tmp_path / "frames.cap"
    result.save_capture(path)
    result.save_capture(path)
    assert is_ours(path, CAPTURE)
    path.write_bytes(b"\n\r\r\n of another program")
    with pytest.raises(lh.UserError, match=r"frames\.cap: exists and is not a capture of lasthop"):
        result.save_capture(path)


def test_a_folder_with_that_name_is_foreign(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(lh.UserError, match=r"report\.html: exists and is not a report of lasthop"):
        refuse_foreign(tmp_path, ["report.html"])
