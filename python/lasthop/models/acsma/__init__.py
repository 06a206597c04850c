"""TCP over CSMA networks whose links hear only some of each other: legacy, adaptive, the cure.

W. Chen, "TCP Reno over Adaptive CSMA", M.Phil. thesis, The Chinese University of Hong Kong, 2010.
Equations, readings and limits: ``docs/papers/acsma.md``.
"""

from lasthop.models.acsma.predict import predict, suits

__all__ = ["predict", "suits"]
