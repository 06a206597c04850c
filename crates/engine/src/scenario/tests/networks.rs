//! Tests of files with wired networks: the scenario that they describe, and messages about invalid
//! files.

use super::{complaints, toml};
use crate::kernel::time::Span;
use crate::scenario::*;

pub(super) const MS: u64 = 1_000_000;

const DUMBBELL: &str = r#"
duration = "10 s"
dumbbell = { flows = 3, access = "2 Mbps", access_spread = 0.01, bottleneck = "100 Mbps", rtt = "200 ms" }
"#;

pub(super) fn refused(text: &str) -> String {
    complaints(toml(&format!("duration = \"10 s\"\n{text}"), &[]))
}

pub(super) fn names(scenario: &Scenario, links: &[u32]) -> Vec<String> {
    let links = links.iter().map(|&link| &scenario.links[link as usize]);
    links.map(|link| link.name.clone()).collect()
}

#[test]
fn a_dumbbell_is_a_bottleneck_and_hosts() {
    let scenario = toml(DUMBBELL, &[]).unwrap();
    assert!(scenario.stations.is_empty());
    let flow = &scenario.flows[2];
    assert_eq!(
        (flow.name.as_str(), flow.class.as_str()),
        ("flow-3", "flow")
    );
    assert_eq!(
        names(&scenario, &flow.forward),
        ["flow-3/access", "bottleneck", "flow-3/exit"]
    );
    assert_eq!(
        names(&scenario, &flow.back),
        ["flow-3/exit/back", "bottleneck/back", "flow-3/access/back"]
    );
    let access = |k: usize| &scenario.links[scenario.flows[k].forward[0] as usize];
    let rates = [0, 1, 2].map(|k| access(k).rate.bps().unwrap());
    assert_eq!(rates, [1_990_000, 2_000_000, 2_010_000]);
    assert_eq!(access(0).delay, Span(50 * MS));
    assert_eq!(scenario.links[0].queue, QueueSetting::drop_tail(1_000));
}

#[test]
fn a_parking_lot_has_flows_through_all_and_across_each() {
    let text = "duration = \"1 s\"\nparking_lot = { hops = 2, bottleneck = \"9 Mbps\", delay = \"3 ms\", flows = 1, cross = 2 }";
    let scenario = toml(text, &[]).unwrap();
    let made: Vec<&str> = scenario
        .flows
        .iter()
        .map(|flow| flow.name.as_str())
        .collect();
    assert_eq!(
        made,
        [
            "through-1",
            "cross-1-1",
            "cross-1-2",
            "cross-2-1",
            "cross-2-2"
        ]
    );
    assert_eq!(
        names(&scenario, &scenario.flows[0].forward),
        ["bottleneck-1", "bottleneck-2"]
    );
    assert_eq!(
        names(&scenario, &scenario.flows[3].back),
        ["bottleneck-2/back"]
    );
}

#[test]
fn a_parking_lot_spreads_the_rates_of_its_bottlenecks() {
    let lot = |more: &str| format!("parking_lot = {{ flows = 1, delay = \"3 ms\", {more} }}");
    let rates = |more: &str| -> Vec<Option<u64>> {
        let scenario = toml(&format!("duration = \"1 s\"\n{}", lot(more)), &[]).unwrap();
        scenario.links.iter().map(|link| link.rate.bps()).collect()
    };
    // both directions of each bottleneck; the rates are in a range of 2 % around 10 Mb/s
    assert_eq!(
        rates("hops = 3, bottleneck = \"10 Mbps\", rate_spread = 0.02"),
        [
            9_900_000, 9_900_000, 10_000_000, 10_000_000, 10_100_000, 10_100_000
        ]
        .map(Some)
    );
    assert_eq!(rates("bottleneck = \"10 Mbps\""), [Some(10_000_000); 4]);
    assert_eq!(
        refused(&lot(
            "hops = 1, bottleneck = \"10 Mbps\", rate_spread = 0.02"
        )),
        "x.toml:2: `parking_lot.rate_spread`: 0.02 spreads the rate of one bottleneck; expected at \
         least 2 `hops`, or 0"
    );
    assert_eq!(
        refused(&lot("bottleneck = { trace = [1] }, rate_spread = 0.02")),
        "x.toml:2: `parking_lot.rate_spread`: 0.02 spreads no rate, since bottlenecks follow a \
         trace; expected a constant `bottleneck`, or 0"
    );
}

