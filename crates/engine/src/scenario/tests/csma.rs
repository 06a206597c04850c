//! Tests of files with a conflict graph: the scenario that they describe, and messages about
//! invalid files.

use super::csma_files::{LISTED, PLACED};
use super::{complaints, toml};
use crate::scenario::*;

fn listed(old: &str, new: &str) -> String {
    let listed = LISTED.replace("from = \"ap\"", "from = \"x\"");
    complaints(toml(&listed.replace(old, new), &[]))
}

fn network(text: &str) -> Csma {
    let scenario = toml(&text.replace("from = \"ap\"", "from = \"x\""), &[]).unwrap();
    scenario.csma.unwrap()
}

fn conflicts(network: &Csma) -> Vec<Vec<usize>> {
    let of = |link: &CsmaLink| link.conflicts.iter().copied().collect();
    network.links.iter().map(of).collect()
}

#[test]
fn a_conflict_holds_for_both_links_whoever_lists_it() {
    let network = network(LISTED);
    let all = [vec![1], vec![0, 2, 3], vec![1, 3], vec![1, 2]];
    assert_eq!(conflicts(&network), all);
    assert!(network.connected);
    assert_eq!(network.connections, Connections::Rtt { k: 10.0 });
}

#[test]
fn routes_pass_wireless_and_wired_links() {
    let network = network(LISTED);
    let names: Vec<&str> = network
        .flows
        .iter()
        .map(|flow| flow.name.as_str())
        .collect();
    assert_eq!(names, ["middle", "others-1", "others-2"]);
    assert_eq!(network.flows[0].route, [Hop::Wireless(1), Hop::Wired(0)]);
    assert_eq!(network.flows[1].payload_bytes(), 500);
}

#[test]
fn positions_give_conflicts_within_sensing_range_and_at_shared_nodes() {
    assert_eq!(conflicts(&network(PLACED)), [vec![1], vec![0, 2], vec![1]]);
    let short = PLACED.replace(
        "[csma.node]",
        "[csma]\nsensing_range = \"600 m\"\n[csma.node]",
    );
    assert_eq!(conflicts(&network(&short)), [vec![1], vec![0], vec![]]);
    let shared = short.replace(
        "{ from = \"e\", to = \"f\" }",
        "{ from = \"f\", to = \"e\" }\nback = { from = \"e\", to = \"f\" }",
    );
    let pairs = conflicts(&network(&shared));
    assert_eq!((&pairs[2], &pairs[3]), (&vec![3], &vec![2]));
}

#[test]
fn a_route_over_a_link_that_there_is_not_is_refused() {
    assert_eq!(
        listed("[\"2\", \"wire\"]", "[\"2\", \"wier\"]"),
        "x.toml:15: `flow.middle.route`: there is no link \"wier\"; expected one of 1, 2, 3, 4, wire\n\
         hint: did you mean `wire`?"
    );
}

#[test]
fn a_graph_in_two_parts_is_refused_where_it_is_stated_to_be_connected() {
    assert_eq!(
        listed("[\"1\", \"3\", \"4\"]", "[\"1\"]"),
        "x.toml:4: `csma.connected`: the conflict graph is not connected: no conflicts lead from \
         link 1 to link 3; expected false"
    );
    assert_eq!(
        listed("connected = true\n[csma.link]", "[csma.link]\n5 = {}"),
        ""
    );
}

#[test]
fn a_utility_that_is_not_concave_is_refused() {
    for value in ["0", "-1"] {
        let rules = format!("connected = true\nconnections = \"utility\"\nfairness = {value}");
        assert_eq!(
            listed("connected = true", &rules),
            format!(
                "x.toml:6: `csma.fairness`: {value} makes a utility that is not strictly concave; \
                 expected a number above 0"
            )
        );
    }
}

