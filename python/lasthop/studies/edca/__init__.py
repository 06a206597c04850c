"""Studies of paper 003: figures 5 to 10 and 12, the number of stations, and other receive
windows.
"""

from lasthop.studies.edca import (
    fig05,
    fig06,
    fig07,
    fig08,
    fig09,
    fig10,
    fig12,
    receive_windows,
    stations,
)
from lasthop.studies.study import Study

STUDIES: tuple[Study, ...] = (
    fig05.STUDY,
    fig06.STUDY,
    fig06.UP_STUDY,
    fig07.STUDY,
    fig08.STUDY,
    fig09.STUDY,
    fig10.STUDY,
    fig12.STUDY,
    stations.STUDY,
    receive_windows.STUDY,
)
