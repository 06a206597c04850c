//! Tests that parse the text of a file and check the resulting interface.

use crate::{EXTENSION, Interface, NEEDS_INTERFACE};
use lasthop_engine::scenario::{Files, Format, Problem};

const LEAST: &str = "[interface]\nname = \"eth0\"\nrate = \"18 Mbps\"\nqueue.threshold = 15\n";
const DUMBBELL: &str = "duration = \"10 s\"\nqueue = 15\n\
                        dumbbell = { flows = 6, bottleneck = \"10 Mbps\", rtt = \"40 ms\" }\n";
const CLASSES: &str = r#"[interface]
name = "eth0"
rate = "20 Mbps"
[interface.queue]
limit = 100
vbs.class.near.share = 0.5
vbs.class.far.share = 0.25
[interface.class]
near = { address = "10.9.1.1, fd00::/8", mark = 7 }
far = { mac = "02:00:5E:10:00:01" }
"#;

fn interface(text: &str) -> Result<Interface, Vec<Problem>> {
    let files = Files::new();
    let bytes = text.as_bytes();
    let tables = EXTENSION.parse(NEEDS_INTERFACE, bytes, Format::Toml, "up.toml", &[], &files)?;
    Ok(tables.interface.unwrap())
}

fn complaints(text: &str) -> String {
    let problems = interface(text).err().unwrap_or_default();
    let lines = problems.iter().flat_map(|problem| {
        let hint = problem.hint.as_ref().map(|hint| format!("hint: {hint}"));
        std::iter::once(problem.to_string()).chain(hint)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn four_lines_are_enough() {
    let checked = interface(LEAST).unwrap();
    assert_eq!(
        (checked.interface.as_str(), checked.rate_bps),
        ("eth0", 18_000_000)
    );
    assert_eq!((checked.queue.most_packets(), checked.link), (15, None));
    assert_eq!(checked.from, Vec::<String>::new());
}

#[test]
fn what_is_not_said_is_the_links() {
    let text = format!("{DUMBBELL}[interface]\nname = \"eth0\"\nfrom = \"br0, wlan0\"\n");
    let checked = interface(&text).unwrap();
    assert_eq!(
        (checked.rate_bps, checked.queue.most_packets()),
        (10_000_000, 15)
    );
    assert_eq!(checked.link.as_deref(), Some("bottleneck"));
    assert_eq!(checked.from, ["br0", "wlan0"]);
    let own = interface(&format!("{text}rate = \"9 Mbps\"\nqueue = 100\n")).unwrap();
    assert_eq!((own.rate_bps, own.queue.most_packets()), (9_000_000, 100));
}

#[test]
fn a_scenario_may_have_an_interface() {
    let text = format!("{DUMBBELL}[interface]\nname = \"eth0\"\n");
    let files = Files::new();
    let parsed =
        EXTENSION.parse_with_scenario(text.as_bytes(), Format::Toml, "up.toml", &[], &files);
    let (scenario, tables) = parsed.unwrap();
    let json = crate::to_json(&scenario, &tables);
    assert_eq!(json["interface"]["rate_bps"], 10_000_000);
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    let at = keys.iter().position(|key| *key == "interface").unwrap();
    assert_eq!(keys[at - 1], "record");
}

#[test]
fn classes_have_shares_and_members() {
    let checked = interface(CLASSES).unwrap();
    let [near, far] = &checked.classes[..] else {
        panic!("two classes");
    };
    assert!((near.target - 2.0 / 3.0).abs() < 1e-12 && (far.target - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!((near.mark, near.subnets.len()), (Some(7), 2));
    assert_eq!(near.subnets[0].prefix_len(), 32);
    assert_eq!(far.macs, ["02:00:5e:10:00:01"]);
}

#[test]
fn the_access_points_classes_are_an_interfaces() {
    let text = r#"duration = "10 s"
[cell]
phy = "802.11g"
ap_queue = { limit = 100, vbs.by = "group" }
[station.near]
count = 5
download = 1
[station.far]
count = 5
download = 1
[interface]
name = "eth0"
link = "ap"
rate = "20 Mbps"
class.near.address = "10.0.0.0/28"
class.far.address = "10.0.0.16/28"
"#;
    let checked = interface(text).unwrap();
    let names: Vec<&str> = checked
        .classes
        .iter()
        .map(|class| class.name.as_str())
        .collect();
    assert_eq!(names, ["near", "far"]);
    assert_eq!(checked.queue.limit_packets, 100);
}

/// CAKE contains a shaper, so that the interface needs no rate.
#[test]
fn the_rate_is_the_bandwidth_of_cake_if_there_is_no_other_rate() {
    let rate = |more: &str| {
        let text = format!("[interface]\nname = \"eth0\"\nqueue.cake = \"18 Mbps\"\n{more}");
        interface(&text).unwrap().rate_bps
    };
    assert_eq!(rate(""), 18_000_000);
    assert_eq!(rate("rate = \"20 Mbps\"\n"), 20_000_000);
    let without = complaints("[interface]\nname = \"eth0\"\nqueue.cake = {}\n");
    assert!(without.contains("has no rate"), "{without}");
}

#[test]
fn what_is_wrong_is_told_in_a_line() {
    let cases = [
        (
            LEAST.replace("eth0", "a/b"),
            "up.toml:2: `interface.name`: \"a/b\" is no interface name; expected the name of a network interface, 1 to 15 characters without blanks, `/` and `:`",
        ),
        (
            LEAST.replace("rate = \"18 Mbps\"\n", ""),
            "up.toml:1: `interface`: has no rate; expected a rate such as \"18 Mbps\"",
        ),
        (
            LEAST.replace("queue.threshold = 15\n", ""),
            "up.toml:1: `interface`: has no queue; expected a queue such as `queue.threshold = 15`",
        ),
        (
            format!("{LEAST}link = \"a\"\n"),
            "up.toml:5: `interface.link`: \"a\" is a link of a scenario, but the file does not \
             say what to simulate; expected no link, or a scenario",
        ),
        (
            format!("{LEAST}from = \"br0, eth0\"\n"),
            "up.toml:5: `interface.from`: \"br0, eth0\" contains `interface.name`; expected other \
             interfaces",
        ),
        (
            LEAST.replace("18 Mbps", "1 bps"),
            "up.toml:3: `interface.rate`: \"1 bps\" is too low; expected 1 kbps up to 100 Gbps",
        ),
        (
            format!("{LEAST}class.a.mark = 1\n"),
            "up.toml:5: `interface.class.a`: has no effect, since the queue has no classes \
             (`vbs.class`)",
        ),
        (
            format!("{DUMBBELL}[interface]\nname = \"eth0\"\nlink = \"botleneck\"\n"),
            "up.toml:6: `interface.link`: \"botleneck\" is no link of the scenario; expected one of bottleneck, bottleneck/back\nhint: did you mean `bottleneck`?",
        ),
        (
            CLASSES.replace("far = ", "fare = "),
            "up.toml:10: `interface.class.fare`: is no class of the queue; expected one of near, far\nhint: did you mean `far`?",
        ),
        (
            CLASSES.replace("far = { mac = \"02:00:5E:10:00:01\" }\n", ""),
            "up.toml:1: `interface`: has no members of the class `far`; expected a table [interface.class.far]",
        ),
        (
            CLASSES.replace("mac = \"02:00:5E:10:00:01\"", "mark = 7"),
            "up.toml:10: `interface.class.far.mark`: `7` is also in `interface.class.near`; expected each member in one class only",
        ),
        (
            CLASSES.replace("mac = \"02:00:5E:10:00:01\"", ""),
            "up.toml:10: `interface.class.far`: has no member; expected one of address, mac, mark",
        ),
        (
            CLASSES.replace("limit = 100", "limit = 5000"),
            "up.toml:1: `interface`: a queue of 5000 packets is too long for classes to share on Linux; expected at most 4095",
        ),
        (
            CLASSES.replace("limit = 100", "limit = 100\nvbs.share_of = \"service\""),
            "up.toml:1: `interface`: `vbs.share_of` = \"service\" is measured on the air, which \
             is not possible at an interface; expected \"queue\"",
        ),
        (
            CLASSES.replace(
                "near.share = 0.5",
                "near = { share = 0.5, station = \"a\" }",
            ),
            "up.toml:6: `interface.queue.vbs.class.near.station`: \"a\" is accepted in \
             simulations only; set the members of a class of an interface in \
             [interface.class.NAME]",
        ),
        (
            "name = \"x\"\n".to_owned(),
            "up.toml: `interface`: missing; expected a table [interface] with at least name",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(complaints(&text), expected, "{text}");
    }
}
