"""The search behind `lasthop.tune`: candidates, what each is worth, and which to choose."""
