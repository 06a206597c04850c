"""Completion of the command line in bash, zsh and fish.

A script in the shell (`share`) asks ``lasthop completion answer`` at each Tab. That reads
`words.json`, which `table` writes from the commands themselves, and the scenario's schema: neither
the commands nor numpy are imported, so that the answer is immediate.
"""
