r"""BlockAckReqs for MPDUs that are given up, and the MPDUs that wait for these requests.

MPDUs are given up only in rounds that are the last attempt for the window's first MPDU, and only if
they are as old as this MPDU. These :math:`n` MPDUs are all settled at the end of the round, so that
the window moves beyond them. A request follows if any of them is given up. Given the holds of the
window,

.. math:: P(\text{none given up}) = (1 - p)(1 - p^A)^{n-1}.

All MPDUs that were received after the first MPDU that was given up wait for the request.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lasthop.models.aggregates.blocks import Blocks, Floats, Integers, climb


@dataclass(frozen=True)
class Requests:
    """BlockAckReqs of a sender.

    Attributes
    ----------
    per_round : float
        BlockAckReqs per round.
    failures : tuple of float
        BlockAckReqs after 0, 1, ... failed rounds in a row, per round; the first value is unused.
    held : float
        MPDUs that the receiver holds when a request follows a successful round, per round.
    held_failed : float
        MPDUs that the receiver holds when a request follows a failed round, per round.
    """

    per_round: float = 0.0
    failures: tuple[float, ...] = ()
    held: float = 0.0
    held_failed: float = 0.0


def requests_of(
    blocks: Blocks,
    loss: float,
    attempts: int | None,
    hold_rounds: float,
    failures: tuple[float, ...],
) -> Requests:
    """Return the requests of a window in blocks; each hold is assumed to be in the middle of its
    block.

    Parameters
    ----------
    blocks : Blocks
    loss : float
        Probability that an MPDU is lost, :math:`p`. [-]
    attempts : int or None
        Attempts for an MPDU, :math:`A`.
    hold_rounds : float
        Mean hold of an MPDU, :math:`E[x]`. [rounds]
    failures : tuple of float
        Numbers of failures in a row, as in `Requests`.
    """
    if attempts is None or attempts > len(blocks.unsettled) - 1:
        return Requests()
    lost = loss**attempts
    last = np.concatenate(list(_last_attempts(blocks, loss, attempts)), axis=1)
    weight, old, settled, failed, before = last
    weight = weight / weight.sum()
    remaining, after = 1.0 - lost, old - 1
    none = (1.0 - loss) * remaining**after
    given_up = loss + after * lost
    # Position of the first MPDU that is given up; the MPDUs before it are delivered at the end of
    # the PPDU.
    first = (1.0 - loss) * ((1.0 - remaining**after) / lost - after * remaining**after)
    held = (old + settled) * (1.0 - none) - given_up - first
    # Rounds in which nothing is received: the first MPDU is given up, and all unsettled MPDUs as
    # well.
    unreceived = lost / (1.0 - lost * (1.0 - loss) / loss)
    held_failed = failed * (old + before - 1.0 - after * unreceived)
    # The number of such rounds follows from the exactly known MPDUs given up per round.
    rounds = lost / hold_rounds / (weight @ given_up)
    return Requests(
        per_round=float(rounds * (weight @ (1.0 - none))),
        failures=failures,
        held=float(rounds * (weight @ (held - held_failed))),
        held_failed=float(rounds * (weight @ held_failed)),
    )


def _last_attempts(blocks: Blocks, loss: float, attempts: int) -> Iterator[Floats]:
    """Yield rounds that are the last attempt for the window's first MPDU.

    Yields
    ------
    array of float
        Rows: frequency, by state and hold of the present block; number of MPDUs as old as the
        first, including it; younger MPDUs that are settled at the end of the round; probability
        that nothing is received; younger MPDUs that are settled in that case.
    """
    middle = (blocks.length - 1) / 2
    steps = climb(blocks.unsettled, middle)
    level = blocks.level
    for hold in range(attempts if middle > 0 else 1):
        known = np.flatnonzero(level + hold < attempts)
        own = level[known]
        newest = attempts - 1 - own  # Age before the present block.
        # Groups of MPDUs from the newest MPDU on: age and number.
        ahead = (middle + 1) / 2 if hold else middle + 0.5
        groups = [(newest - hold, ahead), (newest, middle + 0.5 - ahead)]
        age = newest
        for block in range(blocks.holds.shape[1]):
            groups.append((age, blocks.length / 2))
            age = age + blocks.holds[known, block]
            groups.append((age, blocks.length / 2))
        # The first MPDU itself, and half an MPDU because the last block is too long by half.
        groups.append((age, 0.5))
        counted = _counted(blocks.unsettled, loss, groups, age)
        yield np.stack([blocks.prob[known] * steps[own, own + hold], *counted])


def _counted(
    unsettled: Floats, loss: float, groups: list[tuple[Integers, float]], first: Integers
) -> tuple[Floats, Floats, Floats, Floats]:
    old, settled, before = (np.zeros(len(first)) for _ in range(3))
    # In a failed round the first MPDU is lost with certainty; the product below includes its loss
    # once too often.
    failed = np.full(len(first), loss)
    for age, mpdus in groups:
        younger = age < first
        left = unsettled[age]
        nothing = 1.0 - left * (1.0 - loss)
        old += np.where(younger, 0.0, mpdus)
        settled += np.where(younger, mpdus * (1.0 - unsettled[age + 1]), 0.0)
        before += np.where(younger, mpdus * (1.0 - left) / nothing, 0.0)
        failed *= nothing**mpdus
    return old, settled, failed / (1.0 - unsettled[first] * (1.0 - loss)), before
