"""Points of the studies of paper 000, which tests of measures and of the setup use."""

from lasthop.studies.vbs import STUDIES

STUDY = {study.name: study for study in STUDIES}
SIMULATED = [study.name for study in STUDIES if study.points]
ERRORS = ("0", "0_1", "0_2", "0_3")
SOME = ("0_1", "0_2", "0_3")
LIMITS = ("four", "eight")
LAWS = ("plain", "vbs", "regulated", "partition")
