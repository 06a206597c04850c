//! A queue's table of the file, checked and read; the same wherever there is a queue.

use super::super::grammar::DISCIPLINES;
use super::super::model::{Arrivals, Direction, Ends, QueueOrder, Scenario, Transport};
use super::*;
use crate::notation::decode::{Entry, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::{Origin, Problems};

/// Default limit of a queue with a discipline.
const LIMIT: u32 = 1_000;

/// The same of FQ-CoDel (RFC 8290, section 5.2.3).
const FQ_CODEL_LIMIT: u32 = 10_240;

/// Weight of the queue now that the authors of RED advise (Floyd & Jacobson 1993, section VI).
const PUBLISHED_WEIGHT: f64 = 0.002;

/// The queue at the first of the `places` (table and key) that says something of it.
pub(in super::super) fn at(places: &[(&Section, &str)]) -> Option<QueueSetting> {
    places.iter().find_map(|(table, key)| {
        let by_default = || {
            let limit = Layers(&[*table]).count(key);
            limit.map(QueueSetting::drop_tail)
        };
        table.table(key).map_or_else(by_default, read)
    })
}

/// The disciplines that a queue's table names, in order of the grammar.
fn named(queue: &Section) -> Vec<&'static str> {
    let is_named = |key: &&str| queue.table(key).is_some() || queue.entry(key).is_some();
    DISCIPLINES.iter().copied().filter(is_named).collect()
}

/// The names of the disciplines that a queue may have.
fn known(queue: &Section) -> String {
    let shares = ["cell.ap_queue", "cell.ap.queue"].contains(&queue.path.as_str());
    let names = DISCIPLINES.iter().copied();
    let names: Vec<&str> = names.filter(|name| shares || *name != "vbs").collect();
    names.join(", ")
}

/// Checks the queue under `key` of `table`, if it is given.
pub(in super::super) fn check(table: &Section, key: &str, problems: &mut Problems) {
    let Some(queue) = table.table(key) else {
        return;
    };
    let named = named(queue);
    let is_empty = named.is_empty() && queue.entry("limit").is_none();
    let is_refused = problems.concern(&queue.path) || problems.concern_inside(&queue.path);
    if is_empty && !is_refused {
        let message = format!("empty; needed limit or one of {}", known(queue));
        problems.add(queue.origin, &queue.path, message);
    }
    let origin = |key: &str| {
        let origin = queue.table(key).map(|table| table.origin);
        let origin = origin.or(queue.entry(key).map(|entry| entry.origin));
        origin.unwrap_or(queue.origin)
    };
    let is_set = |key: &&str| matches!(origin(key), Origin::Setting(_));
    // what was set comes after what the file says
    let (set, mut inside): (Vec<&str>, Vec<&str>) = named.iter().copied().partition(is_set);
    let hint = (!set.is_empty() && !inside.is_empty()).then(|| {
        let whole = format!("{}={{ {} = ... }}", queue.path, set[0]);
        format!("`{whole}` replaces the whole queue")
    });
    inside.extend(set);
    if let [first, second, ..] = inside[..] {
        let message = format!(
            "a second discipline, after {first}; allowed is one of {}",
            known(queue)
        );
        let path = format!("{}.{second}", queue.path);
        problems.add_with_hint(origin(second), &path, message, hint);
    }
    if let Some(red) = queue.table("red")
        && let (Some(min), Some(max)) = (red.entry("min_th"), red.entry("max_th"))
        && let (Some(min_th), Some(max_th)) = (min.number(), max.number())
        && min_th >= max_th
    {
        let message = format!(
            "{} is not below max_th; allowed is less than {}",
            min.shown, max.shown
        );
        problems.add(min.origin, &min.path, message);
    }
    check_limit(queue, problems);
    for discipline in ["codel", "fq_codel"] {
        if let Some(codel) = queue.table(discipline)
            && let (Some(target), Some(interval)) = (codel.entry("target"), codel.entry("interval"))
            && let (Some(target_span), Some(interval_span)) =
                (target.duration(), interval.duration())
            && target_span >= interval_span
        {
            let message = format!(
                "{} is not below interval; allowed is less than {}",
                target.shown, interval.shown
            );
            problems.add(target.origin, &target.path, message);
        }
    }
}

