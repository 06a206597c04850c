//! Tests of queue settings: the queues that they describe, and messages about invalid settings.

use super::super::*;
use super::{SMALL, complaints, toml};
use crate::kernel::time::Span;

/// Returns the queue of the access point in [`SMALL`] with these settings.
fn ap_queue(settings: &[(&str, &str)]) -> QueueSetting {
    match toml(SMALL, settings) {
        Ok(scenario) => scenario.bss[0].cell.ap.queue.clone(),
        refused => panic!("{}", complaints(refused)),
    }
}

/// Returns the message of the first problem; an empty text without problems.
fn refusal(settings: &[(&str, &str)]) -> String {
    let message = match toml(SMALL, settings) {
        Ok(_) => String::new(),
        refused => complaints(refused),
    };
    let (_, reason) = message.split_once(": ").unwrap_or_default();
    reason.to_owned()
}

#[test]
fn a_bare_number_is_the_limit_of_a_drop_tail_queue() {
    assert_eq!(ap_queue(&[]), QueueSetting::drop_tail(100));
    for path in ["cell.ap_queue", "cell.ap.queue", "cell.ap.queue.limit"] {
        assert_eq!(ap_queue(&[(path, "75")]), QueueSetting::drop_tail(75));
    }
    let threshold = ap_queue(&[("cell.ap.queue.threshold", "39")]);
    let discipline = Discipline::Threshold { packets: 39 };
    assert_eq!(threshold.discipline, discipline);
    assert_eq!(threshold.most_packets(), 39);
}

#[test]
fn red_is_that_of_ns2_or_the_published_one() {
    let red = |more: &str| {
        let table = format!("{{ min_th = 50, max_th = 100{more} }}");
        let queue = ap_queue(&[("cell.ap.queue", "90"), ("cell.ap.queue.red", &table)]);
        match queue.discipline {
            Discipline::Red(red) => (queue.limit_packets, red),
            other => panic!("{other:?}"),
        }
    };
    let ns2 = RedSetting {
        form: RedForm::Ns2,
        min_th: 50.0,
        max_th: 100.0,
        max_p: 0.1,
        weight: RedWeight::Auto,
        gentle: true,
        wait: true,
        bytes: false,
        ecn: false,
        mean_packet_bytes: 500,
    };
    assert_eq!(red(""), (90, ns2));
    let published = RedSetting {
        form: RedForm::Published,
        weight: RedWeight::Given(0.002),
        gentle: false,
        wait: false,
        ..ns2
    };
    assert_eq!(red(", form = \"published\"").1, published);
    for (weight, expected) in [
        ("\"auto\"", RedWeight::Auto),
        ("0", RedWeight::PerSecond),
        ("1", RedWeight::Given(1.0)),
    ] {
        assert_eq!(red(&format!(", weight = {weight}")).1.weight, expected);
    }
}

#[test]
fn the_others_have_the_defaults_of_their_documents() {
    let ms = |ms: u64| Span(ms * 1_000_000);
    let codel = CoDelSetting {
        target: ms(5),
        interval: ms(100),
        ecn: false,
        ce_threshold: None,
        ce_threshold_l4s: false,
    };
    let of = |name: &str| {
        let queue = ap_queue(&[(&format!("cell.ap.queue.{name}"), "{}")]);
        (queue.limit_packets, queue.discipline)
    };
    assert_eq!(of("codel"), (1_000, Discipline::CoDel(codel)));
    let fq = FqCoDelSetting {
        target: codel.target,
        interval: codel.interval,
        quantum_bytes: 1_514,
        queues: 1_024,
        ecn: true,
        ce_threshold: None,
        ce_threshold_l4s: false,
    };
    assert_eq!(of("fq_codel"), (10_240, Discipline::FqCoDel(fq)));
    let dual = DualPi2Setting {
        target: ms(15),
        update: ms(16),
        alpha: 0.16,
        beta: 3.2,
        coupling: 2.0,
        min_threshold: Span(800_000),
        range: Span(400_000),
        scheduler: DualScheduler::Wrr,
        classic_weight: 0.1,
        time_shift: ms(50),
    };
    assert_eq!(of("dualpi2"), (10_000, Discipline::DualPi2(dual)));
    let pie = PieSetting {
        target: ms(15),
        update: ms(15),
        alpha: 0.125,
        beta: 1.25,
        max_burst: ms(150),
        ecn: false,
    };
    assert_eq!(of("pie"), (1_000, Discipline::Pie(pie)));
    // a bare value of `codel` sets the target
    let bare = ap_queue(&[("cell.ap.queue.codel", "20 ms")]).discipline;
    let slow = CoDelSetting {
        target: ms(20),
        ..codel
    };
    assert_eq!(bare, Discipline::CoDel(slow));
}

