"""Studies of paper 000, Compound TCP over WiFi and virtual buffer sharing: the appendix."""

from lasthop.studies.study import Study
from lasthop.studies.vbs import stability

STUDIES: tuple[Study, ...] = (stability.STUDY,)
