//! Tests of gateway files with and without a scenario.

use super::{LEAST, SMALL, complaints, gateway, gateway_with, said_of, scenario};
use crate::{Fairness, RateSource, Tables, to_json};

#[test]
fn two_interfaces_are_enough() {
    let gateway = gateway(LEAST).unwrap();
    assert_eq!(gateway.name, "cafe");
    assert_eq!((gateway.aps.len(), gateway.stations.len()), (1, 0));
    let ap = &gateway.aps[0];
    assert_eq!((ap.name.as_str(), ap.interface.as_str()), ("wlan", "eth1"));
    assert_eq!((ap.fairness, ap.rate_bps), (Fairness::Station, None));
    // queue and largest rate have the defaults of paper 002
    assert_eq!(gateway.queue_packets, 200);
    let wce = ap.wce;
    assert_eq!((wce.max_bps, ap.max_by_default), (6_000_000, true));
    let thresholds = [
        wce.thresholds.low,
        wce.thresholds.threshold,
        wce.thresholds.high,
    ]
    .map(|span| span.0 / 1_000_000);
    assert_eq!(thresholds, [5, 40, 100]);
    // the file lists no station, so that stations are discovered
    assert!(gateway.discovery.neighbours);
}

#[test]
fn a_file_of_a_newer_format_is_refused() {
    let newer = format!("format = 2\n{LEAST}");
    assert_eq!(
        complaints(gateway(&newer)),
        "cafe.toml:1: `format`: 2 is a newer format than this version of lasthop supports; expected 1; \
         update lasthop"
    );
}

#[test]
fn a_scenario_may_have_a_gateway_and_need_not() {
    let both = format!("{SMALL}{LEAST}");
    let (plain, none) = scenario(SMALL).unwrap();
    assert_eq!(none, None);
    assert_eq!(to_json(&plain, &Tables::default()), plain.to_json());
    assert_eq!(
        scenario(&both).unwrap(),
        (plain, gateway(&both).ok()),
        "the scenario is the same"
    );
    let refused = complaints(scenario(LEAST));
    assert!(refused.contains("`duration`: missing"), "{refused}");
    assert_eq!(
        complaints(gateway(SMALL)),
        "cafe.toml: `gateway`: missing; expected a table [gateway] with at least wan and lan"
    );
}

#[test]
fn the_gateway_stands_behind_what_is_recorded_in_the_normalised_scenario() {
    let csma = "duration = \"9 s\"\nflow.a.route = [\"a\"]\n[csma.link.a]\n";
    for text in [SMALL, csma] {
        let (scenario, gateway) = scenario(&format!("{text}{LEAST}")).unwrap();
        let tables = Tables {
            gateway,
            interface: None,
        };
        let json = to_json(&scenario, &tables);
        let keys: Vec<&str> = json
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let at = keys.iter().position(|key| *key == "gateway").unwrap();
        assert_eq!(keys[at - 1], "record");
        assert_eq!(keys.get(at + 1).copied(), (text == csma).then_some("csma"));
        assert_eq!(json["gateway"]["wan"], "eth0");
    }
}

#[test]
fn the_scenario_of_a_gateway_is_checked_with_it() {
    let wrong = format!("{SMALL}window = 0\n{LEAST}");
    assert!(gateway(&wrong).is_err());
}

#[test]
fn a_station_has_its_rate_from_the_scenario() {
    let file = format!(
        "{SMALL}rate = \"2 Mbps\"\n{LEAST}[gateway.station.a]\naddress = \"10.0.0.1\"\n\
         [gateway.station.b]\naddress = \"10.0.0.2\"\n"
    );
    let rates: Vec<_> = gateway(&file)
        .unwrap()
        .stations
        .iter()
        .map(|s| s.rate_bps)
        .collect();
    assert_eq!(rates, [Some(2_000_000), None]);
}

