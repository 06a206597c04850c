"""Simulations that check the claims of the papers, and the rules that judge the claims."""
