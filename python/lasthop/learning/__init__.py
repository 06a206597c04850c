"""Simulations as environments of Gymnasium: an agent sets a value and observes the effect."""

from lasthop.extras import need

need("lasthop.learning")

from lasthop.learning.access import (  # noqa: E402
    WINDOWS,
    AccessEnv,
    Reward,
    goodput,
    goodput_if_fair,
)
from lasthop.learning.vector import (  # noqa: E402
    AccessVectorEnv,
    VectorReward,
    goodputs,
    goodputs_if_fair,
)

__all__ = [
    "WINDOWS",
    "AccessEnv",
    "AccessVectorEnv",
    "Reward",
    "VectorReward",
    "goodput",
    "goodput_if_fair",
    "goodputs",
    "goodputs_if_fair",
]
