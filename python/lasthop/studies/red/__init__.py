"""Studies of paper 004, Compound TCP with RED: the analysis, and the packet-level figures."""

from functools import partial

from lasthop.studies.red import (
    average,
    costs,
    fig02,
    fig03,
    fig04,
    fig14,
    fig20,
    policies,
    swings,
    threshold,
    users,
)
from lasthop.studies.red.experiment import study
from lasthop.studies.study import Study

THEORY: tuple[Study, ...] = (
    fig02.STUDY,
    fig03.STUDY,
    fig04.STUDY,
    fig14.STUDY,
    fig20.STUDY,
    threshold.STUDY,
)
"""Studies of the fluid models of paper 004."""

PACKETS: tuple[Study, ...] = (
    *(
        study(partial(experiment, mixed=mixed))
        for mixed in (False, True)
        for experiment in (swings.OverRtt, swings.TwoGroups, swings.Averaging, swings.Thresholds)
    ),
    study(average.Average),
    study(users.Users),
    study(policies.Queues),
    study(partial(policies.ParkingLot, mixed=True)),
    *(
        study(partial(costs.Costs, is_parking_lot=lot, mixed=mixed))
        for lot in (False, True)
        for mixed in (False, True)
    ),
)
"""Studies of the packet-level simulations of paper 004."""

STUDIES: tuple[Study, ...] = THEORY + PACKETS
