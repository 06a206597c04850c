"""Studies of paper 002, per-station fairness in a hot-spot: figures 2 and 5 to 11, without VSB."""

from lasthop.studies.hotspot import (
    beta,
    fig02,
    fig05,
    fig06,
    fig09,
    multirate,
    two_stations,
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
    fig09.STUDY,
    multirate.FIG10,
    windows.FIG11,
    beta.STUDY,
)
