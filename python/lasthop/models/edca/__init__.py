"""TCP over 802.11e: access parameters, TXOP and PIFS access of one cell.

J. Yu, S. Choi, D. Qiao, "Analytical Study of TCP Performance over IEEE 802.11e WLANs", Mobile
Networks and Applications 14 (2009). ``docs/papers/edca.md`` lists the equations, how the paper was
interpreted, and the limits of the model.
"""

from lasthop.models.edca.options import PAPER, Options
from lasthop.models.edca.predict import predict, suits

__all__ = ["PAPER", "Options", "predict", "suits"]
