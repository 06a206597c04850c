r"""Failed rounds in a row, which double the backoff.

A failed round is repeated with the same MPDUs, unless it was the last attempt for the window's
first MPDU; then a BlockAckReq follows. Let :math:`P(h, k)` be the distribution of the age of the
first MPDU and of the size, and :math:`f` the number of failed rounds in a row before. Then

.. math:: P_0(h, k) = P(h, k) - P(h - 1, k)\, p^k, \qquad P_f(h, k) = P_{f-1}(h - 1, k)\, p^k.
"""

import numpy as np

from lasthop.models.aggregates.blocks import Floats


def rows_of(
    by_age: Floats, loss: float, attempts: int | None
) -> tuple[tuple[tuple[float, ...], ...], tuple[float, ...]]:
    """Return the distribution of failed rounds in a row before PPDUs and before BlockAckReqs.

    Parameters
    ----------
    by_age : array of float
        Distribution of the sizes 1 to W (columns) by the age of the window's first MPDU, from age 0
        on. [-]
    loss : float
        Probability that an MPDU is lost, :math:`p`. [-]
    attempts : int or None
        Attempts for an MPDU.

    Returns
    -------
    rows : tuple of tuple of float
        Probability of 0, 1, ... failed rounds before a PPDU of 0, 1, ..., W MPDUs. [-]
    requests : tuple of float
        BlockAckReqs after 0, 1, ... failed rounds in a row, per round; BlockAckReqs after no failed
        round are left out.
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
    # Values above 0 by rounding belong to no failed round.
    rows[0] = by_age.sum(axis=0) - sum(rows[1:])
    ends = attempts is not None and attempts <= ages
    return (
        tuple((0.0, *map(float, row)) for row in rows),
        tuple(requests) if ends else (),
    )