#[test]
fn an_access_point_has_sources_of_rates() {
    let file = format!(
        "{LEAST}fairness = \"rate\"\n[gateway.ap.a]\ninterface = \"eth2\"\n\
         station_rates = \"iw:wlan0, hostapd:/run/hostapd/wlan0-1\"\n\
         [gateway.ap.b]\nsnmp = {{ agent = \"10.0.0.2\", rates = \"1.3.6.1\", rates_unit = \"1 kbps\" }}\n"
    );
    let gateway = gateway(&file).unwrap();
    let [a, b] = &gateway.aps[..] else {
        panic!("two access points")
    };
    let source = |kind: &str, at: &str| RateSource {
        kind: kind.to_owned(),
        at: at.to_owned(),
    };
    let sources = [
        source("iw", "wlan0"),
        source("hostapd", "/run/hostapd/wlan0-1"),
    ];
    assert_eq!(a.station_rates, sources);
    assert!(b.station_rates.is_empty());
    let snmp = b.snmp.as_ref().unwrap();
    assert_eq!(
        (snmp.rates.as_deref(), snmp.rates_unit_bps),
        (Some("1.3.6.1"), 1_000)
    );
}

#[test]
fn an_access_point_inherits_key_by_key() {
    let file = format!(
        "{LEAST}fairness = \"rate\"\nrate = \"9 Mbps\"\nwce = {{ max = \"30 Mbps\", high = \"0.3 s\" }}\n\
         [gateway.ap.a]\nwce.max = \"50 Mbps\"\n\
         [gateway.ap.b]\ninterface = \"eth2\"\nfairness = \"flow\"\nrate = \"estimated\"\n"
    );
    let file = file.replace(
        "[gateway.ap.a]",
        "[gateway.ap.a]\nsubnets = \"10.0.0.0/8, fd00::/8\"",
    );
    let gateway = gateway(&file).unwrap();
    let [a, b] = &gateway.aps[..] else {
        panic!("two access points")
    };
    assert_eq!((a.fairness, b.fairness), (Fairness::Rate, Fairness::Flow));
    assert_eq!((a.rate_bps, b.rate_bps), (Some(9_000_000), None));
    assert_eq!((a.wce.max_bps, b.wce.max_bps), (50_000_000, 30_000_000));
    assert!(!a.max_by_default && !b.max_by_default);
    assert_eq!(a.wce.thresholds.high, b.wce.thresholds.high);
    assert_eq!(
        (a.interface.as_str(), b.interface.as_str()),
        ("eth1", "eth2")
    );
    assert_eq!(a.subnets.len(), 2);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let cases = [
        (
            "metrics = \"0.0.0.0:9464\"",
            "cafe.toml:4: `gateway.metrics`: \"0.0.0.0:9464\" is not a loopback address; expected \
             \"off\" or a port of this machine only, such as \"127.0.0.1:9464\"",
        ),
        (
            "fairnes = \"flow\"",
            "cafe.toml:4: `gateway.fairnes`: unknown key; expected one of wan, lan, queue, discipline, \
             flow_leaves, udp_uplink, metrics, wce, discover, ap, station, group, fairness, udp, rate\n\
             hint: did you mean `fairness`?",
        ),
        (
            "ap.a.interface = \"eth0\"",
            "cafe.toml:4: `gateway.ap.a.interface`: \"eth0\" is also `gateway.wan`; expected another \
             interface",
        ),
        (
            "ap.lobby = {}\nstation.a = { address = \"10.0.0.1\", ap = \"loby\" }",
            "cafe.toml:5: `gateway.station.a.ap`: \"loby\" is no access point of this gateway; \
             expected lobby\nhint: did you mean `lobby`?",
        ),
        (
            "station.a = {}",
            "cafe.toml:4: `gateway.station.a`: has neither address nor mac; expected one of these \
             keys",
        ),
        (
            "station.a.address = \"10.0.0.1, ::5\"\nstation.b.address = \"0::5\"",
            "cafe.toml:5: `gateway.station.b.address`: `0::5` is also in `gateway.station.a`; expected \
             each address in one station only",
        ),
        (
            "station.a.address = \"2001:db8::/32\"\nstation.b.address = \"10.0.0.1, 2001:db8:7::1\"",
            "cafe.toml:5: `gateway.station.b.address`: `2001:db8:7::1` is also in `gateway.station.a`; expected \
             each address in one station only",
        ),
        (
            "station.a.address = \"10.0.0.1\"\nstation.b.address = \"10.0.0.0/30\"",
            "cafe.toml:5: `gateway.station.b.address`: `10.0.0.0/30` is also in `gateway.station.a`; expected \
             each address in one station only",
        ),
        (
            "station.a.address = \"10.0.0.1, ::/0\"",
            "cafe.toml:4: `gateway.station.a.address`: `::/0` has every address; expected addresses \
             and subnets of one station",
        ),
        (
            "station.a.address = \"10.0.0.1/30\"",
            "cafe.toml:4: `gateway.station.a.address`: \"10.0.0.1/30\" has bits after its prefix, write 10.0.0.0/30; expected IP addresses and subnets such as 192.168.4.0/24, \
             separated by commas",
        ),
        (
            "wce.max = \"1 Mbps\"\nwce.min = \"2 Mbps\"",
            "cafe.toml:5: `gateway.wce`: min \"2 Mbps\" is above max \"1 Mbps\"; expected min up to max",
        ),
        (
            "wce.low = \"50 ms\"",
            "cafe.toml:4: `gateway.wce`: low \"50 ms\" is not below threshold \"40 ms\"; expected low below threshold",
        ),
        (
            "ap.a.subnets = \"10.0.0.0/8\"\nap.b = {}",
            "cafe.toml:5: `gateway.ap.b`: the file does not say which stations are at `b`; expected an interface of its own, subnets, snmp, or `ap` in the table of each station",
        ),
        (
            "ap.a.interface = \"lan\"\nap.b = { interface = \"lan\", subnets = \"10.0.0.0/8\" }",
            "cafe.toml:4: `gateway.ap.a`: the file does not say which stations are at `a`; expected an interface of its own, subnets, snmp, or `ap` in the table of each station",
        ),
        (
            "rate = \"7 bps\"",
            "cafe.toml:4: `gateway.rate`: \"7 bps\" is too low; expected 1 kbps up to 100 Gbps",
        ),
        (
            "ap.a.wce.min = \"999 bps\"",
            "cafe.toml:4: `gateway.ap.a.wce.min`: \"999 bps\" is too low; expected 1 kbps up to \
             100 Gbps",
        ),
        (
            "discover.quarantine = \"2 h\"",
            "cafe.toml:4: `gateway.discover.quarantine`: \"2 h\" is too large; expected a duration \
             from 0 ns to 3600 s",
        ),
        (
            "discover.new_per_minute = 0",
            "cafe.toml:4: `gateway.discover.new_per_minute`: 0 is too small; expected a whole \
             number from 1 to 10000",
        ),
        (
            "discover.neighbours = false",
            "cafe.toml:4: `gateway.discover.neighbours`: with false no station would be found; \
             expected true, discover.leases, ap.NAME.snmp or a listed station",
        ),
        (
            "ap.a.subnets = \"10.0.0.0/8\"\nap.b.subnets = \"192.168.0.0/16, 10.2.0.0/16\"",
            "cafe.toml:5: `gateway.ap.b.subnets`: 10.2.0.0/16 and 10.0.0.0/8 of `gateway.ap.a` \
             overlap; expected each subnet at one access point only",
        ),
        (
            "ap.a.subnets = \"::/0\"\nap.b.subnets = \"0.0.0.0/0, fd00::/8\"",
            "cafe.toml:5: `gateway.ap.b.subnets`: fd00::/8 and ::/0 of `gateway.ap.a` overlap; \
             expected each subnet at one access point only",
        ),
        (
            "ap.a = { fairness = \"rate\", station_rates = \"iw:wlan0, ubus:wlan0\" }",
            "cafe.toml:4: `gateway.ap.a.station_rates`: \"iw:wlan0, ubus:wlan0\" has `ubus:wlan0`, \
             which is no source of rates; expected sources such as \"iw:wlan0\" and \
             \"hostapd:/var/run/hostapd/wlan0\", separated by commas",
        ),
        (
            "ap.a = { fairness = \"rate\", station_rates = \"iw:wlan0, iw:wlan0\" }",
            "cafe.toml:4: `gateway.ap.a.station_rates`: \"iw:wlan0, iw:wlan0\" has `iw:wlan0` twice; \
             expected sources such as \"iw:wlan0\" and \"hostapd:/var/run/hostapd/wlan0\", \
             separated by commas",
        ),
        (
            "ap.a = { fairness = \"rate\", station_rates = \"iw:--help\" }",
            "cafe.toml:4: `gateway.ap.a.station_rates`: \"iw:--help\" is no interface name; \
             expected sources such as \"iw:wlan0\" and \"hostapd:/var/run/hostapd/wlan0\", \
             separated by commas",
        ),
        (
            "ap.a = { fairness = \"rate\", station_rates = \"hostapd:wlan0\" }",
            "cafe.toml:4: `gateway.ap.a.station_rates`: \"hostapd:wlan0\" is no absolute path; \
             expected sources such as \"iw:wlan0\" and \"hostapd:/var/run/hostapd/wlan0\", \
             separated by commas",
        ),
        (
            "fairness = \"rate\"\nap.a.station_rates = \"iw:wlan0\"\n\
             ap.a.snmp = { agent = \"10.0.0.2\", rates = \"1.3.6\" }",
            "cafe.toml:6: `gateway.ap.a.snmp.rates`: \"1.3.6\" is a second source of rates, in addition \
             to `gateway.ap.a.station_rates`: expected one source",
        ),
        (
            "wce.maximum = \"1 Mbps\"",
            "cafe.toml:4: `gateway.wce.maximum`: unknown key; expected one of max, rule, min, interval, low, \
             threshold, high, increase, decrease, speed_up, back_off, timeout\n\
             hint: did you mean `max`?",
        ),
    ];
    for (more, expected) in cases {
        assert_eq!(said_of(more), expected);
    }
}

