"""Studies of paper 003, TCP over 802.11e: figures 5, 6, 8 and 12, and the number of stations."""

from lasthop.studies.edca import fig05, fig06, fig08, fig12, stations
from lasthop.studies.study import Study

STUDIES: tuple[Study, ...] = (
    fig05.STUDY,
    fig06.STUDY,
    fig08.STUDY,
    fig12.STUDY,
    stations.STUDY,
)
