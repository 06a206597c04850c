"""Leaves with fair queues, in user-mode Linux, because the kernel of the host may not support
them.
"""

from pathlib import Path

import pytest
import uml

pytestmark = pytest.mark.usefixtures("user_mode")

INSIDE = Path(__file__).parent / "inside"


@pytest.mark.smoke(1)
@pytest.mark.parametrize("discipline", ["fq_codel", "sfq", "cake"])
def test_flows_that_wait_in_a_fair_leaf_are_no_classes_of_the_gateway(discipline: str) -> None:
    """In its list of HTB's classes, the kernel also shows each flow that waits in a leaf's fair
    queue. The flows have no byte counters, and the gateway must not count them as classes.
    """
    seen = uml.answer(INSIDE / "fair_leaves.py", discipline)
    assert seen["class"] == 0x10001
    assert seen["packets"] >= 20
    assert seen["waiting"] >= 15
