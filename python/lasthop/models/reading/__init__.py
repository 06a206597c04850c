"""The checked scenario as typed values: read once, and then trusted.

The engine has checked and filled in everything. A class here names what Python asks of a table, a
field the key of its value with its unit; `lasthop.typed` reads them. A setting of the engine that
no model asks for needs nothing here.
"""

from lasthop.models.reading.cells import (
    BEST_EFFORT,
    AccessCategory,
    AccessPoint,
    Cell,
    Channel,
    ChannelChange,
    Node,
    Station,
    VbsClass,
)
from lasthop.models.reading.flows import (
    DELAYED_ACK,
    Compound,
    Flow,
    Report,
    SensorFlow,
    Tcp,
    TcpFlow,
    Udp,
    UdpFlow,
    Web,
)
from lasthop.models.reading.networks import (
    Csma,
    CsmaFlow,
    CsmaLink,
    CsmaNode,
    Link,
    Wire,
)
from lasthop.models.reading.queues import (
    Proportional,
    Queue,
    Red,
    Threshold,
    Vbs,
)
from lasthop.models.reading.scenarios import (
    CellScenario,
    CsmaScenario,
    Readable,
    Recording,
    Scenario,
    read,
)

__all__ = [
    "BEST_EFFORT",
    "DELAYED_ACK",
    "AccessCategory",
    "AccessPoint",
    "Cell",
    "CellScenario",
    "Channel",
    "ChannelChange",
    "Compound",
    "Csma",
    "CsmaFlow",
    "CsmaLink",
    "CsmaNode",
    "CsmaScenario",
    "Flow",
    "Link",
    "Node",
    "Proportional",
    "Queue",
    "Readable",
    "Recording",
    "Red",
    "Report",
    "Scenario",
    "SensorFlow",
    "Station",
    "Tcp",
    "TcpFlow",
    "Threshold",
    "Udp",
    "UdpFlow",
    "Vbs",
    "VbsClass",
    "Web",
    "Wire",
    "read",
]
