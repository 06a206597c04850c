"""Compound TCP over WiFi with channel errors, and virtual buffer sharing.

S. R. Pokhrel, C. Williamson, "Modeling Compound TCP over WiFi for IoT", IEEE/ACM Transactions on
Networking (2018). ``docs/papers/vbs.md`` lists the equations, how the paper was interpreted, and
the limits of the model.
"""

from lasthop.models.vbs.options import PAPER, Options
from lasthop.models.vbs.predict import predict, suits

__all__ = ["PAPER", "Options", "predict", "suits"]