/// A discipline that begins where the queue ends would do nothing, and neither would a limit beyond
/// a threshold.
fn check_limit(queue: &Section, problems: &mut Problems) {
    if let Some(threshold) = queue.entry("threshold")
        && let (Some(packets), Some(limit)) = (threshold.count(), queue.entry("limit"))
        && let Some(most) = limit.count()
    {
        let is_set = |entry: &Entry| matches!(entry.origin, Origin::Setting(_));
        // a file whose threshold is a setting keeps the limit that it has for other disciplines
        let over_the_file = is_set(threshold) && !is_set(limit);
        if most < packets || most > packets && !over_the_file {
            let message = format!(
                "{} beside a threshold of {}, which is the limit of its queue; allowed is one of the \
                 two",
                limit.shown, threshold.shown
            );
            let hint = over_the_file.then(|| {
                let whole = format!("{}={{ threshold = {} }}", queue.path, threshold.shown);
                format!("`{whole}` replaces the whole queue")
            });
            problems.add_with_hint(limit.origin, &limit.path, message, hint);
        }
        return;
    }
    let red = queue.table("red");
    // of bytes: a queue may hold packets longer than the mean
    let counts_packets = red.and_then(|red| red.entry("bytes")?.flag()) == Some(false);
    let min_th = red
        .filter(|_| counts_packets)
        .and_then(|red| red.entry("min_th"));
    let Some((entry, least)) = min_th.and_then(|entry| Some((entry, entry.number()?))) else {
        return;
    };
    let given = queue.entry("limit");
    let limit = match given {
        Some(limit) => limit.count(),
        None if queue.lacks("limit") => None,
        None => Some(u64::from(LIMIT)),
    };
    // RED's average never gets to the limit
    if limit.is_none_or(|limit| limit as f64 > least) {
        return;
    }
    match given {
        Some(given) => {
            let message = format!(
                "{} keeps the queue from red.min_th; allowed is more than {}",
                given.shown,
                least.floor()
            );
            problems.add(given.origin, &given.path, message);
        }
        None => {
            let message = format!(
                "{} is never reached by a queue of {LIMIT}; allowed is less",
                entry.shown
            );
            let hint = format!("`{}.limit` sets what it holds", queue.path);
            problems.add_with_hint(entry.origin, &entry.path, message, Some(hint));
        }
    }
}

fn read(queue: &Section) -> Option<QueueSetting> {
    let limit = Layers(&[queue]).count("limit");
    let discipline = match named(queue).first() {
        None => Discipline::DropTail,
        Some(&"threshold") => Discipline::Threshold {
            packets: Layers(&[queue]).count("threshold")?,
        },
        Some(&key) => {
            let table = queue.table(key)?;
            match key {
                "red" => Discipline::Red(red(table)?),
                "proportional" => Discipline::Proportional(ProportionalSetting {
                    slope: table.entry("slope")?.number()?,
                    ecn: table.entry("ecn")?.flag()?,
                }),
                "pie" => Discipline::Pie(pie(table)?),
                "codel" => Discipline::CoDel(codel(table)?),
                "vbs" => Discipline::Vbs(vbs(table, limit.unwrap_or(LIMIT))?),
                _ => Discipline::FqCoDel(FqCoDelSetting {
                    codel: codel(table)?,
                    quantum_bytes: table.entry("quantum")?.size()?,
                    queues: Layers(&[table]).count("queues")?,
                }),
            }
        }
    };
    let default_limit = match discipline {
        Discipline::Threshold { packets } => packets,
        Discipline::FqCoDel(_) => FQ_CODEL_LIMIT,
        _ => LIMIT,
    };
    Some(QueueSetting {
        limit_packets: limit.unwrap_or(default_limit),
        discipline,
    })
}