#[test]
fn a_flow_has_its_own_marginal_utility_or_that_of_all() {
    let rules = "connections = \"utility\"\nmarginal_utility = [[10, 1], [100, 0.01]]";
    let text = LISTED.replace("connected = true", rules) + "marginal_utility = [[1, 2], [2, 1]]";
    let flows = network(&text).flows;
    let points = |flow: usize| flows[flow].marginal_utility.as_ref().unwrap().points();
    assert_eq!(points(0), [(10.0, 1.0), (100.0, 0.01)]);
    assert_eq!(points(2), [(1.0, 2.0), (2.0, 1.0)]);
}

#[test]
fn marginal_utilities_that_do_not_fall_are_refused() {
    let message = |points: &str| {
        let rules = format!("connections = \"utility\"\nmarginal_utility = {points}");
        listed("connected = true", &rules)
    };
    let allowed = "expected 2 to 1000 points [rate in packets/s, marginal utility] above 0, with \
                   rising rates and falling marginal utilities, such as [[10, 1], [100, 0.01]]";
    let cases = [
        (
            "[[10, 1], [100, 2.5]]",
            "a list has marginal utility 1 at rate 10 and 2.5 at 100, so that the utility is not \
             strictly concave",
        ),
        ("[[10, 1], [5, 0.5]]", "a list has rate 5 after rate 10"),
        ("[[10, 1]]", "a list has fewer than two points"),
        ("[[10, 1], [20]]", "a list has a point of 1 numbers"),
        ("[10, 1]", "a list has 10, which is not a point"),
        (
            "[[10, \"a\"], [20, 1]]",
            "a list has \"a\", which is not a number",
        ),
        ("3", "3 is not a list of points"),
    ];
    for (points, fault) in cases {
        let expected = format!("x.toml:5: `csma.marginal_utility`: {fault}; {allowed}");
        assert_eq!(message(points), expected);
    }
    assert_eq!(
        message("[[1, 2], [2, 1]]\nfairness = 2"),
        "x.toml:6: `csma.fairness`: 2 conflicts with marginal_utility, which also sets the \
         utility of rates; expected one of the two"
    );
    assert_eq!(
        listed("connected = true", "marginal_utility = [[1, 2], [2, 1]]"),
        "x.toml:4: `csma.marginal_utility`: a list has no effect; expected csma.connections = \
         \"utility\""
    );
}

#[test]
fn links_and_nodes_that_make_no_sense_are_refused() {
    let placed = |old: &str, new: &str| complaints(toml(&PLACED.replace(old, new), &[]));
    let cases = [
        (
            listed("[\"4\"]", "[\"5\"]"),
            "`csma.link.3.conflicts`: there is no wireless link \"5\"; expected one of 1, 2, 3, 4",
        ),
        (
            listed("[\"4\"]", "[\"3\"]"),
            "`csma.link.3.conflicts`: \"3\" is the link itself; expected other links",
        ),
        (
            listed("[\"4\"]", "[\"4\", \"4\"]"),
            "`csma.link.3.conflicts`: a list has \"4\" twice; expected a list of names",
        ),
        (
            listed("[\"4\"]", "[4]"),
            "`csma.link.3.conflicts`: a list has 4, which is not a name in quotes; expected a list",
        ),
        (
            listed("[\"4\"]", "\"4\""),
            "`csma.link.3.conflicts`: \"4\" is not a list of names; expected a list of names",
        ),
        (
            listed("[\"4\"]", "[]"),
            "`csma.link.3.conflicts`: a list is empty; expected a list of names",
        ),
        (
            listed("[link.wire]", "[link.1]"),
            "is also the name of a wired link; expected unique names",
        ),
        (
            placed("b = { x = \"200 m\" }", "b = { x = \"251 m\" }"),
            "`csma.link.near`: is 251 m long; expected at most the transmission range of 250 m",
        ),
        (
            placed("to = \"b\"", "to = \"g\""),
            "`csma.link.near.to`: there is no node \"g\"; expected one of a, b, c, d, e, f",
        ),
        (
            placed("to = \"b\"", "to = \"a\""),
            "`csma.link.near.to`: \"a\" is also the other end of the link; expected another node",
        ),
        (
            placed(", to = \"b\"", ""),
            "`csma.link.near`: has only one end; expected both `from` and `to`, or neither of the \
             two keys",
        ),
        (
            placed("{ from = \"a\", to = \"b\" }", "{}"),
            "`csma.link.near`: has no nodes, but another link has; expected nodes for all or for none",
        ),
        (
            placed("x = \"200 m\"", "x = 200"),
            "`csma.node.b.x`: 200 has no unit, write \"200 m\" or \"200 km\"; expected a length",
        ),
    ];
    for (message, expected) in cases {
        assert!(
            message.contains(expected),
            "{message}\ndoes not say\n{expected}"
        );
    }
}