#[test]
fn the_nearest_queue_holds_as_a_whole() {
    let settings = [
        ("cell.queue", "{ limit = 30, codel = {} }"),
        ("station.a.queue", "7"),
    ];
    let queue = |settings: &[(&str, &str)]| {
        toml(SMALL, settings).unwrap().stations[0]
            .node
            .queue
            .clone()
    };
    assert!(matches!(
        queue(&settings[..1]).discipline,
        Discipline::CoDel(_)
    ));
    assert_eq!(queue(&settings), QueueSetting::drop_tail(7));
    assert_eq!(queue(&[]), QueueSetting::drop_tail(1_000));
}

#[test]
fn a_queue_has_one_discipline_and_sound_thresholds() {
    let red = |table: &str| refusal(&[("cell.ap.queue.red", table)]);
    assert_eq!(
        red("{ min_th = 50, max_th = 50 }"),
        "`cell.ap.queue.red.min_th`: 50 is not below max_th; expected less than 50"
    );
    assert_eq!(
        red("{ min_th = 50 }"),
        "`cell.ap.queue.red.max_th`: missing; expected a number from 0 to 1000000"
    );
    for max_p in ["0", "1.5", "-1"] {
        let message = red(&format!("{{ min_th = 5, max_th = 15, max_p = {max_p} }}"));
        let allowed = "expected a number from 0.000001 to 1";
        assert!(message.ends_with(allowed), "{message}");
    }
    assert_eq!(
        red("{ min_th = 5, max_th = 15, weight = \"atuo\" }"),
        "`cell.ap.queue.red.weight`: \"atuo\" is not a number; expected \"auto\" or a number \
         from 0 to 1\nhint: did you mean \"auto\"?"
    );
    let disciplines = "threshold, red, proportional, codel, pi, pie, fq_codel, dualpi2, cake";
    assert_eq!(
        refusal(&[("cell.ap.queue.piee", "{}")]),
        format!(
            "`cell.ap.queue.piee`: unknown key; expected one of limit, {disciplines}, vbs, mac80211\n\
             hint: did you mean `pie`?"
        )
    );
    assert_eq!(
        refusal(&[("cell.ap.queue", "{ pie = {}, codel = {} }")]),
        format!(
            "`cell.ap.queue.pie`: a second discipline in addition to codel; expected one of \
             {disciplines}, vbs, mac80211"
        )
    );
    assert_eq!(
        refusal(&[("cell.ap.queue.pie", "{}"), ("cell.ap.queue.codel", "{}")]),
        format!(
            "`cell.ap.queue.pie`: a second discipline in addition to codel; expected one of \
             {disciplines}, vbs, mac80211"
        )
    );
    assert_eq!(
        complaints(toml(
            &format!("{SMALL}\n[station.a.queue.red]\nmin_th = 5\nmax_th = 15\n"),
            &[("station.a.queue.threshold", "9")]
        )),
        format!(
            "--set station.a.queue.threshold=9: `station.a.queue.threshold`: a second discipline in addition to red; expected one of {disciplines}\n\
             hint: `station.a.queue={{ threshold = ... }}` replaces the whole queue"
        )
    );
    assert_eq!(
        refusal(&[("station.a.queue", "{ red = { min_th = 5")]),
        "`station.a.queue`: \"{ red = { min_th = 5\" cannot be read as a table; expected \
         `{ key = value, ... }`"
    );
    assert_eq!(
        refusal(&[("station.a.queue", "{}")]),
        format!("`station.a.queue`: the table is empty; expected limit, or one of {disciplines}")
    );
    assert_eq!(
        refusal(&[("station.a.queue", "15.5")]),
        "`station.a.queue`: 15.5 is not a whole number; expected a whole number from 1 to 1000000"
    );
    assert_eq!(
        refusal(&[("cell.ap.queue.codel", "{ target = \"0.1 s\" }")]),
        "`cell.ap.queue.codel.target`: \"0.1 s\" is not below interval; expected less than \
         \"100 ms\""
    );
}

