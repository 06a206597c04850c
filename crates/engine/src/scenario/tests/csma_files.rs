//! Valid files of networks with a conflict graph.

pub(super) const LISTED: &str = r#"
duration = "10 s"
[csma]
connected = true
[csma.link]
1 = {}
2 = { conflicts = ["1", "3", "4"] }
3 = { conflicts = ["4"] }
4 = {}
[link.wire]
from = "ap"
to = "server"
rate = "2 Mbps"
[flow.middle]
route = ["2", "wire"]
[flow.others]
count = 2
route = ["1"]
mss = "500 B"
"#;

/// Three links whose transmitters are on a line, at 0, 0.5 and 1.2 km.
pub(super) const PLACED: &str = r#"
duration = "10 s"
flow.x.route = ["near"]
[csma.node]
a = {}
b = { x = "200 m" }
c = { x = "500 m" }
d = { x = "0.7 km" }
e = { x = "1200 m" }
f = { x = "1300 m" }
[csma.link]
near = { from = "a", to = "b" }
middle = { from = "c", to = "d" }
far = { from = "e", to = "f" }
"#;
