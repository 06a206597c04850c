"""Studies of paper 001, TCP over CSMA networks with partial sensing."""

from lasthop.studies.acsma import (
    capacity,
    costs,
    overhead,
    routes,
    schemes,
    settings,
    starvation,
    theory,
    units,
)
from lasthop.studies.study import Study

STUDIES: tuple[Study, ...] = (
    capacity.STUDY,
    theory.IDEAL,
    starvation.FIG4_2,
    starvation.FIG4_3,
    theory.FLUID,
    theory.UTILITIES,
    costs.STUDY,
    schemes.FIG6_2,
    schemes.FIG6_3,
    schemes.FIG6_4,
    units.FIG6_5,
    settings.FIG6_9,
    settings.FIG6_10,
    settings.FIG6_11,
    settings.FIG6_12,
    overhead.STUDY,
    routes.FIG6_14,
    routes.FIG6_15,
    starvation.FIGB_1,
)
"""All studies of paper 001, in the order of its figures."""