#[test]
fn a_word_that_is_a_discipline_leads_to_its_table() {
    let limit = "expected a whole number from 1 to 1000000";
    assert_eq!(
        refusal(&[("station.a.queue", "fq_codel")]),
        format!(
            "`station.a.queue`: \"fq_codel\" is not a number; {limit}\n\
             hint: did you mean `station.a.queue = {{ fq_codel = {{}} }}`?"
        )
    );
    let hint = |settings: &[(&str, &str)]| {
        let message = refusal(settings);
        message
            .split_once("hint: ")
            .map(|(_, hint)| hint.to_owned())
    };
    let bare = |word| hint(&[("cell.ap.queue", word)]);
    let asked = |table| Some(format!("did you mean `cell.ap.queue = {{ {table} }}`?"));
    assert_eq!(bare("mac8021"), asked("mac80211 = {}"));
    assert_eq!(bare("red"), asked("red = { min_th = ..., max_th = ... }"));
    assert_eq!(bare("nothing"), None);
    let limit = "a number is the limit of a drop-tail queue, such as `1000`";
    assert_eq!(bare("fifo").as_deref(), Some(limit));
    for (word, table) in [("cake", "cake = {}"), ("sfq", "fq_codel"), ("ared", "red")] {
        assert!(
            bare(word).is_some_and(|hint| hint.contains(table)),
            "{word}"
        );
    }
    assert_eq!(bare("0"), None);
    // the hint is also given if an earlier override makes the queue a table; the word `dualpi2`
    // would then replace only the limit in this table
    let settings = [
        ("cell.ap.queue", "{ codel = {} }"),
        ("cell.ap.queue", "dualpi2"),
    ];
    assert_eq!(hint(&settings), asked("dualpi2 = {}"));
}

#[test]
fn a_value_that_nobody_wrote_is_not_blamed() {
    let queue = |table: &str| refusal(&[("cell.ap.queue", table)]);
    assert_eq!(
        queue("{ codel = { interval = \"5 ms\" } }"),
        "`cell.ap.queue.codel.interval`: \"5 ms\" is not above target; expected more than \"5 ms\""
    );
    let linux = |keys: &str| {
        let table = format!("{{ mac80211 = {{ {keys} }} }}");
        let cell = "duration = \"9 s\"\ncell.phy = \"802.11ax\"\nstation.a.download = 1\n";
        let message = complaints(toml(cell, &[("cell.ap_queue", &table)]));
        message
            .rsplit_once("`cell.ap_queue.mac80211.")
            .map(|(_, message)| message.to_owned())
    };
    let message = |what: &str| Some(what.to_owned());
    assert_eq!(
        linux("aql_high = \"3 ms\""),
        message("aql_high`: \"3 ms\" is below aql_low; expected at least \"5 ms\"")
    );
    let low = message("aql_low`: \"20 ms\" is above aql_high; expected at most \"12 ms\"");
    assert_eq!(linux("aql_low = \"20 ms\""), low);
    assert_eq!(linux("aql_low = \"20 ms\", aql_high = \"12 ms\""), low);
    assert_eq!(linux("aql_high = \"5 ms\""), None);
}

