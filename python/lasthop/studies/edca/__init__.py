"""Studies of paper 003, TCP over 802.11e: figures 5 to 10 and 12, and the number of stations."""

from lasthop.studies.edca import fig05, fig06, fig07, fig08, fig09, fig10, fig12, stations
from lasthop.studies.study import Study

STUDIES: tuple[Study, ...] = (
    fig05.STUDY,
    fig06.STUDY,
    fig07.STUDY,
    fig08.STUDY,
    fig09.STUDY,
    fig10.STUDY,
    fig12.STUDY,
    stations.STUDY,
)
