"""New MAC addresses wait, and only so many per minute get a leaf."""

from lasthop.gateway.admission import Admission


def test_known_addresses_do_not_wait_and_new_ones_do() -> None:
    admission = Admission(known={"a"})
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
    admission.forget(["a"])
    assert admission.see(["a"], 41) == set()


def test_an_address_per_second_gets_no_leaf() -> None:
    admission = Admission()
    assert not any(admission.see([f"m{k}"], k) for k in range(600))


def test_a_flood_of_addresses_gets_so_many_leaves_a_minute_in_order() -> None:
    admission = Admission(max_new_leaves=30)
    flood = [f"m{k:04}" for k in range(4095)]
    admission.see(["honest"], 0)
    admission.see(["honest", *flood], 1)
    assert admission.see(["honest", *flood], 11) == {"honest", *flood[:29]}
    assert len(admission.see(["honest", *flood], 70.9)) == 30
    assert len(admission.see(["honest", *flood], 71)) == 60
    assert admission.waiting == 4096 - 60