#[test]
fn a_setting_without_effect_is_refused() {
    let here = "station.a = { address = \"10.0.0.1\", ap = \"x\" }\nap.x.rate = \"2 Mbps\"\n";
    let cases = [
        (
            "rate = \"5 Mbps\"\nwce.max = \"9 Mbps\"",
            "cafe.toml:5: `gateway.wce.max`: \"9 Mbps\" has no effect; expected gateway.rate = \"estimated\"",
        ),
        (
            "rate = \"5 Mbps\"\nudp_uplink = \"1 Mbps\"",
            "cafe.toml:5: `gateway.udp_uplink`: \"1 Mbps\" has no effect; expected gateway.rate = \"estimated\"",
        ),
        (
            "ap.a = { rate = \"5 Mbps\", wce.low = \"6 ms\" }",
            "cafe.toml:4: `gateway.ap.a.wce.low`: \"6 ms\" has no effect; expected \
             gateway.ap.a.rate = \"estimated\"",
        ),
        (
            "flow_leaves = 300",
            "cafe.toml:4: `gateway.flow_leaves`: 300 has no effect; expected gateway.fairness = \"flow\"",
        ),
        (
            "fairness = \"flow\"\ndiscipline = \"sfq\"\nflow_leaves = 300",
            "cafe.toml:6: `gateway.flow_leaves`: 300 has no effect; expected gateway.discipline = \"best\"",
        ),
        (
            "udp_uplink = \"1 Mbps\"",
            "cafe.toml:4: `gateway.udp_uplink`: \"1 Mbps\" has no effect; expected gateway.udp = \"down\"",
        ),
        (
            "station.a = { address = \"10.0.0.1\", rate = \"2 Mbps\" }",
            "cafe.toml:4: `gateway.station.a.rate`: \"2 Mbps\" has no effect; expected \
             gateway.fairness = \"rate\"",
        ),
        (
            "ap.a.station_rates = \"iw:wlan0\"",
            "cafe.toml:4: `gateway.ap.a.station_rates`: \"iw:wlan0\" has no effect; expected \
             gateway.ap.a.fairness = \"rate\"",
        ),
        (
            "fairness = \"rate\"\nap.a.fairness = \"flow\"\n\
             ap.a.snmp = { agent = \"10.0.0.2\", rates = \"1.3.6\" }",
            "cafe.toml:6: `gateway.ap.a.snmp.rates`: \"1.3.6\" has no effect; expected \
             gateway.ap.a.fairness = \"rate\"",
        ),
        (
            "ap.a.snmp = { agent = \"10.0.0.2\", rates_unit = \"1 kbps\" }",
            "cafe.toml:4: `gateway.ap.a.snmp.rates_unit`: \"1 kbps\" has no effect; expected \
             gateway.ap.a.snmp.rates",
        ),
        (
            "station.a.address = \"10.0.0.1\"\ndiscover.quarantine = \"2 s\"",
            "cafe.toml:5: `gateway.discover.quarantine`: \"2 s\" has no effect; expected \
             discover.neighbours = true, discover.leases or ap.NAME.snmp",
        ),
        (
            "ap.a.subnets = \"10.0.0.0/8\"",
            "cafe.toml:4: `gateway.ap.a.subnets`: \"10.0.0.0/8\" has no effect; expected a second \
             access point",
        ),
        (
            &format!("{here}ap.y.subnets = \"10.0.0.0/8\""),
            "cafe.toml:6: `gateway.ap.y.subnets`: \"10.0.0.0/8\" has no effect; expected stations \
             that are found, or a station without ap",
        ),
    ];
    for (more, expected) in cases {
        assert_eq!(said_of(more), expected);
    }
}

