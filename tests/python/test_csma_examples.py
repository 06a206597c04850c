"""The example networks with a conflict graph give the results in their comments."""

import lasthop as lh

from .conftest import EXAMPLES

SHORT = {"duration": "40 s", "warmup": "10 s", "replications": 2}


def goodputs(name: str, **settings: object) -> dict[str, float]:
    result = lh.simulate(EXAMPLES / name, settings=SHORT | settings)
    assert result.warnings == []
    return {flow["name"]: flow["goodput_bps"]["mean"] / 1e6 for flow in result.summary["flows"]}


def test_the_shop_in_the_centre_starves_until_one_side_is_far() -> None:
    near = goodputs("csma-positions.toml")
    assert near["c"] < 0.2 * min(near["w"], near["e"])
    away = {"csma.node.east.x": "1700 m", "csma.node.e.x": "1700 m"}
    far = goodputs("csma-positions.toml", **away)
    assert abs(far["c"] / far["w"] - 1.0) < 0.1  # Both links have a fair share.


def test_a_hidden_sender_destroys_what_it_does_not_hear() -> None:
    hidden = goodputs("csma-hidden.toml")
    plain = goodputs("csma-hidden.toml", **{"csma.interference_range": "0 m"})
    assert hidden["a"] < 0.6 * plain["a"]
    assert hidden["c"] == plain["c"]


def test_two_hops_share_with_a_single_hop_and_the_model_has_no_warning() -> None:
    answer = lh.predict(EXAMPLES / "csma-hops.toml")
    assert answer.warnings == []
    long, short = (flow["goodput_bps"]["mean"] for flow in answer.summary["flows"])
    assert 0.75 < long / short < 0.85
    longer = {"duration": "150 s", "warmup": "50 s"}
    simulated = goodputs("csma-hops.toml", **longer)
    assert 0.7 < simulated["long"] / simulated["short"] < 1.1
