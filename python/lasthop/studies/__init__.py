"""Studies: the runs that settle the claims of the papers, and the ledger that judges them."""