#[test]
fn only_flows_on_routes_are_beside_a_conflict_graph() {
    let with = |more: &str| complaints(toml(&format!("{PLACED}{more}"), &[]));
    let cases = [
        (
            with("[flow.y]\nfrom = \"a\"\nto = \"b\""),
            "`flow.y`: missing key `route`; with `csma` a flow needs the list of its links, such as route = [\"a\"]",
        ),
        (
            with("[flow.y]\nroute = [\"far\"]\njitter = \"packet\""),
            "`flow.y.jitter`: this key is only for flows between wired nodes, not for \
             flows on a route",
        ),
        (
            with("[flow.y]\nroute = [\"far\"]\nfrom = \"a\""),
            "`flow.y.from`: this key is only for flows between wired nodes, not for flows \
             on a route",
        ),
        (
            with("[flow.y]\nroute = [\"far\"]\nweight = 2"),
            "`flow.y.weight`: 2 has no effect; expected csma.connections = \"utility\"",
        ),
        (
            with("[flow.y]\nroute = [\"far\"]\nweb = 3"),
            "`flow.y.web`: conflicts with `route`; expected bulk TCP, or udp",
        ),
        (
            complaints(toml(
                "duration = \"1 s\"\nflow.a.route = [\"b\"]\ndumbbell.bottleneck = \"1 Mbps\"",
                &[],
            )),
            "`flow.a.route`: this key needs `csma`; expected wireless links [csma.link.NAME]",
        ),
        (
            complaints(toml(
                "duration = \"1 s\"\n[csma]\naqm = false\nconnections = \"one\"\nlink = { a = {} }\n[flow.x]\nroute = [\"a\"]",
                &[],
            )),
            "`csma.aqm`: without aqm and with one connection r grows without bound; expected r_max",
        ),
    ];
    for (message, expected) in cases {
        assert!(
            message.contains(expected),
            "{message}\ndoes not say\n{expected}"
        );
    }
}