#[test]
fn settings_of_a_discipline_without_effect_are_refused() {
    let cell = "duration = \"9 s\"\ncell.phy = \"802.11ax\"\nstation.a.download = 1\n";
    for (table, key, shown, needed) in [
        (
            "codel = { ce_threshold_l4s = true }",
            "ce_threshold_l4s",
            "true",
            "ce_threshold = a duration",
        ),
        (
            "fq_codel = { ce_threshold_l4s = true, ce_threshold = \"off\" }",
            "ce_threshold_l4s",
            "true",
            "ce_threshold = a duration",
        ),
        (
            "mac80211 = { ce_threshold_l4s = true }",
            "ce_threshold_l4s",
            "true",
            "ce_threshold = a duration",
        ),
        (
            "mac80211 = { aql = false, aql_low = \"2 ms\" }",
            "aql_low",
            "\"2 ms\"",
            "aql = true",
        ),
        (
            "mac80211 = { aql = false, aql_high = \"3 ms\" }",
            "aql_high",
            "\"3 ms\"",
            "aql = true",
        ),
        (
            "mac80211 = { aql = false, aql_radio = \"9 ms\" }",
            "aql_radio",
            "\"9 ms\"",
            "aql = true",
        ),
        (
            "mac80211 = { airtime_fairness = false, airtime_weight = \"1 ms\" }",
            "airtime_weight",
            "\"1 ms\"",
            "airtime_fairness = true",
        ),
        (
            "dualpi2 = { time_shift = \"9 ms\" }",
            "time_shift",
            "\"9 ms\"",
            "scheduler = \"time_shifted_fifo\"",
        ),
        (
            "dualpi2 = { scheduler = \"time_shifted_fifo\", classic_weight = 0.2 }",
            "classic_weight",
            "0.2",
            "scheduler = \"wrr\"",
        ),
    ] {
        let discipline = table.split(' ').next().unwrap();
        let message = complaints(toml(&format!("{cell}cell.ap_queue = {{ {table} }}"), &[]));
        let path = format!("`cell.ap_queue.{discipline}.{key}`");
        let line = format!("x.toml:4: {path}: {shown} has no effect; expected {needed}");
        assert_eq!(message, line, "{table}");
    }
    // keys of the file are accepted if an override removes their effect
    let file = format!("{cell}cell.ap_queue.mac80211.aql_low = \"2 ms\"\n");
    let over = |settings: &[(&str, &str)]| complaints(toml(&file, settings));
    let off = ("cell.ap_queue.mac80211.aql", "false");
    assert_eq!(over(&[off]), "");
    let high = ("cell.ap_queue.mac80211.aql_high", "9 ms");
    assert!(
        over(&[off, high]).contains("`cell.ap_queue.mac80211.aql_high`: \"9 ms\" has no effect")
    );
    // a refused value is not refused again for having no effect
    let wrong = "codel = { ce_threshold = \"soon\", ce_threshold_l4s = true }";
    let message = complaints(toml(&format!("{cell}cell.ap_queue = {{ {wrong} }}"), &[]));
    assert_eq!(
        message
            .lines()
            .filter(|line| line.contains("x.toml"))
            .count(),
        1,
        "{message}"
    );
}

#[test]
fn mac80211_above_a_device_that_does_not_aggregate_leads_to_fq_codel() {
    assert_eq!(
        refusal(&[("cell.ap.queue", "{ mac80211 = {} }")]),
        "`cell.ap.queue.mac80211`: the queue of mac80211 needs a device that aggregates, and 802.11b has no aggregates; accepted with phy \"802.11n\", \"802.11ac\" or \"802.11ax\"\n\
         hint: `cell.ap.queue = { fq_codel = {} }` has the same flow queues and CoDel"
    );
}