#[test]
fn what_another_access_point_or_a_setting_makes_of_it_is_well() {
    for more in [
        "rate = \"5 Mbps\"\nwce.max = \"9 Mbps\"\nap.a.subnets = \"10.0.0.0/8\"\n\
         ap.b = { subnets = \"::/0\", rate = \"estimated\" }",
        "wce.max = \"9 Mbps\"\nap.a.rate = \"5 Mbps\"\nap.a.interface = \"eth2\"\nap.b.interface = \"eth3\"",
        // access point a inherits the fixed rate of the gateway, so its `wce.max` has no effect, but is accepted
        "rate = \"5 Mbps\"\nap.a.wce.max = \"9 Mbps\"",
        "ap.a.interface = \"eth2\"\nap.b = { interface = \"eth3\", fairness = \"flow\" }\nflow_leaves = 9",
        "udp_uplink = \"1 Mbps\"\nap.a.udp = \"down\"",
        "fairness = \"flow\"\ndiscipline = \"codel\"\nflow_leaves = 300",
        "rate = \"5 Mbps\"\nap.a.interface = \"eth2\"\nap.b = { interface = \"eth3\", rate = \"9 Mbps\" }\n\
         group.unlisted.max = \"6 Mbps\"",
        "ap.a.fairness = \"rate\"\nstation.a = { address = \"10.0.0.1\", rate = \"2 Mbps\" }",
        "station.a.mac = \"02:00:5e:10:00:01\"\ndiscover.absence = \"2 s\"",
        // the MAC address of station a is discovered
        "station.a.address = \"10.0.0.1\"\ndiscover.absence = \"2 s\"",
    ] {
        assert_eq!(said_of(more), "", "{more}");
    }
    let file = format!(
        "{LEAST}wce.max = \"9 Mbps\"\nfairness = \"flow\"\nflow_leaves = 9\n\
         udp = \"down\"\nudp_uplink = \"1 Mbps\"\n"
    );
    let set = |file: &str, path: &str, value: &str| {
        let settings = [(path.to_owned(), value.to_owned())];
        complaints(gateway_with(file, "cafe.toml", &settings))
    };
    assert_eq!(set(&file, "gateway.rate", "5 Mbps"), "");
    assert_eq!(set(&file, "gateway.udp", "both"), "");
    assert_eq!(set(&file, "gateway.fairness", "station"), "");
    assert_eq!(set(&file, "gateway.discipline", "sfq"), "");
    assert_eq!(
        set(LEAST, "gateway.flow_leaves", "9"),
        "--set gateway.flow_leaves=9: `gateway.flow_leaves`: 9 has no effect; expected \
         gateway.fairness = \"flow\""
    );
}

