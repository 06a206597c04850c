"""Points of the studies of paper 003, which tests of measures and of the setup use."""

WAYS = ("down", "up")
CWMINS = (3, 7, 15, 31, 63, 127, 255)
"""CWmin of the paper's sweeps: "{2^n - 1 | 2 <= n <= 8}" (line 380 of the text)."""
AP_TXOPS, STATION_TXOPS = (1, 2, 4, 8, 16, 28), (1, 2, 4)
PIFS_AP_TXOPS, PIFS_STATION_TXOPS = (1, 2, 3, 4, 8), (1, 2, 3, 4)
NEAR = (23, 27, 31, 35, 39, 47, 55, 63)
DELAYS_MS = (0, 10, 20, 30, 40, 50, 60, 80, 100, 125, 150, 200)
LOSSES = (1, 10, 50)
COUNTS = (1, 2, 4, 7, 14, 28)
RECEIVE_WINDOWS = (2, 8, 12)
DELAYS_US = (
    *(0, 50, 100, 150, 200, 250, 280, 300, 304, 306, 307, 308, 309, 310, 312, 316, 320, 325),
    *(330, 340, 350, 360, 380, 400, 450, 500, 550, 600, 650, 700, 800, 900, 1000),
)
