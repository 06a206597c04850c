"""Completion of the command line in bash, zsh and fish.

A script in the shell (`share`) calls ``lasthop completion answer`` at each Tab. This command reads
the scenario's schema and `words.json`, which `table` writes from the definitions of the commands.
The command is fast, because it imports neither the other commands nor numpy.
"""
