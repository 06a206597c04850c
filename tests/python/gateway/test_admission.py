"""New MAC addresses wait. Only a limited number of addresses per minute get a leaf."""

from ipaddress import ip_address
from math import inf
from pathlib import Path

import pytest

from lasthop.daemon.state import State
from lasthop.enforce.gateway import admission as module
from lasthop.enforce.gateway.admission import Admission, Remembered, StoredState


def test_new_addresses_wait_and_known_addresses_do_not() -> None:
    admission = Admission(known={"a": None})
    assert admission.see(["a", "b"], 0) == {"a"}
    assert admission.see(["a", "b"], 9.9) == {"a"}
    assert admission.see(["a", "b"], 10) == {"a", "b"}
    assert admission.waiting == 0


def test_an_address_that_leaves_waits_again() -> None:
    admission = Admission()
    admission.see(["a"], 0)
    admission.see([], 5)
    assert admission.see(["a"], 12) == set()
    assert admission.see(["a"], 22) == {"a"}
    admission.see([], 30)
    assert admission.see(["a"], 40) == {"a"}


def test_an_address_per_second_gets_no_leaf() -> None:
    admission = Admission()
    assert not any(admission.see([f"m{k}"], k) for k in range(600))


def test_a_flood_of_addresses_gets_a_fixed_number_of_leaves_per_minute_in_order() -> None:
    admission = Admission(max_new_leaves=30)
    flood = [f"m{k:04}" for k in range(4095)]
    admission.see(["honest"], 0)
    admission.see(["honest", *flood], 1)
    assert admission.see(["honest", *flood], 11) == {"honest", *flood[:29]}
    assert len(admission.see(["honest", *flood], 70.9)) == 30
    assert len(admission.see(["honest", *flood], 71)) == 60
    assert admission.waiting == 4096 - 60


def test_the_next_admission_is_due_after_the_quarantine_and_the_minute() -> None:
    admission = Admission(max_new_leaves=1)
    assert admission.due_s() == inf
    admission.see(["a", "b"], 5)
    assert admission.due_s() == 15
    assert admission.see(["a", "b"], 15) == {"a"}
    assert admission.due_s() == 75
    assert admission.see(["a", "b"], 75) == {"a", "b"}
    assert admission.due_s() == inf


def test_the_addresses_that_were_absent_for_longest_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_KNOWN", 2)
    admission = Admission(quarantine_s=0)
    admission.see(["a"], 0)
    admission.see(["b"], 1)
    admission.see(["a"], 2)
    admission.see(["c"], 3)
    assert list(admission.known) == ["a", "c"]
    # Present stations are admitted, even if there are more than `MAX_KNOWN`.
    assert admission.see(["a", "c", "d"], 4) == {"a", "c", "d"}


def test_admitted_addresses_survive_the_process(tmp_path: Path) -> None:
    macs = ["02:00:00:00:00:01", "02:00:00:00:00:02"]
    admitted = StoredState(macs, {ip_address("10.0.0.9"): macs[0]})
    memory = Remembered(State(tmp_path))
    assert memory.read() == StoredState([], {})
    memory.write(admitted)
    garbage = f"../x\n02:zz\n{macs[0]} 10.0.0\n"
    (tmp_path / "stations").write_text((tmp_path / "stations").read_text() + garbage)
    assert Remembered(State(tmp_path)).read() == admitted
    gone = Remembered(State(tmp_path / "gone"))
    gone.write(admitted)
    assert gone.fault is not None
    assert gone.fault.startswith("admitted MAC addresses: cannot be saved for the next run: ")
