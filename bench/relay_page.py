"""Page and pictures of what the relay's benches have measured: docs/reference/relay-measured.md.

    python bench/relay_page.py

From out/relay_share.jsonl, out/relay_paper.jsonl and out/relay_cost.json; what is simulated beside
is simulated now.
"""

from pathlib import Path

from lasthop.studies.acsma import network

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "reference/relay-measured.md"
SHARES, PAPER = DOCS / "images/relay-share.png", DOCS / "images/relay-paper.png"
REPLICATIONS = 10
PAYLOAD = network.PACKET_BITS
