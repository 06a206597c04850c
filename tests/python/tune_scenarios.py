"""Scenarios for the tests of `tune`."""

DOWNLOADS = """\
name = "three downloads"
duration = "6 s"
warmup = "1 s"
replications = 3
cell = { phy = "802.11b" }
tcp = { window = 2, delayed_ack = false }

[station.sta]
count = 3
download = 1
"""

OWN_WINDOWS = DOWNLOADS + "\n[station.other]\ncwmin = 63\ntcp = { window = 2 }\nupload = 1\n"

BOTH_WAYS = DOWNLOADS.replace("download = 1", "download = 1\nupload = 1")

CALLS = """\
duration = "6 s"
replications = 2
cell = { phy = "802.11g" }
[station.tv]
count = 2
udp_down = { rate = "greedy", packet = "1400 B" }
[station.phone]
count = 2
udp_down = { rate = "64 kbps", packet = "160 B", category = "voice" }
udp_up = { rate = "64 kbps", packet = "160 B", category = "voice" }
"""

VOICE_DELAY = "voice_delay_s"

VOICE = DOWNLOADS.replace("download = 1", 'download = { connections = 1, category = "voice" }')