fn red(table: &Section) -> Option<RedSetting> {
    let is_ns2 = table.entry("form")?.word()? == "ns-2";
    let flag = |key: &str| table.entry(key).and_then(Entry::flag);
    Some(RedSetting {
        form: if is_ns2 {
            RedForm::Ns2
        } else {
            RedForm::Published
        },
        min_th: table.entry("min_th")?.number()?,
        max_th: table.entry("max_th")?.number()?,
        max_p: table.entry("max_p")?.number()?,
        weight: match table.entry("weight").map(|entry| entry.number()) {
            Some(Some(0.0)) => RedWeight::PerSecond,
            Some(Some(weight)) => RedWeight::Given(weight),
            Some(None) => RedWeight::Auto,
            None if is_ns2 => RedWeight::Auto,
            None => RedWeight::Given(PUBLISHED_WEIGHT),
        },
        gentle: flag("gentle").unwrap_or(is_ns2),
        wait: flag("wait").unwrap_or(is_ns2),
        bytes: flag("bytes")?,
        ecn: flag("ecn")?,
        mean_packet_bytes: table.entry("mean_packet")?.size()?,
    })
}

fn codel(table: &Section) -> Option<CoDelSetting> {
    let own = Layers(&[table]);
    Some(CoDelSetting {
        target: own.duration("target")?,
        interval: own.duration("interval")?,
        ecn: own.entry("ecn")?.flag()?,
    })
}

fn vbs(table: &Section, limit: u32) -> Option<VbsSetting> {
    let room = f64::from(limit);
    Some(VbsSetting {
        occupancy: table.entry("occupancy")?.number()?,
        tol: match table.entry("tol") {
            Some(tol) => tol.number()?,
            None => 1.0 / (room * room),
        },
        share_of: match table.entry("share_of")?.word()? {
            "service" => ShareOf::Service,
            _ => ShareOf::Queue,
        },
        law: match table.entry("algorithm")?.word()? {
            "printed" => Law::Printed,
            "regulated" => Law::Regulated,
            _ => Law::Corrected,
        },
        update: Layers(&[table]).duration("update"),
    })
}

fn pie(table: &Section) -> Option<PieSetting> {
    let own = Layers(&[table]);
    Some(PieSetting {
        target: own.duration("target")?,
        update: own.duration("update")?,
        alpha: own.entry("alpha")?.number()?,
        beta: own.entry("beta")?.number()?,
        max_burst: own.duration("max_burst")?,
        ecn: own.entry("ecn")?.flag()?,
    })
}

/// What cannot go with a discipline: a greedy source, which fills a queue up to its limit, and an
/// order of service where the discipline has its own.
pub(in super::super) fn check_sources(
    root: &Section,
    scenario: &Scenario,
    problems: &mut Problems,
) {
    let ap = &scenario.cell.ap.queue;
    if scenario.cell.ap_queue_order == QueueOrder::Mixed
        && matches!(ap.discipline, Discipline::CoDel(_) | Discipline::FqCoDel(_))
        && let Some(order) = root
            .table("cell")
            .and_then(|cell| cell.table("ap")?.entry("queue_order"))
    {
        let message = format!(
            "{} contradicts the queue's discipline, which chooses the next packet; allowed is \
             \"fifo\"",
            order.shown
        );
        problems.add(order.origin, &order.path, message);
    }
    for flow in &scenario.flows {
        let (Transport::Udp(udp), Ends::Station { station, direction }) =
            (&flow.transport, flow.ends)
        else {
            continue;
        };
        let station = &scenario.stations[station];
        let (queue, key) = match direction {
            Direction::Up => (&station.node.queue, "udp_up"),
            Direction::Down => (ap, "udp_down"),
        };
        if udp.arrivals != Arrivals::Greedy || queue.is_plain() {
            continue;
        }
        let group = root
            .named("station")
            .iter()
            .find(|(name, _)| *name == station.group);
        let Some(source) = group.and_then(|(_, group)| group.table(key)) else {
            continue;
        };
        if !problems.concern(&source.path) {
            let message = "greedy, so that it fills its queue to the limit, which the queue's \
                           discipline would not let it; allowed is a source with a rate, or a \
                           queue with a limit or a threshold alone";
            problems.add(source.origin, &source.path, message.to_owned());
        }
    }
}
