"""Completion of the command line in bash, zsh and fish.

A script in the shell (`share`) calls ``lasthop completion answer`` at each Tab. This command reads
the scenario's schema and `words.json`, which `table` writes from the definitions of the commands.
It imports neither the commands nor numpy, so it is fast.
"""
