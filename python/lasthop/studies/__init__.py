"""Studies: the runs that check the claims of the papers, and the ledger that judges the claims."""
