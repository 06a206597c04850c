//! Queue settings, wherever there is a queue: what they mean, what is refused.

use super::super::*;
use super::{SMALL, complaints, toml};
use crate::kernel::time::Span;

/// The access point's queue in [`SMALL`] with these settings.
fn ap_queue(settings: &[(&str, &str)]) -> QueueSetting {
    match toml(SMALL, settings) {
        Ok(scenario) => scenario.cell.ap.queue,
        refused => panic!("{}", complaints(refused)),
    }
}

fn refusal(settings: &[(&str, &str)]) -> String {
    let said = complaints(toml(SMALL, settings));
    let (_, reason) = said.split_once(": ").unwrap_or_default();
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
        let queue = ap_queue(&[("cell.ap.queue", "9"), ("cell.ap.queue.red", &table)]);
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
    assert_eq!(red(""), (9, ns2));
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
    };
    let of = |name: &str| {
        let queue = ap_queue(&[(&format!("cell.ap.queue.{name}"), "{}")]);
        (queue.limit_packets, queue.discipline)
    };
    assert_eq!(of("codel"), (1_000, Discipline::CoDel(codel)));
    let fq = FqCoDelSetting {
        codel: CoDelSetting { ecn: true, ..codel },
        quantum_bytes: 1_514,
        queues: 1_024,
    };
    assert_eq!(of("fq_codel"), (10_240, Discipline::FqCoDel(fq)));
    let pie = PieSetting {
        target: ms(15),
        update: ms(15),
        alpha: 0.125,
        beta: 1.25,
        max_burst: ms(150),
        ecn: false,
    };
    assert_eq!(of("pie"), (1_000, Discipline::Pie(pie)));
    // a bare value stands for the target
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
    let queue = |settings: &[(&str, &str)]| toml(SMALL, settings).unwrap().stations[0].node.queue;
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
        "`cell.ap.queue.red.min_th`: 50 is not below max_th; allowed is less than 50"
    );
    assert_eq!(
        red("{ min_th = 50 }"),
        "`cell.ap.queue.red.max_th`: missing; needed is a number from 0 to 1000000"
    );
    for max_p in ["0", "1.5", "-1"] {
        let said = red(&format!("{{ min_th = 5, max_th = 15, max_p = {max_p} }}"));
        let allowed = "allowed is a number from 0.000001 to 1";
        assert!(said.ends_with(allowed), "{said}");
    }
    assert_eq!(
        red("{ min_th = 5, max_th = 15, weight = \"atuo\" }"),
        "`cell.ap.queue.red.weight`: \"atuo\" is not a number; allowed is \"auto\" or a number \
         from 0 to 1\nhint: did you mean \"auto\"?"
    );
    let disciplines = "threshold, red, proportional, codel, pie, fq_codel";
    assert_eq!(
        refusal(&[("cell.ap.queue.pei", "{}")]),
        format!(
            "`cell.ap.queue.pei`: unknown key; allowed are limit, {disciplines}\n\
             hint: did you mean `pie`?"
        )
    );
    assert_eq!(
        refusal(&[("cell.ap.queue", "{ pie = {}, codel = {} }")]),
        format!(
            "`cell.ap.queue.pie`: a second discipline, after codel; allowed is one of {disciplines}"
        )
    );
    assert_eq!(
        refusal(&[("station.a.queue", "{}")]),
        format!("`station.a.queue`: empty; needed limit or one of {disciplines}")
    );
}

#[test]
fn greedy_sources_and_mixed_order_need_a_plain_fifo() {
    let down = ("station.a.udp_down", "greedy");
    let codel = ("cell.ap.queue.codel", "{}");
    let said = refusal(&[down, codel]);
    assert!(
        said.starts_with("`station.a.udp_down`: greedy, so that"),
        "{said}"
    );
    assert!(toml(SMALL, &[down, ("cell.ap.queue.threshold", "5")]).is_ok());
    assert!(toml(SMALL, &[down, ("station.a.queue.codel", "{}")]).is_ok());
    let mixed = ("cell.ap.queue_order", "mixed");
    let said = refusal(&[mixed, codel]);
    assert!(
        said.contains("contradicts the queue's discipline"),
        "{said}"
    );
    let red = ("cell.ap.queue.red", "{ min_th = 5, max_th = 15 }");
    assert!(toml(SMALL, &[mixed, red]).is_ok());
}
