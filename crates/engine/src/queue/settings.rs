//! What a file says of a queue: its limit and at most one discipline.
//!
//! A discipline is one line of the list below; what it says of itself stands in its own file.

use super::buffer_sharing::{SharingSetting, SharingTable};
use super::codel::CoDelSetting;
use super::fq_codel::FqCoDelSetting;
use super::outside::OutsideDiscipline;
use super::pi::PiSetting;
use super::pie::PieSetting;
use super::proportional::ProportionalSetting;
use super::red::RedSetting;
use super::{Admission, Managed, Outlet};
use crate::kernel::streams::Stream;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Origin, Problems, Refused};
use crate::notation::setting::{
    FileTable, Json, JsonObject, KeyOf, Parts, Spec, count, inner, shorthand,
};
use crate::notation::table::Table;

/// Limit of a queue with a discipline that has no other. [packets]
pub(crate) const USUAL_LIMIT: u32 = 1_000;

/// A queue: its limit and its discipline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSetting {
    /// Most packets, waiting plus the one in service; at least 1.
    pub limit_packets: u32,
    /// What decides which packets are lost or marked, and which is next.
    pub discipline: Discipline,
}

/// What the table of a discipline says beside its keys.
pub(crate) trait OfDiscipline: FileTable {
    /// Limit of a queue that says none. [packets]
    const LIMIT: u32 = USUAL_LIMIT;

    /// Packets may be marked.
    fn marks(&self) -> bool;

    /// It chooses the next packet, so that there is no order for anybody else to choose.
    fn orders(&self) -> bool {
        false
    }

    /// The discipline of an empty queue of `limit` packets in front of `outlet`.
    fn managed(self, limit: u32, outlet: Outlet, stream: Stream) -> Managed;

    /// What its values must satisfy together, and with the queue's limit.
    fn check(_queue: &Section, _own: &Section, _problems: &mut Problems) {}
}

