"""The virtual shared bottleneck with a fixed rate: what each station and each group gets.

The rate is shared by weighted max-min fairness between groups and stations of no group, equally
inside a group, and between the flows of a station. The fluid of the hierarchy of paper 002, section
4.2, with the groups of the gateway.
"""

from lasthop.models.bottleneck.assumptions import ASSUMPTIONS
from lasthop.models.bottleneck.predict import predict, suits

__all__ = ["ASSUMPTIONS", "predict", "suits"]