#[test]
fn links_make_a_network_of_any_shape() {
    let text = r#"
duration = "1 s"
[link.ab]
from = "a"
to = "b"
delay = "10 ms"
[link.bc]
from = "b"
to = "c"
rate = "5 Mbps"
queue = 7
back_queue = 8
[flow.x]
from = "c"
to = "a"
rtt = "28 ms"
congestion = "cubic"
start_spread = "9 ms"
"#;
    let scenario = toml(text, &[]).unwrap();
    let flow = &scenario.flows[0];
    assert_eq!(
        names(&scenario, &flow.forward),
        ["x/access", "bc/back", "ab/back", "x/exit"]
    );
    assert_eq!(flow.start_spread, Span(9 * MS));
    let queue = |k: usize| scenario.links[k].queue.limit_packets;
    assert_eq!((queue(2), queue(3)), (7, 8));
    let access = &scenario.links[flow.forward[0] as usize];
    assert_eq!((access.delay, access.rate.bps()), (Span(2 * MS), None));
    let Transport::Tcp(tcp) = &flow.transport else {
        panic!("a TCP flow");
    };
    assert_eq!(tcp.congestion, CongestionAlgorithm::Cubic);
}

const CELL_ON_A_NETWORK: &str = r#"
duration = "1 s"
cell = { phy = "802.11b", node = "home" }
[link.street]
from = "home"
to = "exchange"
rate = "20 Mbps"
[link.core]
from = "exchange"
to = "far"
delay = "20 ms"
[station.a]
upload = { server = "far" }
download = { server = "exchange" }
udp_up = "1 Mbps"
[flow.other]
from = "far"
to = "home"
"#;

#[test]
fn a_cell_hangs_on_a_node_and_servers_on_others() {
    let scenario = toml(CELL_ON_A_NETWORK, &[]).unwrap();
    let ways = |k: usize| {
        let flow: &Flow = &scenario.flows[k];
        (
            names(&scenario, &flow.forward),
            names(&scenario, &flow.back),
        )
    };
    let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        ways(0),
        (
            list(&["street", "core"]),
            list(&["core/back", "street/back"])
        )
    );
    assert_eq!(ways(1), (list(&["street/back"]), list(&["street"])));
    assert_eq!(ways(2), (list(&[]), list(&[])));
}

#[test]
fn a_cell_hangs_on_a_node_there_is() {
    let at = |setting: (&str, &str)| complaints(toml(CELL_ON_A_NETWORK, &[setting]));
    assert_eq!(
        at(("cell.node", "hoem")),
        "--set cell.node=hoem: `cell.node`: no link has a node \"hoem\"; expected one of home, exchange, \
         far\nhint: did you mean `home`?"
    );
    assert_eq!(
        complaints(toml(
            &CELL_ON_A_NETWORK.replace(", node = \"home\"", ""),
            &[]
        )),
        "x.toml:13: `station.a.upload.server`: no links lead from the cell to \"far\"; expected a \
         node that they lead to\nhint: `cell.node` sets the node to which the cell is attached"
    );
    assert_eq!(
        at(("station.a.upload.server", "moon")),
        "--set station.a.upload.server=moon: `station.a.upload.server`: no link has a node \"moon\"; \
         expected one of home, exchange, far"
    );
}

#[test]
fn a_server_without_links_is_refused_with_the_reason() {
    let text = "cell.phy = \"802.11g\"\n[station.a]\nupload.server = \"ap\"";
    assert_eq!(
        refused(text),
        "x.toml:4: `station.a.upload.server`: no link has a node \"ap\"; expected no `server`: \
         without links, the server is at the far end of the wire\n\
         hint: an access point is no server; without delay, a server at the far end of the wire is \
         next to it"
    );
}

