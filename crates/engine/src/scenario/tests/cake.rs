//! Tests of the keys of CAKE, and of the hosts of flows.

use super::super::*;
use super::{SMALL, complaints, toml};
use crate::app::flow_classes;
use crate::notation::setting::FileTable;
use crate::queue::{CakeSetting, Dscp, FlowClass, OWN};

/// Two classes of flows over one link with CAKE.
const HOME: &str = r#"duration = "10 s"
[link.line]
from = "home"
to = "net"
rate = "20 Mbps"
delay = "5 ms"
queue.cake = {}
[flow.a]
count = 2
from = "home"
to = "net"
from_host = "laptop"
from_nat = "router"
[flow.b]
from = "home"
to = "net"
from_nat = "router"
dscp = "EF"
[flow.c]
from = "net"
to = "home"
to_host = "laptop"
"#;

/// Returns the message for the scenario [`HOME`] with this setting; an empty text if it is accepted.
fn message(path: &str, value: &str) -> String {
    complaints(toml(HOME, &[(path, value)]))
}

fn home(settings: &[(&str, &str)]) -> Scenario {
    match toml(HOME, settings) {
        Ok(scenario) => scenario,
        refused => panic!("{}", complaints(refused)),
    }
}

#[test]
fn a_bare_value_is_the_bandwidth() {
    let discipline = |value: &str| {
        home(&[("link.line.queue.cake", value)]).links[0]
            .queue
            .clone()
    };
    let Ok(usual) = CakeSetting::usual() else {
        panic!("all keys have defaults");
    };
    assert_eq!(discipline("{}").discipline, Discipline::Cake(usual));
    assert_eq!(discipline("{}").limit_packets, 10_240);
    let shaped = CakeSetting {
        bandwidth_bps: Some(18_000_000),
        ..usual
    };
    assert_eq!(discipline("18 Mbps").discipline, Discipline::Cake(shaped));
}

#[test]
fn flows_of_a_named_host_share_a_number_in_both_directions() {
    let scenario = home(&[]);
    let classes = flow_classes(&scenario.flows, 0);
    let hosts: Vec<_> = classes.iter().map(|class| class.hosts).collect();
    let [laptop, router] = [classes[0].hosts[0], classes[0].public[0]];
    assert_ne!(laptop, router);
    assert_eq!(
        hosts,
        [[laptop, OWN], [laptop, OWN], [OWN, OWN], [OWN, laptop]]
    );
    let public: Vec<_> = classes.iter().map(|class| class.public).collect();
    assert_eq!(
        public,
        [[router, OWN], [router, OWN], [router, OWN], [OWN, laptop]]
    );
    assert_eq!(classes[2].dscp, Dscp::Ef);
}

#[test]
fn a_station_is_a_host_and_its_category_is_its_dscp() {
    let more =
        "[station.b]\ndownload = 2\ncall = { calls = 1, video = false, category = \"voice\" }\n";
    let scenario = match toml(&format!("{SMALL}{more}"), &[]) {
        Ok(scenario) => scenario,
        refused => panic!("{}", complaints(refused)),
    };
    let classes = flow_classes(&scenario.flows, scenario.stations.len());
    let of = |hosts: [u32; 2], dscp| FlowClass {
        hosts,
        public: hosts,
        dscp,
    };
    let expected = [
        of([0, OWN], Dscp::Cs0),
        of([OWN, 1], Dscp::Cs0),
        of([OWN, 1], Dscp::Cs0),
        of([1, OWN], Dscp::Ef),
        of([OWN, 1], Dscp::Ef),
    ];
    assert_eq!(classes, expected);
}

#[test]
fn the_parts_of_a_wired_call_belong_to_two_hosts() {
    let scenario = home(&[("flow.b.call", "1"), ("flow.c.from_nat", "far")]);
    let classes = flow_classes(&scenario.flows, 0);
    let ends = |k: usize| classes[k].hosts;
    for part in 2..6 {
        let [from, to] = ends(part);
        let [first_from, first_to] = ends(2);
        let same = [from, to] == [first_from, first_to];
        let swapped = [from, to] == [first_to, first_from];
        assert!(same || swapped, "{part}");
        assert_eq!(classes[part].dscp, Dscp::Ef);
        // the router with NAT is at `from`, at which the packets of half of the parts arrive
        let router = classes[part].public[usize::from(swapped)];
        assert_eq!(router, classes[0].public[0]);
    }
}

#[test]
fn keys_without_effect_are_refused() {
    let cake = "link.line.queue.cake";
    let at = |key: &str, value: &str| message(&format!("{cake}.{key}"), value);
    for (key, value) in [
        ("overhead", "40 B"),
        ("mpu", "64 B"),
        ("link_layer", "atm"),
        ("ingress", "true"),
    ] {
        let text = at(key, value);
        assert!(text.contains(&format!("`{cake}.{key}`")), "{text}");
        assert!(
            text.contains("bandwidth = \"18 Mbps\" or another rate"),
            "{text}"
        );
        assert_eq!(
            text.lines().next().map(|line| line.len() < 200),
            Some(true),
            "{text}"
        );
    }
    let text = message(cake, "{ isolation = \"flows\", nat = true }");
    assert!(
        text.contains("isolation = \"triple-isolate\" or another"),
        "{text}"
    );
    assert_eq!(
        message(cake, "{ bandwidth = \"18 Mbps\", overhead = \"40 B\" }"),
        ""
    );
}

#[test]
fn words_of_tc_have_hints() {
    let at = |key: &str, value: &str| message(&format!("link.line.queue.cake.{key}"), value);
    for (key, value, hint) in [
        (
            "target",
            "5 ms",
            "set `rtt`: the target is a twentieth of it",
        ),
        ("split_gso", "true", "cannot be split"),
        ("atm", "true", "link_layer = \"atm\""),
        ("ecn", "true", "always marks"),
        (
            "isolation",
            "triple-isolat",
            "did you mean \"triple-isolate\"?",
        ),
        ("diffserv", "diffserv5", "did you mean \"diffserv"),
        ("ack_filter", "agressive", "did you mean \"aggressive\"?"),
        ("rtt", "1 us", "expected"),
        ("overhead", "300 B", "256 B"),
        ("bandwidth", "0 Mbps", "is not a positive rate"),
    ] {
        let text = at(key, value);
        assert!(text.contains(hint), "{key}: {text}");
    }
}

#[test]
fn the_shaper_needs_a_link_with_a_constant_rate() {
    let cell = |path: &str| complaints(toml(SMALL, &[(path, "{ cake = \"5 Mbps\" }")]));
    for path in [
        "cell.ap_queue",
        "cell.ap.queue",
        "cell.queue",
        "station.a.queue",
    ] {
        let text = cell(path);
        assert!(
            text.contains(&format!("`{path}.cake`: the shaper has no effect")),
            "{text}"
        );
        assert!(
            text.contains("expected the queue of a link with a constant rate"),
            "{text}"
        );
    }
    let unshaped = |path: &str| complaints(toml(SMALL, &[(path, "{ cake = {} }")]));
    assert_eq!(["cell.ap_queue", "cell.queue"].map(unshaped), ["", ""]);
    let traced = [
        ("link.line.rate", "{ trace = [1, 2, 3] }"),
        ("link.line.queue", "{ cake = \"5 Mbps\" }"),
    ];
    let text = complaints(toml(HOME, &traced));
    assert!(text.contains("opportunities of the trace"), "{text}");
}