#[test]
fn a_name_ends_where_it_ends() {
    for more in [
        "ap.\"a\\n\" = {}",
        "station.\"a\\n\".address = \"10.0.0.1\"",
        "ap.a = {}\nstation.a = { address = \"10.0.0.1\", ap = \"a\\n\" }",
    ] {
        let message = said_of(more);
        assert!(message.contains("is not a plain name"), "{more}: {message}");
    }
    // blanks before and after a path are removed
    let file = format!("{LEAST}discover.leases = \" /a\\n\"\n");
    let leases = gateway(&file).unwrap().discovery.leases;
    assert_eq!(leases.as_deref(), Some("/a"));
}

#[test]
fn subnets_side_by_side_and_sources_of_any_kind_are_well() {
    for more in [
        "ap.a.subnets = \"10.0.0.0/24, 10.0.0.0/25\"\nap.b.subnets = \"10.0.1.0/24, ::/0\"",
        "discover = { neighbours = false, leases = \"/x\" }",
        "discover.neighbours = false\nap.a.snmp.agent = \"10.0.0.2\"",
        "discover.neighbours = false\nstation.a.mac = \"02:00:5e:10:00:01\"",
    ] {
        assert_eq!(said_of(more), "", "{more}");
    }
}

#[test]
fn an_access_point_is_judged_by_what_it_changes() {
    let message = said_of("ap.a.wce = { high = \"30 ms\" }");
    assert_eq!(
        message,
        "cafe.toml:4: `gateway.ap.a.wce`: threshold \"40 ms\" is not below high \"30 ms\"; expected threshold below high"
    );
    assert_eq!(said_of("wce.low = \"50 ms\"\nap.a = {}").lines().count(), 1);
}

