"""Stationary distribution of a chain by elimination of all its states together."""

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import splu

from lasthop.models.edca.cell import Floats
from lasthop.models.edca.levels import Chain

RESIDUAL = 1e-10
"""Largest total imbalance of a distribution found by elimination. [-]"""


def eliminated(chain: Chain, reference: int) -> Floats | None:
    """Return the stationary distribution by elimination, with one state's weight fixed at 1. [-]

    None if this fails: with long bursts, the reference may be a state that is almost never or never
    reached. A state is left at the total rate to other considered states. Transitions to states
    that are not considered, and back to the same state, count as no transition.
    """
    steps = csr_array(
        diags_array(chain.ap_wins) @ _ap_burst(chain)
        + diags_array(1.0 - chain.ap_wins) @ chain.station_burst
    )
    steps = csr_array(steps - diags_array(steps.diagonal()))
    balance = (diags_array(steps.sum(axis=1)) - steps).T.tocsc()
    rest = np.delete(np.arange(steps.shape[0]), reference)
    inner = balance[rest][:, rest].tocsc()
    inflow = -balance[rest][:, [reference]].toarray().ravel()
    try:
        factors = splu(
            inner,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # The matrix is exactly singular.
        return None
    weights = np.insert(np.maximum(factors.solve(inflow), 0.0), reference, 1.0)
    total = weights.sum()
    if not np.isfinite(total) or np.abs(balance @ weights).sum() > RESIDUAL * total:
        return None
    return np.asarray(weights / total)


def _ap_burst(chain: Chain) -> csr_array:
    """Return the transitions of an AP burst: packets one after the other until its queue is empty
    (eqs. 23, 24).
    """
    burst = chain.one_packet
    if chain.ap_packets > 1:
        last = np.zeros(burst.shape[0])
        last[chain.first[-2] :] = 1.0
        step = csr_array(burst + diags_array(last))
        for _ in range(chain.ap_packets - 1):
            burst = csr_array(burst @ step)
    return burst
