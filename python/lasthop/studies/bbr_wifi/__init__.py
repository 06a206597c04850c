"""BBR and CUBIC at one access point, with three kinds of queue."""

from lasthop.studies.bbr_wifi import sharing
from lasthop.studies.study import Study

STUDIES: tuple[Study, ...] = (sharing.STUDY,)