#[test]
fn what_a_network_lacks_is_named() {
    let dumbbell = "dumbbell = { bottleneck = \"1 Mbps\", delay = \"5 ms\" }\n";
    assert_eq!(
        refused(&format!("{dumbbell}[flow.a]\nrtt = \"9 ms\"")),
        "x.toml:4: `flow.a.rtt`: \"9 ms\" is less than the links from left to right and back take; \
         expected at least 10 ms"
    );
    assert_eq!(
        refused(&format!("{dumbbell}[flow.a]\nfrom = \"lfet\"")),
        "x.toml:4: `flow.a.from`: no link has a node lfet; expected one of left, right\n\
         hint: did you mean `left`?"
    );
    assert_eq!(
        refused(&format!("{dumbbell}[flow.a]\nto = \"left\"")),
        "x.toml:4: `flow.a.to`: the flow would end at left, where it begins; expected another node"
    );
    assert_eq!(
        refused(&format!("{dumbbell}[flow.a]\nudp = \"1 Mbps\"\nwindow = 3")),
        "x.toml:5: `flow.a.window`: this key is only for TCP; expected a flow without udp"
    );
    assert_eq!(
        refused(&format!(
            "{dumbbell}[flow.a]\nudp = {{ packet = \"100 B\" }}"
        )),
        "x.toml:4: `flow.a.udp.rate`: missing; expected a rate such as \"2 Mbps\""
    );
    assert_eq!(
        refused(
            &format!("{dumbbell}[flow.a]\n[flow.a-1]\n[flow.a-2]\n")
                .replace("[flow.a]", "[flow.a]\ncount = 2")
        ),
        "x.toml:5: `flow.a-1`: flow name `a-1` is made twice; expected unique names"
    );
    assert_eq!(
        refused("flow.a = { from = \"x\", to = \"y\" }"),
        "x.toml:2: `flow.a.from`: no link has a node x; expected links or a dumbbell"
    );
    let twice = "sack = true\ncongestion = \"tahoe\"";
    assert_eq!(
        refused(&format!("{dumbbell}[flow.a]\n{twice}")),
        "x.toml:4: `flow.a.sack`: true contradicts the congestion control \"tahoe\", which sends \
         everything again after a loss; expected false"
    );
    assert_eq!(
        refused("flow.a = {}"),
        "x.toml:2: `flow.a`: `from` and `to` are needed without a dumbbell or parking_lot"
    );
    assert_eq!(
        refused("[link.l]\nfrom = \"x\"\nto = \"x\"\n[flow.a]\nfrom = \"x\"\nto = \"x\""),
        "x.toml:4: `link.l.to`: \"x\" is also the other end of the link; expected another node"
    );
    assert_eq!(
        refused("[link.l]\nfrom = \"x\"\nto = \"y\"\n[flow.a]\nfrom = \"x\"\nto = \"y\""),
        "x.toml:7: `flow.a.to`: packets from x to y and back take no time; expected a rate or a \
         delay on the way, or an rtt"
    );
    assert_eq!(
        refused(&format!(
            "{dumbbell}parking_lot = {{ bottleneck = \"1 Mbps\" }}\n[flow.a]"
        )),
        "x.toml:3: `parking_lot`: a second shape, in addition to `dumbbell`; expected one of the two"
    );
    assert_eq!(
        refused("cell.phy = \"802.11b\"\ndumbbell = { bottleneck = \"1 Mbps\", flows = 1 }"),
        "x.toml:2: `cell`: the cell has no stations; expected tables [station.NAME]"
    );
    assert_eq!(
        refused("station.a.upload = 1"),
        "x.toml:2: `cell`: missing; stations need a table with at least the key phy"
    );
}

