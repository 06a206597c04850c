"""Search of `lasthop.tune`: candidates for access parameters, their simulated values, and the
choice of a candidate.
"""
