"""Stationary distribution of a Markov chain by sparse elimination (LU factorisation) over all
states.
"""

from typing import TYPE_CHECKING

import numpy as np

from lasthop.models.edca.cell import Floats
from lasthop.models.edca.levels import Chain

if TYPE_CHECKING:
    from scipy.sparse import csr_array

RESIDUAL = 1e-10
"""Largest accepted residual of the balance equations, summed over the states. [-]"""


def eliminated(chain: Chain, reference: int) -> Floats | None:
    """Return the stationary distribution by elimination, with the weight of the state `reference`
    fixed at 1; None if elimination fails. [-]

    Elimination may fail with long bursts, if the reference state is never or almost never reached.
    Transitions from a state to itself, and to states that are left out of the chain, are ignored.
    """
    from scipy.sparse import csr_array, diags_array
    from scipy.sparse.linalg import splu

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
    except RuntimeError:  # the matrix is exactly singular
        return None
    weights = np.insert(np.maximum(factors.solve(inflow), 0.0), reference, 1.0)
    total = weights.sum()
    if not np.isfinite(total) or np.abs(balance @ weights).sum() > RESIDUAL * total:
        return None
    return np.asarray(weights / total)


def _ap_burst(chain: Chain) -> "csr_array":
    """Return the transition probabilities of an AP burst. The AP sends single packets until the
    burst ends or its queue is empty (eqs. 23, 24).
    """
    from scipy.sparse import csr_array, diags_array

    burst = chain.one_packet
    if chain.ap_packets > 1:
        last = np.zeros(burst.shape[0])
        last[chain.first[-2] :] = 1.0
        step = csr_array(burst + diags_array(last))
        for _ in range(chain.ap_packets - 1):
            burst = csr_array(burst @ step)
    return burst