#[test]
fn a_discipline_that_begins_beyond_the_limit_is_refused() {
    let queue = |table: &str| refusal(&[("cell.ap.queue", table)]);
    let red = "red = { min_th = 50, max_th = 100 }";
    assert_eq!(
        queue(&format!("{{ limit = 50, {red} }}")),
        "`cell.ap.queue.limit`: with the limit 50 the queue never reaches red.min_th; expected more than 50"
    );
    assert_eq!(queue(&format!("{{ limit = 51, {red} }}")), "");
    assert_eq!(
        queue("{ limit = 200, pi = {} }"),
        "`cell.ap.queue.limit`: with the limit 200 the queue never reaches pi.target; expected more than 200"
    );
    assert_eq!(
        queue("{ red = { min_th = 1000, max_th = 2000 } }"),
        "`cell.ap.queue.red.min_th`: 1000 is never reached by a queue with the limit 1000; expected less\n\
         hint: `cell.ap.queue.limit` sets the limit of the queue"
    );
    assert_eq!(
        queue("{ limit = 10, threshold = 11 }"),
        "`cell.ap.queue.limit`: 10 conflicts with a threshold of 11, which is the limit of its queue; \
         expected one of the two"
    );
    assert!(
        queue("{ limit = 20, threshold = 11 }").contains("20 conflicts with a threshold of 11")
    );
    let over_the_file =
        "queue = 15\ndumbbell = { flows = 1, bottleneck = \"9 Mbps\", rtt = \"9 ms\" }";
    let over_the_file = format!("duration = \"9 s\"\n{over_the_file}");
    assert_eq!(
        complaints(toml(&over_the_file, &[("queue.threshold", "10")])),
        ""
    );
    assert_eq!(
        complaints(toml(&over_the_file, &[("queue.threshold", "20")])),
        "x.toml:2: `queue.limit`: 15 conflicts with a threshold of 20, which is the limit of its queue; \
         expected one of the two\n\
         hint: `queue={ threshold = 20 }` replaces the whole queue"
    );
    assert_eq!(queue("{ limit = 11, threshold = 11 }"), "");
    let bytes = "{ limit = 5, red = { min_th = 5, max_th = 15, bytes = true } }";
    assert_eq!(
        queue(bytes),
        "",
        "five packets may be longer than five mean ones"
    );
}

#[test]
fn greedy_sources_and_mixed_order_need_a_plain_fifo() {
    let down = ("station.a.udp_down", "greedy");
    let codel = ("cell.ap.queue.codel", "{}");
    let message = refusal(&[down, codel]);
    assert!(
        message.starts_with("`station.a.udp_down`: a greedy source fills"),
        "{message}"
    );
    assert!(toml(SMALL, &[down, ("cell.ap.queue.threshold", "5")]).is_ok());
    assert!(toml(SMALL, &[down, ("station.a.queue.codel", "{}")]).is_ok());
    let mixed = ("cell.ap.queue_order", "mixed");
    let message = refusal(&[mixed, codel]);
    assert!(
        message.contains("contradicts the queue's discipline"),
        "{message}"
    );
    let red = ("cell.ap.queue.red", "{ min_th = 5, max_th = 15 }");
    assert!(toml(SMALL, &[mixed, red]).is_ok());
}

#[test]
fn a_shared_queue_has_classes_with_shares() {
    let sharing = |table: &str| refusal(&[("cell.ap.queue.vbs", table)]);
    let place = "`cell.ap.queue.vbs";
    assert_eq!(
        sharing("{}"),
        format!("{place}`: no classes; expected `by`, or tables [class.NAME] each with a share")
    );
    for c in ["0", "1"] {
        assert_eq!(
            sharing(&format!("{{ occupancy = {c}, by = \"station\" }}")),
            format!(
                "{place}.occupancy`: {c} is no fraction of the queue's limit; expected a number \
                 above \
                 0 and below 1"
            )
        );
    }
    let class = |first: &str, second: &str| {
        sharing(&format!(
            "{{ class = {{ x = {{ {first} }}, y = {{ {second} }} }} }}"
        ))
    };
    assert_eq!(
        class("share = 0.6, direction = \"up\"", "share = 0.7"),
        format!(
            "{place}.class.y.share`: 0.7 makes the shares of all classes sum to 1.3; expected a \
             sum of at most 1, here at most 0.4"
        )
    );
    assert_eq!(
        class("share = 0", "share = 1"),
        format!("{place}.class.x.share`: 0 is no share; expected a number above 0 and at most 1")
    );
    let empty = "no flow is in this class; expected a class with at least one flow that no \
                 earlier class contains";
    assert_eq!(
        class("share = 0.5", "share = 0.5"),
        format!("{place}.class.y`: {empty}")
    );
    assert_eq!(
        class("share = 0.5, error_from = 0.1", "share = 0.5"),
        format!("{place}.class.x`: {empty}")
    );
    assert_eq!(
        class("share = 0.5, station = \"aa\"", "share = 0.5"),
        format!(
            "{place}.class.x.station`: \"aa\" is no station; expected a, or one of their \
             stations"
        )
    );
    assert!(
        sharing("{ by = \"station\", class = { x = { share = 1 } } }")
            .starts_with("`cell.ap.queue.vbs.by`: \"station\" conflicts with `class`")
    );
    let elsewhere = refusal(&[("cell.queue.vbs", "{ by = \"station\" }")]);
    assert!(
        elsewhere.contains("unknown key; expected one of limit"),
        "{elsewhere}"
    );
}

