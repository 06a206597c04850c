"""Studies of paper 002, per-station fairness in a hot-spot: without the bottleneck and with it."""

from lasthop.studies.hotspot import (
    beta,
    fig02,
    fig04,
    fig05,
    fig06,
    fig09,
    fig12,
    fig13,
    footnote_9,
    multirate,
    shared,
    two_stations,
    udp,
    windows,
)
from lasthop.studies.study import Study

STUDIES: tuple[Study, ...] = (
    two_stations.STUDY,
    fig02.STUDY,
    fig05.STUDY,
    fig06.STUDY,
    multirate.FIG07,
    windows.FIG08,
    footnote_9.STUDY,
    fig09.STUDY,
    multirate.FIG10,
    windows.FIG11,
    beta.STUDY,
    shared.STUDY,
    fig04.STUDY,
    fig12.STUDY,
    fig13.STUDY,
    udp.STUDY,
)
