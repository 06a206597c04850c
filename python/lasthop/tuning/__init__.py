"""Search of `lasthop.tune`: candidates, their values, and the choice among them."""