#[test]
fn web_traffic_is_one_flow_with_the_rate_of_its_connections() {
    let text = |web: &str| format!("{DUMBBELL}[flow.site]\ncongestion = \"tahoe\"\nweb = {web}");
    let scenario = toml(&text("50"), &[]).unwrap();
    let flow = scenario.flows.last().unwrap();
    assert_eq!((flow.name.as_str(), flow.class.as_str()), ("site", "site"));
    let Transport::Web(web) = &flow.transport else {
        panic!("web traffic");
    };
    assert_eq!(web.connections_per_s, 50.0);
    assert_eq!(web.tcp.congestion, CongestionAlgorithm::Tahoe);
    assert_eq!(
        (web.arrivals, web.request_bytes),
        (WebArrivals::Packmime, None)
    );
    // the round-trip time of a host also applies to a web source; the access rate does not, because
    // the source represents many servers
    let access = &scenario.links[flow.forward[0] as usize];
    assert_eq!((access.rate.bps(), access.delay), (None, Span(50 * MS)));
    let table = "{ connections = 0.5, arrivals = \"poisson\", response = \"5 kB\", server_delay = \"0 s\" }";
    let scenario = toml(&text(table), &[]).unwrap();
    let Transport::Web(web) = &scenario.flows[3].transport else {
        panic!("web traffic");
    };
    assert_eq!(
        (web.arrivals, web.response_bytes),
        (WebArrivals::Poisson, Some(5_000))
    );
    assert_eq!(web.server_delay, Some(Span::ZERO));
    assert_eq!(
        scenario.to_json()["flows"][3]["web"]["response_bytes"],
        5_000
    );
}

#[test]
fn what_web_traffic_cannot_be_is_refused() {
    let of = |keys: &str| {
        refused(&format!(
            "dumbbell = {{ bottleneck = \"1 Mbps\", delay = \"5 ms\" }}\n[flow.a]\n{keys}"
        ))
    };
    assert_eq!(
        of("web = 0"),
        "x.toml:4: `flow.a.web`: 0 is too small; expected a number from 0.1 to 10000"
    );
    assert_eq!(
        of("web = -1"),
        "x.toml:4: `flow.a.web`: -1 is negative; expected a number from 0.1 to 10000"
    );
    assert_eq!(
        of("web = { response = \"5 kB\" }"),
        "x.toml:4: `flow.a.web.connections`: missing; expected a number of connections a second"
    );
    assert_eq!(
        of("web = 5\nudp = \"1 Mbps\""),
        "x.toml:5: `flow.a.udp`: conflicts with `web`; expected one of the two"
    );
    assert_eq!(
        of("web = 5\ncount = 2"),
        "x.toml:5: `flow.a.count`: this key is only for bulk TCP; expected a flow without web"
    );
    assert_eq!(
        of("web = 5\nsegments = 9"),
        "x.toml:5: `flow.a.segments`: this key is only for bulk TCP; expected a flow without web"
    );
    assert_eq!(
        of("web = { connections = 5, response = \"0 B\" }"),
        "x.toml:4: `flow.a.web.response`: \"0 B\" is too small; expected \"packmime\" or a size \
         from 1 to 1000000000 B"
    );
    assert!(of("web = 5\ncongestion = \"tahoe\"\nsack = true").contains("`flow.a.sack`"));
}

#[test]
fn what_would_do_nothing_is_refused() {
    let dumbbell = "dumbbell = { flows = 2, bottleneck = \"1 Mbps\", rtt = \"5 ms\"";
    assert_eq!(
        refused(&format!("{dumbbell}, access_spread = 0.1 }}")),
        "x.toml:2: `dumbbell.access_spread`: 0.1 spreads no rate, since hosts have no `access`; \
         expected hosts with `access`, or 0"
    );
    assert_eq!(
        refused(&format!("{dumbbell} }}\n[flow.a]\naccess_spread = 0.1")),
        "x.toml:4: `flow.a.access_spread`: 0.1 spreads no rate, since hosts have no `access`; \
         expected hosts with `access`, or 0"
    );
    assert_eq!(
        refused(&format!(
            "record.utilisation_bin = \"9.5 s\"\n{dumbbell} }}"
        )),
        "x.toml:2: `record.utilisation_bin`: \"9.5 s\" leaves no whole bin between the warm-up of \
         1 s and the end at 10 s; expected less, such as 4500 ms"
    );
    assert_eq!(
        refused(&format!("{dumbbell}, start_spread = \"11 s\" }}")),
        "x.toml:2: `dumbbell.start_spread`: \"11 s\" lets flows start after the end of the run; expected \
         at most 10 s"
    );
    assert_eq!(
        refused(&format!(
            "{dumbbell} }}\n[flow.a]\nstart = \"4 s\"\nstart_spread = \"7 s\""
        )),
        "x.toml:5: `flow.a.start_spread`: \"7 s\" lets flows start after the end of the run; expected \
         at most 6 s"
    );
    let link = "link.a = { from = \"x\", to = \"y\", delay = \"1 ms\"";
    let flow = "flow.f = { from = \"x\", to = \"y\" }";
    assert_eq!(
        refused(&format!("{link}, back_queue = 9 }}\n{flow}")),
        "x.toml:2: `link.a.back_queue`: a link without a rate never lets a packet wait; accepted \
         with a rate"
    );
    assert_eq!(
        refused(&format!("queue = 9\n{link} }}\n{flow}")),
        "x.toml:2: `queue`: this is the queue of bottlenecks, and the file has no bottleneck; \
         accepted with `dumbbell` or `parking_lot`\n\
         hint: for other queues set `cell.ap_queue`, or `queue` of a link"
    );
}

