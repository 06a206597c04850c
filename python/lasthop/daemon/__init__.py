"""What stays up in the background: its directory, its verbs, its loop, and how it heals.

Knows neither gateways nor queues: each says what it reads, sets up and looks after (`sort.Sort`).
"""
