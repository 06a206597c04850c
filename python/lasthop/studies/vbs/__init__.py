"""Studies of paper 000, Compound TCP over WiFi and virtual buffer sharing."""

from lasthop.studies.study import Study
from lasthop.studies.vbs import (
    contenders,
    fig08,
    fig18,
    fixed_point,
    four_flows,
    sensor,
    shared,
    stability,
    two_classes,
    updown,
)

STUDIES: tuple[Study, ...] = (
    four_flows.FIG02,
    four_flows.FIG03,
    four_flows.FIG04,
    shared.FIG07,
    fig08.STUDY,
    two_classes.FIG09,
    two_classes.FIG10,
    two_classes.FIG11,
    two_classes.FIG12,
    two_classes.FIG13,
    shared.FIG14,
    shared.FIG15,
    updown.FIG16,
    updown.FIG17,
    updown.OPPOSITE,
    fig18.STUDY,
    sensor.STUDY,
    contenders.STUDY,
    fixed_point.STUDY,
    stability.STUDY,
)
"""All studies of paper 000: the figures in the order of the paper, then sensors, contending
devices, fixed points, and the appendix.
"""