#[test]
fn a_wire_is_that_of_a_cell() {
    let network = "link.a = { from = \"x\", to = \"y\", delay = \"1 ms\" }\n\
                   flow.f = { from = \"x\", to = \"y\" }";
    assert_eq!(
        refused(&format!("wire.rate = \"9 Mbps\"\n{network}")),
        "x.toml:2: `wire`: this is the wire between an access point and its servers, and the file \
         has no cell; accepted with a `cell`\n\
         hint: the links of a wired network are tables [link.NAME]"
    );
    assert!(
        refused(&format!("wire.queue.codel = {{}}\n{network}")).contains("the file has no cell")
    );
    let cell = "cell = { phy = \"802.11b\" }\nstation.a.download = 1\n";
    let red = "queue.red = { min_th = 5, max_th = 15 }";
    assert_eq!(
        refused(&format!("{cell}[wire]\n{red}")),
        "x.toml:5: `wire.queue`: a link without a rate never lets a packet wait; accepted with a rate"
    );
    assert_eq!(
        refused(&format!("{cell}[wire]\nrate = \"9 Mbps\"\n{red}")),
        ""
    );
}

#[test]
fn links_without_flows_are_told_that_these_are_missing() {
    let link = "link.a = { from = \"x\", to = \"y\", rate = \"9 Mbps\" }\n";
    let needed = "missing; expected tables [flow.NAME], each with a node `from` and a node `to`";
    assert_eq!(refused(link), format!("x.toml: `flow`: {needed}"));
    assert_eq!(
        refused("[link]"),
        format!("x.toml:2: `link`: empty; expected tables [link.NAME]\nx.toml: `flow`: {needed}")
    );
}

#[test]
fn too_many_flows_are_those_of_the_table_that_makes_them() {
    let lot =
        |more: &str| format!("parking_lot = {{ hops = 64, bottleneck = \"9 Mbps\", {more} }}");
    assert_eq!(
        refused(&lot("cross = 2000")),
        "x.toml:2: `parking_lot`: 128000 flows in total; expected at most 100000"
    );
    assert_eq!(
        refused(&format!("{}\nflow.x.count = 50_000", lot("cross = 1000"))),
        "x.toml:3: `flow.x`: 114000 flows in total; expected at most 100000"
    );
}

#[test]
fn what_is_misspelt_is_not_missing_too() {
    let message = refused("dumbbell = { flows = 1, botleneck = \"9 Mbps\", rtt = \"9 ms\" }");
    assert!(
        message.contains("`dumbbell.botleneck`: unknown key"),
        "{message}"
    );
    assert!(
        message.ends_with("hint: did you mean `bottleneck`?"),
        "{message}"
    );
    assert_eq!(message.lines().count(), 2, "{message}");
}

#[test]
fn what_does_something_for_one_class_is_allowed() {
    let text = "duration = \"1 s\"\nrecord.utilisation_bin = \"0.4 s\"\n\
                dumbbell = { bottleneck = \"9 Mbps\", rtt = \"5 ms\", access_spread = 0.1, start_spread = \"1 s\" }\n\
                [flow.slow]\ncount = 2\naccess = \"1 Mbps\"\n[flow.quick]\n";
    assert!(toml(text, &[]).is_ok());
}