/// Disciplines with a table of their own: variant, settings, key, how the table may be written.
macro_rules! disciplines {
    ( $( $(#[doc = $doc:literal])+ $variant:ident($settings:ident) as $key:literal = $spec:expr; )+ ) => {
        /// How a queue is managed.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Discipline {
            /// First in, first out; what finds the queue full is lost.
            DropTail,
            /// What finds this many packets is lost: drop-tail by another name.
            Threshold {
                /// Packets, the one in service included; at least 1.
                packets: u32,
            },
            /// Classes of flows share it; the access point's alone.
            BufferSharing(SharingSetting),
            /// One of another crate.
            Outside(OutsideDiscipline),
            $( $(#[doc = $doc])+ $variant($settings), )+
        }

        impl Discipline {
            /// Packets may be marked.
            fn marks(&self) -> bool {
                match self {
                    Discipline::DropTail | Discipline::Threshold { .. } | Discipline::BufferSharing(_) => false,
                    Discipline::Outside(outside) => outside.marks(),
                    $( Discipline::$variant(settings) => settings.marks(), )+
                }
            }

            /// It chooses the next packet itself.
            pub(crate) fn orders(&self) -> bool {
                match self {
                    Discipline::DropTail
                    | Discipline::Threshold { .. }
                    | Discipline::BufferSharing(_)
                    | Discipline::Outside(_) => false,
                    $( Discipline::$variant(settings) => settings.orders(), )+
                }
            }

            /// The discipline of an empty queue of `limit` packets in front of `outlet`. Classes are
            /// known to the access point alone: elsewhere a queue that they would share is drop-tail.
            fn managed(&self, limit: u32, outlet: Outlet, stream: Stream) -> Managed {
                match self {
                    Discipline::DropTail | Discipline::BufferSharing(_) => Admission::DropTail(limit).into(),
                    Discipline::Threshold { packets } => {
                        Admission::DropTail(limit.min(*packets)).into()
                    }
                    Discipline::Outside(outside) => outside.managed(limit, outlet, stream),
                    $( Discipline::$variant(settings) => settings.managed(limit, outlet, stream), )+
                }
            }

            /// Its name and parameters in the normalised scenario.
            fn json(&self, limit_packets: u32) -> JsonObject {
                match self {
                    Discipline::DropTail => named("drop_tail", Json::Null),
                    Discipline::Threshold { packets } => {
                        let mut json = named("threshold", Json::Null);
                        json.insert("threshold_packets".to_owned(), Json::from(*packets));
                        json.insert("limit_packets".to_owned(), Json::from(limit_packets));
                        json
                    }
                    Discipline::BufferSharing(settings) => named("vbs", settings.json(limit_packets)),
                    Discipline::Outside(outside) => named(outside.name(), outside.json()),
                    $( Discipline::$variant(settings) => named($key, settings.json()), )+
                }
            }

            /// The discipline that a queue's table names, and the limit of a queue that says none.
            fn read(queue: &Section) -> Result<(Discipline, u32), Refused> {
                if let Some(packets) = Layers(&[queue]).value(THRESHOLD)? {
                    return Ok((Discipline::Threshold { packets }, packets));
                }
                if let Some(own) = queue.table(BUFFER_SHARING.name()) {
                    let limit = Layers(&[queue]).value(LIMIT)?.unwrap_or(USUAL_LIMIT);
                    let settings = SharingTable::read(&Layers(&[own]))?.with_limit(limit);
                    return Ok((Discipline::BufferSharing(settings), USUAL_LIMIT));
                }
                $( if let Some(own) = queue.table($key) {
                    let settings = $settings::read(&Layers(&[own]))?;
                    return Ok((Discipline::$variant(settings), <$settings as OfDiscipline>::LIMIT));
                } )+
                for (_, brought, own) in queue.from_outside() {
                    if let Some(outside) = OutsideDiscipline::read(brought, own)? {
                        return Ok((Discipline::Outside(outside), USUAL_LIMIT));
                    }
                }
                Ok((Discipline::DropTail, USUAL_LIMIT))
            }

            /// Checks the tables of disciplines against themselves and the queue.
            fn check(queue: &Section, problems: &mut Problems) {
                $( if let Some(own) = queue.table($key) {
                    <$settings as OfDiscipline>::check(queue, own, problems);
                } )+
            }

            /// Adds their keys to those of a queue.
            fn keys(parts: &mut Parts) {
                $( {
                    let spec: Spec<$settings> = $spec;
                    parts.own(spec.absent("none").key(KeyOf::new($key), concat!($($doc),+)));
                } )+
            }
        }

        /// Keys of queues that name a discipline, of which a queue has at most one.
        pub(crate) const DISCIPLINES: &[&str] = &[THRESHOLD.name(), $( $key, )+ BUFFER_SHARING.name()];
    };
}

disciplines! {
    /// Random early detection.
    Red(RedSetting) as "red" = inner();
    /// Drops with a probability proportional to the backlog.
    Proportional(ProportionalSetting) as "proportional" = inner();
    /// CoDel (RFC 8289).
    CoDel(CoDelSetting) as "codel" = shorthand(CoDelSetting::target);
    /// PI of Hollot, Misra, Towsley and Gong (INFOCOM 2001).
    Pi(PiSetting) as "pi" = shorthand(PiSetting::target);
    /// PIE (RFC 8033).
    Pie(PieSetting) as "pie" = shorthand(PieSetting::target);
    /// FQ-CoDel (RFC 8290).
    FqCoDel(FqCoDelSetting) as "fq_codel" = shorthand(FqCoDelSetting::target);
}

const LIMIT: KeyOf<u32> = KeyOf::new("limit");
const THRESHOLD: KeyOf<u32> = KeyOf::new("threshold");
pub(crate) const BUFFER_SHARING: KeyOf<SharingTable> = KeyOf::new("vbs");

fn named(discipline: &str, parameters: Json) -> JsonObject {
    let mut json = JsonObject::new();
    json.insert("discipline".to_owned(), Json::from(discipline));
    if let Json::Object(parameters) = parameters {
        json.extend(parameters);
    }
    json
}

/// A queue; a bare number is its limit.
pub(crate) fn queue() -> Spec<QueueSetting> {
    shorthand(LIMIT)
}

/// The queue of the access point, which knows stations.
pub(crate) fn ap_queue() -> Spec<ApQueue> {
    shorthand(LIMIT)
}

/// The queue of the access point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ApQueue(pub QueueSetting);

/// The keys of any queue.
fn keys() -> Parts {
    let mut parts = Parts::default();
    let limit: Spec<u32> = count(1..=1_000_000);
    parts.own(
        limit
            .depends("1000, with fq_codel 10240, with threshold that")
            .key(LIMIT, "Most packets: waiting plus the one in service."),
    );
    let threshold: Spec<u32> = count(1..=1_000_000);
    parts.own(threshold.absent("none").key(
        THRESHOLD,
        "Threshold policy: a packet that finds this many is lost, which is a drop-tail queue of that limit.",
    ));
    Discipline::keys(&mut parts);
    parts
}

impl FileTable for QueueSetting {
    fn table() -> &'static Table {
        static TABLE: std::sync::LazyLock<Table> = std::sync::LazyLock::new(|| {
            let doc = "A queue: its limit and at most one discipline; without one it is drop-tail.";
            keys().table("queue", doc)
        });
        &TABLE
    }

    /// The queue of the nearest table alone.
    fn read(layers: &Layers) -> Result<QueueSetting, Refused> {
        let Some(queue) = layers.0.first() else {
            return Err(layers.lack(LIMIT));
        };
        let (discipline, usual_limit) = Discipline::read(queue)?;
        let limit = Layers(&[queue]).value(LIMIT)?;
        Ok(QueueSetting {
            limit_packets: limit.unwrap_or(usual_limit),
            discipline,
        })
    }

    /// Name and parameters of the discipline; the limit stands beside it.
    fn json(&self) -> Json {
        Json::Object(self.discipline.json(self.limit_packets))
    }
}

impl FileTable for ApQueue {
    fn table() -> &'static Table {
        static TABLE: std::sync::LazyLock<Table> = std::sync::LazyLock::new(|| {
            let mut parts = keys();
            let buffer_sharing: Spec<SharingTable> = inner();
            parts.own(buffer_sharing.absent("none").key(
                BUFFER_SHARING,
                "Virtual buffer sharing: classes of flows with shares of the access point's queue.",
            ));
            let doc = "The queue of the access point: its limit and at most one discipline; without one it is drop-tail.";
            parts.table("ap_queue", doc)
        });
        &TABLE
    }

    fn read(layers: &Layers) -> Result<ApQueue, Refused> {
        QueueSetting::read(layers).map(ApQueue)
    }

    fn json(&self) -> Json {
        self.0.json()
    }
}

impl QueueSetting {
    /// A drop-tail queue of `limit_packets`.
    pub const fn drop_tail(limit_packets: u32) -> QueueSetting {
        QueueSetting {
            limit_packets,
            discipline: Discipline::DropTail,
        }
    }

    /// The queue under `key` of `table`, or the one that its default makes.
    ///
    /// # Errors
    /// It has been refused.
    pub(crate) fn at<Q>(table: &Section, key: KeyOf<Q>) -> Result<Option<QueueSetting>, Refused> {
        if let Some(queue) = table.table(key.name()) {
            return QueueSetting::read(&Layers(&[queue])).map(Some);
        }
        let limit = Layers(&[table]).value(KeyOf::<u32>::new(key.name()))?;
        Ok(limit.map(QueueSetting::drop_tail))
    }

    /// The queue under `key` of the nearest table that has one.
    ///
    /// # Errors
    /// It has been refused.
    pub(crate) fn nearest<Q>(layers: &Layers, key: KeyOf<Q>) -> Result<QueueSetting, Refused> {
        for table in layers.0 {
            if let Some(queue) = QueueSetting::at(table, key)? {
                return Ok(queue);
            }
        }
        Err(layers.lack(key))
    }

    /// Most packets that the queue ever holds.
    pub fn most_packets(&self) -> u32 {
        if let Discipline::Threshold { packets } = self.discipline {
            return packets.min(self.limit_packets);
        }
        self.limit_packets
    }

    /// Packets may be marked.
    pub fn marks(&self) -> bool {
        self.discipline.marks()
    }

    /// The discipline of an empty queue in front of `outlet`.
    pub fn managed(&self, outlet: Outlet, stream: Stream) -> Managed {
        self.discipline.managed(self.limit_packets, outlet, stream)
    }

    /// Nothing but the number of packets decides what is lost.
    pub fn is_plain(&self) -> bool {
        matches!(
            self.discipline,
            Discipline::DropTail | Discipline::Threshold { .. }
        )
    }

    /// Checks the queue under `key` of `table`, if it is given.
    pub(crate) fn check<Q>(table: &Section, key: KeyOf<Q>, problems: &mut Problems) {
        if let Some(queue) = table.table(key.name()) {
            check_disciplines(queue, problems);
            check_threshold(queue, problems);
            Discipline::check(queue, problems);
        }
    }
}

/// A queue says something, and has one discipline at most.
fn check_disciplines(queue: &Section, problems: &mut Problems) {
    let is_named = |key: &&str| queue.table(key).is_some() || queue.entry(key).is_some();
    let named = DISCIPLINES.iter().copied().filter(is_named);
    let named: Vec<&str> = named
        .chain(queue.from_outside().map(|(key, ..)| key))
        .collect();
    let is_empty = named.is_empty() && queue.entry(LIMIT.name()).is_none();
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
        let path = queue.path(second);
        problems.add_with_hint(origin(second), &path, message, hint);
    }
}

