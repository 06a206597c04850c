"""The bench of instructions per segment, tested without counting."""

import tomllib

import instructions


def test_every_stored_count_belongs_to_a_case() -> None:
    stored = tomllib.loads(instructions.COUNTS_FILE.read_text())
    assert stored["full"].keys() == instructions.CASES.keys()
    assert stored["short"].keys() <= instructions.CASES.keys()
    assert stored.keys() >= {*instructions.RUNS, "rustc", "machine", "start"}


def test_a_count_above_its_limit_is_named_with_the_limit() -> None:
    assert instructions.excess("cell", 1688.0, 1639) == []
    assert instructions.excess("cell", 1690.0, 1639) == [
        "cell: 1690 instructions per segment; expected at most 1688 (1639 + 3 %)"
    ]
