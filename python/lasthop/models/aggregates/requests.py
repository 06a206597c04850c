r"""BlockAckReqs for MPDUs that are given up, and the MPDUs that wait for these requests.

MPDUs are given up only in rounds that are the last attempt for the window's first MPDU. Only MPDUs
that were first sent in the same round as this MPDU can be given up. These :math:`n` MPDUs are all
received or given up at the end of the round, so that the window moves beyond them. A BlockAckReq
follows if any of them is given up. Let :math:`p` be the probability that an MPDU is lost, and
:math:`A` the number of attempts. Then

.. math:: P(\text{none given up}) = (1 - p)(1 - p^A)^{n-1}.

All received MPDUs after the first MPDU that was given up wait in the receiver for the BlockAckReq.
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
        Mean number of BlockAckReqs per round that follow 0, 1, ... failed rounds in a row. The
        first value is unused.
    held : float
        Number of MPDUs that the receiver buffers when a BlockAckReq follows a successful round,
        divided by the number of all rounds.
    held_failed : float
        Number of MPDUs that the receiver buffers when a BlockAckReq follows a failed round, divided
        by the number of all rounds.
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
    """Return the BlockAckReqs of a window that is divided into blocks. The MPDU that blocks the
    window is assumed to be in the middle of its block.

    Parameters
    ----------
    blocks : Blocks
    loss : float
        Probability that an MPDU is lost, :math:`p`. [-]
    attempts : int or None
        Attempts for an MPDU, :math:`A`; None if there is no limit.
    hold_rounds : float
        Mean hold, :math:`E[x]`: the number of rounds for which an MPDU blocks the window. [rounds]
    failures : tuple of float
        BlockAckReqs after 0, 1, ... failed rounds in a row, as in `Requests`.
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
    # Mean position of the first MPDU that is given up. MPDUs before this position are delivered at
    # the end of the PPDU, so that they do not wait for the BlockAckReq.
    first = (1.0 - loss) * ((1.0 - remaining**after) / lost - after * remaining**after)
    held = (old + settled) * (1.0 - none) - given_up - first
    # Probability that another MPDU of the same age is given up, in rounds in which no MPDU is
    # received.
    unreceived = lost / (1.0 - lost * (1.0 - loss) / loss)
    held_failed = failed * (old + before - 1.0 - after * unreceived)
    # The number of MPDUs given up per round is known exactly. The number of last attempts per round
    # is computed from it.
    rounds = lost / hold_rounds / (weight @ given_up)
    return Requests(
        per_round=float(rounds * (weight @ (1.0 - none))),
        failures=failures,
        held=float(rounds * (weight @ (held - held_failed))),
        held_failed=float(rounds * (weight @ held_failed)),
    )


def _last_attempts(blocks: Blocks, loss: float, attempts: int) -> Iterator[Floats]:
    """Yield the rounds that are the last attempt for the window's first MPDU.

    Yields
    ------
    array of float
        Rounds in which the present block (the block of the window's first MPDU) has a certain hold.
        The array has one column per state and five rows. Row 1 has the frequency of the round. Row
        2 has the number of MPDUs as old as the window's first MPDU, including this MPDU. Row 3 has
        the number of younger MPDUs that are settled (received or given up) at the end of the round.
        Row 4 has the probability that no MPDU is received. Row 5 has the number of younger MPDUs
        that are settled if no MPDU is received.
    """
    middle = (blocks.length - 1) / 2
    steps = climb(blocks.unsettled, middle)
    level = blocks.level
    for hold in range(attempts if middle > 0 else 1):
        known = np.flatnonzero(level + hold < attempts)
        own = level[known]
        newest = attempts - 1 - own  # age of the newest MPDU before the present block
        # Groups of MPDUs of equal age, newest first: age, and number of MPDUs.
        ahead = (middle + 1) / 2 if hold else middle + 0.5
        groups = [(newest - hold, ahead), (newest, middle + 0.5 - ahead)]
        age = newest
        for block in range(blocks.holds.shape[1]):
            groups.append((age, blocks.length / 2))
            age = age + blocks.holds[known, block]
            groups.append((age, blocks.length / 2))
        # The value 0.5 is the window's first MPDU, less half an MPDU by which the oldest block is
        # too long.
        groups.append((age, 0.5))
        counted = _counted(blocks.unsettled, loss, groups, age)
        yield np.stack([blocks.prob[known] * steps[own, own + hold], *counted])


def _counted(
    unsettled: Floats, loss: float, groups: list[tuple[Integers, float]], first: Integers
) -> tuple[Floats, Floats, Floats, Floats]:
    old, settled, before = (np.zeros(len(first)) for _ in range(3))
    # In a failed round the window's first MPDU is lost. The product in the loop includes this MPDU
    # again, which the returned value corrects.
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
