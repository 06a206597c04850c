"""Points of the studies of paper 004, which tests of measures and of the setup use."""

from lasthop.studies.red import PACKETS

STUDY = {study.name: study for study in PACKETS}
NAMES = list(STUDY)
RTTS = (10, 25, 50, 75, 100, 150, 200)
ONE, LOT = ("bottleneck",), ("bottleneck-1", "bottleneck-2")
