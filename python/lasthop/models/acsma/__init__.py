"""TCP over CSMA networks whose links sense only some of each other: legacy CSMA, adaptive CSMA, and
multi-connection TCP as the remedy.

W. Chen, "TCP Reno over Adaptive CSMA", M.Phil. thesis, The Chinese University of Hong Kong, 2010.
Equations, readings and limits: ``docs/papers/acsma.md``.
"""

from lasthop.models.acsma.predict import predict, suits

__all__ = ["predict", "suits"]
