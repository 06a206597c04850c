"""The search of `lasthop.tune`: candidates, their values, and the choice."""
