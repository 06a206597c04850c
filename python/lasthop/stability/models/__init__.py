"""Fluid models of TCP over queues, by name."""

from collections.abc import Mapping
from typing import Any

from lasthop.stability.models.base import Model
from lasthop.stability.models.parking import ParkingLot
from lasthop.stability.models.pi import Pi
from lasthop.stability.models.red import Red
from lasthop.stability.models.threshold import Threshold, Vbs

__all__ = ["MODELS", "Model"]

MODELS: Mapping[str, Model[Any]] = {
    model.name: model
    for model in (
        Red(averaged=True),
        Red(averaged=False),
        Pi(),
        Threshold(),
        Vbs(),
        Red(averaged=True, groups=2),
        Red(averaged=False, groups=2),
        ParkingLot(averaged=True),
        ParkingLot(averaged=False),
    )
}
"""All models that the command line accepts."""