#[test]
fn classes_are_stations_directions_or_what_they_are_called() {
    let text = r#"
duration = "10 s"
cell = { phy = "802.11g" }
[station.near]
count = 2
download = 1
[station.far]
error_down = 0.3
download = 1
upload = 2
"#;
    let classes = |sharing: &str| -> Vec<(String, f64, Vec<u32>)> {
        let scenario = toml(text, &[("cell.ap_queue.vbs", sharing)]).unwrap();
        let classes = scenario.bss[0].cell.sharing_classes.iter().cloned();
        classes.map(|c| (c.name, c.share, c.flows)).collect()
    };
    let class = |name: &str, share: f64, flows: &[u32]| (name.to_owned(), share, flows.to_vec());
    let third = 1.0 / 3.0;
    assert_eq!(
        classes("{ by = \"station\" }"),
        [
            class("near-1", third, &[0]),
            class("near-2", third, &[1]),
            class("far", third, &[2, 3, 4])
        ]
    );
    assert_eq!(
        classes("{ by = \"direction\" }"),
        [class("down", 0.5, &[0, 1, 4]), class("up", 0.5, &[2, 3])]
    );
    assert_eq!(
        classes("{ class = { weak = { error_from = 0.1, share = 0.4 }, rest = { share = 0.5 } } }"),
        [class("weak", 0.4, &[2, 3, 4]), class("rest", 0.5, &[0, 1])]
    );
}

#[test]
fn targets_are_shares_of_what_all_classes_have() {
    let targets = |a: &str, b: &str| -> Vec<f64> {
        let class =
            format!("{{ a = {{ direction = \"up\", share = {a} }}, b = {{ share = {b} }} }}");
        let settings = [
            ("station.a.download", "1"),
            ("cell.ap_queue.vbs.class", class.as_str()),
        ];
        let classes = toml(SMALL, &settings).unwrap().bss.remove(0);
        let classes = classes.cell.sharing_classes;
        classes.iter().map(|class| class.target).collect()
    };
    assert_eq!(targets("0.125", "0.375"), [0.25, 0.75]);
    assert_eq!(targets("0.526", "0.474"), [0.526, 0.474]); // the targets equal the shares exactly
}

#[test]
fn classes_of_several_access_categories_are_refused() {
    let message = |category: &str| {
        let table = format!("{{ connections = 1, category = \"{category}\" }}");
        let settings = [
            ("station.a.download", table.as_str()),
            ("cell.ap_queue.vbs", "{ by = \"direction\" }"),
        ];
        let message = complaints(toml(SMALL, &settings));
        let (_, reason) = message.split_once(": ").unwrap_or_default();
        reason.to_owned()
    };
    assert_eq!(
        message("voice"),
        "`cell.ap_queue.vbs`: its classes have flows of several access categories (best-effort, \
         voice), each with a queue of its own at the access point; expected classes of one category"
    );
    assert_eq!(message("best-effort"), "");
}
