"""TCP over CSMA networks in which each link senses only some of the other links. The package models
legacy CSMA, adaptive CSMA (A-CSMA), and multi-connection TCP.

W. Chen, "TCP Reno over Adaptive CSMA", M.Phil. thesis, The Chinese University of Hong Kong, 2010.
``docs/papers/acsma.md`` lists the equations, how the paper was interpreted, and the limits of the
model.
"""

from lasthop.models.acsma.predict import predict, suits

__all__ = ["predict", "suits"]
