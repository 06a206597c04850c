r"""Distribution of the number of failed rounds in a row. It is needed because each failed round
doubles the contention window.

A round is the transmission of a PPDU; it fails if no MPDU is received. A failed round is repeated
with the same MPDUs. However, if it was the last attempt for the window's first MPDU, a BlockAckReq
follows. Let :math:`P(h, k)` be the probability that the first MPDU was sent in :math:`h` earlier
rounds and that the PPDU has :math:`k` MPDUs. Let :math:`f` be the number of failed rounds in a row
before the PPDU, and :math:`p` the probability that an MPDU is lost. Then

.. math:: P_0(h, k) = P(h, k) - P(h - 1, k)\, p^k, \qquad P_f(h, k) = P_{f-1}(h - 1, k)\, p^k.
"""

import numpy as np

from lasthop.models.aggregates.blocks import Floats


def rows_of(
    by_age: Floats, loss: float, attempts: int | None
) -> tuple[tuple[tuple[float, ...], ...], tuple[float, ...]]:
    """Return the distributions of the number of failed rounds in a row before PPDUs and before
    BlockAckReqs.

    Parameters
    ----------
    by_age : array of float
        Joint distribution of the PPDU sizes 1 to W (columns) and the age of the window's first
        MPDU, from age 0 on (rows). [-]
    loss : float
        Probability that an MPDU is lost, :math:`p`. [-]
    attempts : int or None
        Attempts for an MPDU; None if there is no limit.

    Returns
    -------
    rows : tuple of tuple of float
        Probability of 0, 1, ... failed rounds before a PPDU of 0, 1, ..., W MPDUs. [-]
    requests : tuple of float
        BlockAckReqs after 0, 1, ... failed rounds in a row, per round. The first value, for 0
        failed rounds, is not computed.
    """
    ages, window = by_age.shape
    failed = loss ** np.arange(1.0, window + 1)
    now = by_age.copy()
    now[1:] = np.maximum(by_age[1:] - by_age[:-1] * failed, 0.0)
    rows, requests = [], [0.0]
    for _ in range(ages):
        rows.append(now.sum(axis=0))
        requests.append(float(now[-1] @ failed))
        now = np.concatenate([np.zeros((1, window)), now[:-1] * failed])
    # The probability of no failed round is the remainder, so that the sum is exact.
    rows[0] = by_age.sum(axis=0) - sum(rows[1:])
    ends = attempts is not None and attempts <= ages
    return (
        tuple((0.0, *map(float, row)) for row in rows),
        tuple(requests) if ends else (),
    )
