"""Values that only a model gives: no simulation stands beside them."""

import numpy as np

from lasthop.studies.study import Quantity

__all__ = ["theory"]


def theory(value: float) -> Quantity:
    """Return a quantity with a prediction and no simulated value."""
    return Quantity(np.array([np.nan]), float(value))