#[test]
fn json_files_have_lists_too() {
    let text = r#"{"duration": "1 s", "csma": {"link": {"a": {}, "b": {"conflicts": ["a"]}}},
        "flow": {"x": {"route": ["a", "b"]}}}"#;
    let scenario = parse(text, Format::Json, "x.json", &[]).unwrap();
    let csma = scenario.csma.unwrap();
    assert_eq!(csma.flows[0].route, [Hop::Wireless(0), Hop::Wireless(1)]);
    let wrong = text.replace("[\"a\"]", "[[\"a\"]]");
    let message = complaints(parse(&wrong, Format::Json, "x.json", &[]));
    assert!(
        message.contains("a list has a list, which is not a name in quotes"),
        "{message}"
    );
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let ruled = |rules: &str| listed("connected = true", rules);
    let of = |flow: &str, rules: &str| {
        let text = LISTED.replace("from = \"ap\"", "from = \"x\"");
        let text = text.replace("connected = true", rules);
        complaints(toml(&format!("{text}[flow.y]\n{flow}"), &[]))
    };
    let cases = [
        (
            ruled("overhead = \"2 ms\""),
            "`csma.overhead`: \"2 ms\" is not less than the time of a packet at this service_rate; expected less than 1666.667 us",
        ),
        (
            ruled("access = \"dcf\"\ncwmin = 63\ncwmax = 31"),
            "`csma.cwmax`: 31 is less than cwmin; expected at least 63",
        ),
        (
            ruled("access = \"dcf\"\neifs = \"40 us\""),
            "`csma.eifs`: \"40 us\" is less than difs; expected at least 50 us",
        ),
        (
            listed("1 = {}", "1 = { disturbs = [\"2\"] }"),
            "`csma.link.1.disturbs`: \"2\" is in conflict with this link and waits for it",
        ),
        (
            listed("1 = {}", "1 = { disturbs = [\"5\"] }"),
            "`csma.link.1.disturbs`: there is no wireless link \"5\"; expected one of 1, 2, 3, 4",
        ),
        (
            complaints(toml(
                "duration = \"1 s\"\ncsma = { access = \"dcf\", link.a.r = 0.1 }\nflow.x.route = [\"a\"]",
                &[],
            )),
            "`csma.link.a.r`: 0.1 has no effect; expected csma.access = \"adaptive\"",
        ),
        (
            of("route = [\"1\"]\nudp = \"greedy\"", ""),
            "`flow.y.udp`: a greedy source fills its queue to the limit, which csma.aqm does not \
             allow; expected a rate, or csma.aqm = false",
        ),
        (
            of("route = [\"wire\", \"1\"]\nudp = \"greedy\"", "aqm = false"),
            "`flow.y.udp`: a greedy source needs a route that begins with a wireless link; \
             expected a rate",
        ),
        (
            of("route = [\"1\"]\nsegments = 9", ""),
            "`flow.y.segments`: this key is only for flows that end by themselves; on a route \
             expected `stop`",
        ),
        (
            of("route = [\"1\"]\nstart = \"10 s\"", ""),
            "`flow.y.start`: flow `y` would start at 10 s; expected before its end at 10 s",
        ),
        (
            of("route = [\"1\"]\n[record]\nframes = 10", ""),
            "`record.frames`: conflicts with `csma`; a capture is of the frames of a cell",
        ),
        (
            complaints(toml(
                "duration = \"1 s\"\nlink.w = { from = \"a\", to = \"b\" }\n\
                 csma.link.a = {}\nflow.x.route = [\"w\"]",
                &[],
            )),
            "`flow.x.route`: packets take no time on this link; expected a wireless link, or a \
             rate or a delay",
        ),
    ];
    for (message, expected) in cases {
        assert!(
            message.contains(expected),
            "{message}\ndoes not say\n{expected}"
        );
    }
}

#[test]
fn a_route_that_jumps_is_refused() {
    let text = format!(
        "{PLACED}on = {{ from = \"b\", to = \"a\" }}\n\
         [link.wire]\nfrom = \"d\"\nto = \"server\"\nrate = \"2 Mbps\"\n"
    );
    let message = |route: &str| {
        complaints(toml(
            &text.replace("[\"near\"]", route),
            &[("duration", "9 s")],
        ))
    };
    assert_eq!(message("[\"near\", \"on\"]"), "");
    assert_eq!(message("[\"middle\", \"wire\"]"), "");
    let cases = [
        (
            "[\"near\", \"far\"]",
            "has a gap: link \"near\" ends at node b, link \"far\" begins at node e; expected a link that begins at b: on",
        ),
        (
            "[\"middle\", \"near\"]",
            "has a gap: link \"middle\" ends at node d, link \"near\" begins at node a; expected a link that begins at d: wire",
        ),
        (
            "[\"far\", \"near\"]",
            "has a gap: link \"far\" ends at node f, link \"near\" begins at node a; no link begins at f",
        ),
        (
            "[\"wire\", \"middle\"]",
            "has a gap: link \"wire\" ends at node server, link \"middle\" begins at node c; no link begins at server",
        ),
    ];
    for (route, expected) in cases {
        assert_eq!(
            message(route),
            format!("x.toml:3: `flow.x.route`: {expected}")
        );
    }
    // a route that would cross a link in its reverse direction
    let server = text
        .replace("d = { x", "server = { x")
        .replace("to = \"d\"", "to = \"server\"");
    assert_eq!(
        complaints(toml(
            &server.replace("[\"near\"]", "[\"middle\", \"wire\"]"),
            &[]
        )),
        "x.toml:3: `flow.x.route`: has a gap: link \"middle\" ends at node server, link \"wire\" begins at \
         node d; no link begins at server\n\
         hint: a route passes links from `from` to `to`, and \"wire\" leads to server"
    );
}