/// The names of the disciplines that a queue may have.
fn known(queue: &Section) -> String {
    let names: Vec<&str> = DISCIPLINES
        .iter()
        .copied()
        .filter(|name| queue.knows(name))
        .collect();
    names.join(", ")
}

/// A limit beyond a threshold would do nothing.
fn check_threshold(queue: &Section, problems: &mut Problems) {
    let (Some(threshold), Some(limit)) = (queue.said(THRESHOLD), queue.said(LIMIT)) else {
        return;
    };
    let is_set = |origin| matches!(origin, Origin::Setting(_));
    // a file whose threshold is a setting keeps the limit that it has for other disciplines
    let over_the_file = is_set(threshold.origin) && !is_set(limit.origin);
    if limit.value < threshold.value || limit.value > threshold.value && !over_the_file {
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
}

/// A discipline that begins where the queue ends would do nothing: its `start` is below the limit.
pub(crate) fn check_start(
    queue: &Section,
    start: &crate::notation::decode::Said<f64>,
    key: &str,
    problems: &mut Problems,
) {
    if queue.entry(THRESHOLD.name()).is_some() {
        return;
    }
    let given = queue.said(LIMIT);
    let limit = match &given {
        Some(limit) => limit.value,
        None if queue.lacks(LIMIT) => return,
        None => USUAL_LIMIT,
    };
    if f64::from(limit) > start.value {
        return;
    }
    match given {
        Some(given) => {
            let message = format!(
                "{} keeps the queue from {key}; allowed is more than {}",
                given.shown,
                start.value.floor()
            );
            problems.add(given.origin, &given.path, message);
        }
        None => {
            let message = format!(
                "{} is never reached by a queue of {USUAL_LIMIT}; allowed is less",
                start.shown
            );
            let hint = format!("`{}.limit` sets what it holds", queue.path);
            problems.add_with_hint(start.origin, &start.path, message, Some(hint));
        }
    }
}
