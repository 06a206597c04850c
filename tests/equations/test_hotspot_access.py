from random import Random

import pytest

from lasthop.models.access import Access
from lasthop.models.hotspot.access import beta_from_access


def contend(station, ap, rounds, seed):
    """Simulate `rounds` transmissions; return the number of frames delivered by the station and by
    the AP.
    """
    rng, nodes = Random(seed), (station, ap)
    stage, wins = [0, 0], [0, 0]
    left = [rng.randint(0, node.cwmin) for node in nodes]
    wait = [node.aifsn - min(station.aifsn, ap.aifsn) for node in nodes]
    for _ in range(rounds):
        due = [wait[k] + left[k] for k in (0, 1)]
        now = min(due)
        sending = [k for k in (0, 1) if due[k] == now]
        for k in (0, 1):
            # A node that does not send counts the idle slots, and its counter is then frozen.
            if k not in sending:
                left[k] -= max(0, now - wait[k])
            elif len(sending) == 1:
                wins[k] += 1
                stage[k] = 0
            else:
                stage[k] = stage[k] + 1 if stage[k] + 1 < nodes[k].attempts else 0
        for k in sending:
            left[k] = rng.randint(0, nodes[k].window(stage[k]))
    return wins[0] / wins[1]


@pytest.mark.smoke(3)
@pytest.mark.parametrize(
    ("station", "ap"),
    [
        (Access(26), Access(31)),
        (Access(15), Access(31)),
        (Access(63), Access(31)),
        (Access(3, 7), Access(7, 7)),
        (Access(31, aifsn=3), Access(31)),
        (Access(15, aifsn=3), Access(31)),
        (Access(31, attempts=2), Access(31, aifsn=4, attempts=7)),
        (Access(1, 1, attempts=1), Access(2, 2, attempts=1)),
    ],
)
def test_ratio_matches_two_contending_nodes(station, ap):
    # With 200,000 transmissions the standard error is below 0.7 % of the ratio for all parameters.
    simulated = contend(station, ap, 200_000, f"{station} {ap}")
    assert beta_from_access(station, ap) == pytest.approx(simulated, rel=0.02)


def test_two_windows_worked_by_hand():
    # Node a has CW 1, node b has CW 2, and the limit is one attempt. A cycle begins with new
    # backoffs that do not collide: (0, 1), (0, 2), (1, 2) or (1, 0). Node a wins with probability
    # 3/4; then b waits for 1, 2 or 1 further slots. Node b wins with probability 1/4; then a waits
    # for 1 further slot. While b waits for 1 slot, a wins once on average, and a collision ends the
    # cycle. While b waits for 2 slots, a wins three times on average before this collision. While a
    # waits for 1 slot, b wins 1/2 times on average. Then the nodes collide or, equally often, a
    # wins and b waits for 1 slot.
    a = 3 / 4 + 2 / 4 * 1 + 1 / 4 * 3 + 1 / 4 * (1 / 2 + 1 / 2 * 1)
    b = 1 / 4 + 1 / 4 * 1 / 2
    ratio = beta_from_access(Access(1, 1, attempts=1), Access(2, 2, attempts=1))
    assert ratio == pytest.approx(a / b, rel=1e-6)


@pytest.mark.equation("hotspot", "d14")
def test_equal_parameters_have_no_priority():
    assert beta_from_access(Access(), Access()) == 1.0
    nearly = beta_from_access(Access(31, 1023), Access(31, 1022))
    assert nearly == pytest.approx(1.0, abs=1e-4)


def test_exchanging_the_nodes_inverts_the_ratio():
    wide, narrow = Access(31, aifsn=3), Access(20, 511, attempts=4)
    product = beta_from_access(wide, narrow) * beta_from_access(narrow, wide)
    assert product == pytest.approx(1.0, rel=1e-4)


def test_an_access_is_worth_as_many_frames_as_the_txop_limit():
    """TXOP limits extend the paper. The Markov chain itself does not include them."""
    plain = beta_from_access(Access(cwmin=29), Access(cwmin=34))
    limited = beta_from_access(Access(cwmin=29, txop_packets=3), Access(cwmin=34, txop_packets=2))
    assert limited == pytest.approx(1.5 * plain)
    assert beta_from_access(Access(txop_packets=2), Access()) == 2.0


@pytest.mark.parametrize(
    ("station", "ap", "beta"), [(29, 34, 1.199), (26, 31, 1.226), (27, 31, 1.173), (25, 31, 1.284)]
)
def test_windows_that_give_the_papers_beta(station, ap, beta):
    assert beta_from_access(Access(station), Access(ap)) == pytest.approx(beta, abs=0.001)


def test_a_narrower_window_has_priority():
    betas = [beta_from_access(Access(cwmin), Access(31)) for cwmin in range(20, 45, 4)]
    assert betas == sorted(betas, reverse=True)


def test_a_node_that_hardly_ever_wins_is_followed():
    # The node with CW 1 nearly always wins. The other node wins only after a collision.
    assert beta_from_access(Access(1), Access(7)) == pytest.approx(1728.5, rel=1e-3)


def test_a_node_that_is_always_first_is_refused():
    with pytest.raises(ValueError, match="starves"):
        beta_from_access(Access(3, 3, aifsn=2), Access(7, aifsn=5))


def test_impossible_windows_are_refused():
    with pytest.raises(ValueError, match="cwmin"):
        beta_from_access(Access(0), Access())
    with pytest.raises(ValueError, match="cwmin"):
        Access(31, 15)