#[test]
fn groups_have_stations_by_mac_address_by_address_and_by_name() {
    let groups = r#"
[gateway.station.laptop]
mac = "02-00-5E-10-00-01"
[gateway.station.printer]
address = "10.0.1.7"
group = "office"
[gateway.group.alice]
stations = "laptop, 02:00:5E:10:00:02, 2001:db8::/64"
share = 2
[gateway.group.office]
stations = "10.0.1.0/24"
max = "5 Mbps"
[gateway.group.unlisted]
"#;
    let gateway = gateway(&format!("{LEAST}{groups}")).unwrap();
    let own: Vec<_> = gateway
        .stations
        .iter()
        .map(|station| station.group.as_deref())
        .collect();
    assert_eq!(own, [Some("alice"), Some("office")]);
    let [alice, office, unlisted] = &gateway.groups[..] else {
        panic!("three groups");
    };
    assert_eq!((alice.share, alice.max_bps), (2.0, None));
    assert_eq!(alice.macs, ["02:00:5e:10:00:02"]);
    assert_eq!(alice.subnets.len(), 1);
    assert_eq!((office.share, office.max_bps), (1.0, Some(5_000_000)));
    assert_eq!((unlisted.macs.len(), unlisted.subnets.len()), (0, 0));
}

#[test]
fn what_is_wrong_with_groups_is_said() {
    for (more, expected) in [
        (
            "station.a = { mac = \"02:00:00:00:00:01\", group = \"alise\" }\ngroup.alice.stations = \"10.0.0.1\"",
            "`gateway.station.a.group`: \"alise\" is no group of listed stations: must be one of alice\nhint: did you mean `alice`?",
        ),
        (
            "station.a = { mac = \"02:00:00:00:00:01\", group = \"alice\" }",
            "`gateway.station.a.group`: \"alice\" is no group: expected the name of a table [gateway.group.NAME]",
        ),
        (
            "group.alice = {}",
            "`gateway.group.alice`: has no stations: expected `stations`, or `group` in a station",
        ),
        (
            "group.a.stations = \"02-00-00-00-00-01, 02:00:00:00:00:01\"",
            "`gateway.group.a.stations`: `02:00:00:00:00:01` is listed twice: expected each station once",
        ),
        (
            "discover.ignore = \"10.0.0.1\"\ngroup.a.stations = \"10.0.0.1\"",
            "`gateway.group.a.stations`: `10.0.0.1` is in `gateway.discover.ignore`, and such \
             addresses bypass the leaf queues: must be in only one of the two lists",
        ),
        (
            "rate = \"5 Mbps\"\ngroup.unlisted.max = \"5 Mbps\"",
            "`gateway.group.unlisted.max`: \"5 Mbps\" has no effect, since it is not below `gateway.rate`: expected a lower rate, or none",
        ),
        (
            "group.a.stations = \"02:00:00:00:0:01\"",
            "`gateway.group.a.stations`: \"02:00:00:00:0:01\" is no MAC address; expected MAC addresses, IP addresses, subnets and names of listed stations, separated by commas",
        ),
        (
            "group = { a = { stations = \"10.0.0.1\" }, b = { stations = \"10.0.0.0/24\" } }",
            "`gateway.group.b.stations`: `10.0.0.0/24` is also in `gateway.group.a`: a station must be in one group only",
        ),
        (
            "station.s = { mac = \"02:00:00:00:00:01\", address = \"10.0.0.1\" }\n\
             group = { a = { stations = \"02:00:00:00:00:01\" }, b = { stations = \"10.0.0.0/24\" } }",
            "`gateway.group.b.stations`: `10.0.0.0/24` means station `s`, which is in group `a`: a station must be in one group only",
        ),
        (
            "group.a.stations = \"laptop\"",
            "`gateway.group.a.stations`: `laptop` is no MAC address, IP address, subnet or listed station",
        ),
        (
            "group.a.stations = \"10.0.0.300\"",
            "`gateway.group.a.stations`: \"10.0.0.300\" is no IP address; expected MAC addresses, IP addresses, subnets and names of listed stations, separated by commas",
        ),
        (
            "group.unlisted = { share = 0, stations = \"10.0.0.1\" }",
            "`gateway.group.unlisted.share`: 0 is too small; expected a number from 0.01 to 100\n\
             `gateway.group.unlisted.stations`: \"10.0.0.1\" has no effect, since `unlisted` has all stations that the file does not name: expected a group with another name",
        ),
        (
            "fairness = \"flow\"\ngroup.unlisted.max = \"10 bps\"",
            "`gateway.fairness`: \"flow\" does not support groups: must be \"station\" with `gateway.group`\n\
             `gateway.group.unlisted.max`: \"10 bps\" is too low; expected 1 kbps up to 100 Gbps",
        ),
    ] {
        let messages = said_of(more);
        let lines = messages.lines().map(|line| {
            line.split_once(": `")
                .map_or(line.to_owned(), |(_, rest)| format!("`{rest}"))
        });
        assert_eq!(lines.collect::<Vec<_>>().join("\n"), expected, "{more}");
    }
}