#[test]
fn a_frame_that_can_be_received_is_sensed() {
    let ranges = |ranges: &str| {
        let table = format!("[csma]\n{ranges}\n[csma.node]");
        complaints(toml(&PLACED.replace("[csma.node]", &table), &[]))
    };
    assert_eq!(
        ranges("sensing_range = \"240 m\""),
        "x.toml:5: `csma.sensing_range`: \"240 m\" makes sensing_range less than transmission_range, \
         but a frame that can be received is sensed; expected at least 250 m"
    );
    assert_eq!(
        ranges("transmission_range = \"1 km\""),
        "x.toml:5: `csma.transmission_range`: \"1 km\" makes sensing_range less than \
         transmission_range, but a frame that can be received is sensed; expected at most 800 m"
    );
    assert_eq!(ranges("sensing_range = \"250 m\""), "");
}

#[test]
fn settings_without_effect_are_refused() {
    let message = |rules: &str| listed("connected = true", rules);
    let idle = |line: usize, key: &str, shown: &str, needed: &str| {
        format!("x.toml:{line}: `csma.{key}`: {shown} has no effect; expected {needed}")
    };
    let adaptive = "csma.access = \"adaptive\"";
    let several = "csma.connections = \"rtt\" or \"utility\"";
    let dcf = "csma.access = \"dcf\"";
    let slots = "csma.slotted = true, or csma.access = \"dcf\"";
    let cases = [
        ("access = \"legacy\"", "k = 3", "k", "3", adaptive),
        ("access = \"dcf\"", "beta = 3", "beta", "3", adaptive),
        ("access = \"dcf\"", "aqm = true", "aqm", "true", adaptive),
        (
            "access = \"legacy\"",
            "connections = \"rtt\"",
            "connections",
            "\"rtt\"",
            adaptive,
        ),
        ("access = \"legacy\"", "r_max = 1", "r_max", "1", adaptive),
        (
            "access = \"legacy\"",
            "slot = \"9 us\"",
            "slot",
            "\"9 us\"",
            slots,
        ),
        (
            "access = \"dcf\"",
            "slotted = true",
            "slotted",
            "true",
            "csma.access = \"adaptive\" or \"legacy\"",
        ),
        ("beta = 9", "cwmin = 15", "cwmin", "15", dcf),
        (
            "access = \"dcf\"",
            "backoff = \"constant\"",
            "backoff",
            "\"constant\"",
            "csma.access = \"adaptive\" or \"legacy\"",
        ),
        (
            "beta = 9",
            "access_intensity = 2",
            "access_intensity",
            "2",
            "csma.access = \"legacy\"",
        ),
        ("connections = \"one\"", "k = 3", "k", "3", several),
        (
            "connections = \"one\"",
            "rounding = \"nearest\"",
            "rounding",
            "\"nearest\"",
            several,
        ),
        (
            "connections = \"rtt\"",
            "fairness = 2",
            "fairness",
            "2",
            "csma.connections = \"utility\"",
        ),
        (
            "beta = 9",
            "sensing_range = \"1 km\"",
            "sensing_range",
            "\"1 km\"",
            "nodes with positions, [csma.node.NAME]",
        ),
    ];
    for (mode, setting, key, shown, needed) in cases {
        let rules = format!("{mode}\n{setting}");
        assert_eq!(message(&rules), idle(5, key, shown, needed), "{rules}");
    }
    // settings that repeat the present value are accepted
    assert_eq!(
        message("access = \"legacy\"\naqm = false\nconnections = \"one\""),
        ""
    );
}