#[test]
fn jitter_is_that_of_the_sources() {
    let jitters = |more: &str| {
        let text = format!("duration = \"1 s\"\n{more}");
        let scenario = toml(&text, &[]).unwrap();
        let links = scenario
            .links
            .iter()
            .filter(|link| link.jitter > Span::ZERO);
        links
            .map(|link| (link.name.clone(), link.jitter.0))
            .collect::<Vec<_>>()
    };
    let both = "dumbbell = { flows = 1, bottleneck = \"20 Mbps\", rtt = \"40 ms\", jitter = \"packet\" }\n\
                flow.call = { udp = \"64 kbps\" }\nflow.own = { jitter = \"1 ms\" }\n\
                flow.short = { mss = \"460 B\" }\nflow.none = { jitter = \"0 ms\" }";
    let named = |name: &str, ns: u64| (name.to_owned(), ns);
    assert_eq!(
        jitters(both),
        [
            // transmission time of a full segment of 1500 B at 20 Mb/s
            named("flow-1/access", 600_000),
            named("call/access", 600_000),
            named("own/access", 1_000_000),
            named("short/access", 200_000),
        ]
    );
    // the slowest link of the route determines the jitter
    let row = "link.ab = { from = \"a\", to = \"b\", rate = \"100 Mbps\" }\n\
               link.bc = { from = \"b\", to = \"c\", rate = \"10 Mbps\" }\n\
               flow.x = { from = \"a\", to = \"c\", jitter = \"packet\" }";
    assert_eq!(jitters(row), [named("x/access", 1_200_000)]);
}

#[test]
fn a_packet_without_a_rate_takes_no_time() {
    let text = "link.ab = { from = \"a\", to = \"b\", delay = \"5 ms\" }\n\
                flow.x = { from = \"a\", to = \"b\", jitter = \"packet\" }";
    assert_eq!(
        refused(text),
        "x.toml:3: `flow.x.jitter`: no link from a to b has a rate; expected a link with a rate, or a duration"
    );
}

#[test]
fn a_number_refused_is_not_missing_too() {
    for (shape, key, value) in [
        ("dumbbell", "flows", "60.5"),
        ("parking_lot", "cross", "-1"),
    ] {
        let text =
            format!("{shape} = {{ bottleneck = \"9 Mbps\", rtt = \"5 ms\", {key} = {value} }}");
        let message = refused(&text);
        assert!(
            message.contains(&format!("`{shape}.{key}`: {value} is n")),
            "{message}"
        );
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn round_trips_of_a_class_are_spread_evenly() {
    let text = "duration = \"1 s\"\ndumbbell = { flows = 10, bottleneck = \"100 Mbps\", \
                delay = \"1 ms\", rtt = \"10 ms\", rtt_spread = \"180 ms\" }";
    let scenario = toml(text, &[]).unwrap();
    let rtt = |flow: &Flow| {
        let links = flow.forward.iter().chain(&flow.back);
        links
            .map(|&link| scenario.links[link as usize].delay.0)
            .sum::<u64>()
            / MS
    };
    let rtts: Vec<u64> = scenario.flows.iter().map(rtt).collect();
    assert_eq!(rtts, [10, 30, 50, 70, 90, 110, 130, 150, 170, 190]);
    let shape = "dumbbell = { bottleneck = \"9 Mbps\", rtt = \"5 ms\" }\n";
    assert_eq!(
        refused(&format!("{shape}flow.x = {{ rtt_spread = \"9 ms\" }}")),
        "x.toml:3: `flow.x.rtt_spread`: this key is only for several flows; expected a \
         count of at least 2"
    );
    assert_eq!(
        refused(&format!(
            "{shape}flow.x = {{ web = 5, rtt_spread = \"9 ms\" }}"
        )),
        "x.toml:3: `flow.x.rtt_spread`: this key is only for bulk TCP; expected a flow without web"
    );
}
