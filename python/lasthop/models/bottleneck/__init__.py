"""Shares of stations and groups in a virtual shared bottleneck with a fixed rate.

The groups, and the stations that belong to no group, share the rate by weighted max-min fairness.
The stations of a group share equally, and so do the flows of a station. The model is a fluid model
of the scheduler hierarchy in paper 002, section 4.2, with the groups of the gateway.
"""

from lasthop.models.bottleneck.predict import predict, suits

__all__ = ["predict", "suits"]
