"""Questions of the papers in a cell with aggregation, with a FIFO or a Linux access point."""

from lasthop.studies.ax import access, bottleneck, shares, slow, updown
from lasthop.studies.study import Study

STUDIES: tuple[Study, ...] = (
    updown.STUDY,
    slow.STUDY,
    shares.STUDY,
    bottleneck.STUDY,
    access.STUDY,
)