#[test]
fn a_file_keeps_what_a_setting_leaves_without_effect() {
    let text = LISTED.replace("from = \"ap\"", "from = \"x\"");
    let text = text.replace("connected = true", "k = 3\nbeta = 9");
    let with = |settings: &[(&str, &str)]| complaints(toml(&text, settings));
    assert_eq!(with(&[("csma.access", "legacy")]), "");
    assert_eq!(with(&[("csma.connections", "one")]), "");
    assert_eq!(
        with(&[("csma.access", "dcf"), ("csma.k", "4")]),
        "--set csma.k=4: `csma.k`: 4 has no effect; expected csma.access = \"adaptive\""
    );
}

#[test]
fn one_mistake_is_one_line() {
    let with = |more: &str| complaints(toml(&format!("{PLACED}{more}"), &[]));
    assert_eq!(
        with("[dumbbell]\nflows = 3"),
        "x.toml:15: `dumbbell`: conflicts with `csma`; expected only wired links and flows with a route"
    );
    assert_eq!(
        with("[cell]\nphy = \"802.11b\""),
        "x.toml:15: `cell`: conflicts with `csma`; expected only wired links and flows with a route"
    );
    assert_eq!(
        with("[cell]\nrate = \"3 Mbps\"\n[station.a]\nupload = 0"),
        "x.toml:15: `cell`: conflicts with `csma`, as well as `station`; expected only wired links and \
         flows with a route"
    );
    assert_eq!(
        with("[wire]\ndelay = \"1 ms\""),
        "x.toml:15: `wire`: conflicts with `csma`; expected only wired links and flows with a route"
    );
    assert_eq!(
        complaints(toml(
            "duration = \"1 s\"\ncsma = true\nflow.a.route = [\"b\"]\nflow.b.route = [\"c\"]",
            &[]
        )),
        "x.toml:2: `csma`: true is not a table; expected a table with at least the key link"
    );
}

#[test]
fn interference_makes_hidden_nodes_of_those_beyond_sensing() {
    let range = "[csma]\nsensing_range = \"600 m\"\ninterference_range = \"600 m\"\n[csma.node]";
    let network = network(&PLACED.replace("[csma.node]", range));
    // the transmitters are at 0, 0.5 and 1.2 km; only the transmitters of links 0 and 1 are within
    // the sensing range of 0.6 km
    assert_eq!(conflicts(&network), [vec![1], vec![0], vec![]]);
    let disturbs = |link: usize| {
        network.links[link]
            .disturbs
            .iter()
            .copied()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        [disturbs(0), disturbs(1), disturbs(2)],
        [vec![], vec![], vec![1]]
    );
}

#[test]
fn connections_by_marks_need_marks() {
    let file = |rules: &str, tcp: &str| {
        let text = format!(
            "duration = \"9 s\"\n{tcp}\n[csma]\nconnections = \"marks\"\n{rules}\n[csma.link]\na = {{}}\n\
             [flow]\nf = {{ route = [\"a\"] }}\n"
        );
        complaints(toml(&text, &[]))
    };
    let fault =
        |line: usize, why: &str| format!("x.toml:{line}: `csma.connections`: \"marks\" {why}");
    assert_eq!(
        file("", ""),
        fault(4, "needs flows with ecn = true, which f is not")
    );
    let deaf = file("aqm = false\nr_max = 0.01", "tcp.ecn = true");
    assert_eq!(deaf, fault(4, "needs aqm = true, so that links mark"));
    assert_eq!(file("", "tcp.ecn = true"), "");
}
