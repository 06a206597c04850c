//! The keys of a queue: its limit and at most one discipline.
//!
//! Each discipline is one line in the call of the macro `disciplines`. The keys of a discipline are
//! in a separate file.

use serde_json::json;

use super::buffer_sharing::SharingSetting;
use super::cake::CakeSetting;
use super::codel::CoDelSetting;
use super::discipline::{DEFAULT_LIMIT, LIMIT, OfDiscipline, THRESHOLD};
use super::dualpi2::DualPi2Setting;
use super::fq_codel::FqCoDelSetting;
use super::mac80211::Mac80211Setting;
use super::pi::PiSetting;
use super::pie::PieSetting;
use super::plugin::PluginDiscipline;
use super::proportional::ProportionalSetting;
use super::red::RedSetting;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::moving::{Movable, Moving};
use crate::notation::problem::{Origin, Problems, Refused};
use crate::notation::setting::{FileTable, Json, KeyOf, Spec, count, inner, shorthand};
use crate::table;

/// Defines the disciplines that have their own table in a file: variant, type of the settings, key,
/// and forms in which the table may be written.
macro_rules! disciplines {
    ( $( $(#[doc = $doc:literal])+ $variant:ident($settings:ident) as $key:ident = $spec:expr; )+ ) => {
        /// The discipline of a queue.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Discipline {
            /// First in, first out. A packet that finds the queue full is lost.
            DropTail,
            /// Drop-tail with this limit, under the key `threshold`.
            Threshold {
                /// Maximum number of packets, including the packet in service; at least 1.
                packets: u32,
            },
            /// Classes of flows share the queue. Only the access point can have this discipline.
            BufferSharing(SharingSetting),
            /// Queue of a Linux access point. Only the access point can have this discipline.
            Mac80211(Mac80211Setting),
            /// A discipline of another crate.
            Plugin(PluginDiscipline),
            $( $(#[doc = $doc])+ $variant($settings), )+
        }

        table! {
            /// Queue with a limit and at most one discipline. Without a discipline it is drop-tail.
            pub struct QueueSetting in "queue" {
                /// Largest number of packets in the queue, including the packet in service.
                limit_packets as "limit": u32 = count(1..=1_000_000)
                    .hinting(meant)
                    .depends("1000; 10240 with fq_codel or cake, 10000 with dualpi2, 8192 with mac80211; with threshold, the value of threshold"), by limit;
                /// Discipline, which decides which packets are lost or marked, and which packet is next.
                made discipline: Discipline = Discipline::read;
                /// Threshold policy: an arriving packet is lost if the queue holds this many packets. The queue behaves as a drop-tail queue with this limit.
                key threshold: u32 = count(1..=1_000_000).absent("none");
                $( $(#[doc = $doc])+ key $key: $settings = $spec.absent("none"); )+
            }
        }

        impl QueueSetting {
            /// Returns whether packets may be marked.
            pub fn marks(&self) -> bool {
                match &self.discipline {
                    Discipline::DropTail | Discipline::Threshold { .. } | Discipline::BufferSharing(_) => false,
                    Discipline::Mac80211(settings) => settings.marks(),
                    Discipline::Plugin(plugin) => plugin.0.marks,
                    $( Discipline::$variant(settings) => settings.marks(), )+
                }
            }

            /// Returns the name and the parameters of the discipline for the normalised scenario.
            /// The limit is a separate key.
            pub fn to_json(&self) -> Json {
                let limit_packets = self.limit_packets;
                let (name, parameters) = match &self.discipline {
                    Discipline::DropTail => ("drop_tail", Json::Null),
                    Discipline::Threshold { packets } => {
                        let limits = json!({ "threshold_packets": packets, "limit_packets": limit_packets });
                        ("threshold", limits)
                    }
                    Discipline::BufferSharing(settings) => ("vbs", settings.to_json(limit_packets)),
                    Discipline::Mac80211(settings) => ("mac80211", settings.json()),
                    Discipline::Plugin(plugin) => (plugin.0.name, plugin.0.json.clone()),
                    $( Discipline::$variant(settings) => (stringify!($key), settings.json()), )+
                };
                let mut json = json!({ "discipline": name });
                if let (Json::Object(json), Json::Object(parameters)) = (&mut json, parameters) {
                    json.extend(parameters);
                }
                json
            }
        }

        impl Discipline {
            /// Returns whether the discipline selects the next packet, so that no other setting may
            /// define the order.
            pub(crate) fn orders(&self) -> bool {
                match self {
                    Discipline::DropTail
                    | Discipline::Threshold { .. }
                    | Discipline::BufferSharing(_)
                    | Discipline::Plugin(_) => false,
                    Discipline::Mac80211(_) => true,
                    $( Discipline::$variant(_) => <$settings as OfDiscipline>::ORDERS, )+
                }
            }

            /// Returns the default limit of a queue. [packets]
            fn default_limit(&self) -> u32 {
                match self {
                    Discipline::Threshold { packets } => *packets,
                    Discipline::DropTail | Discipline::BufferSharing(_) | Discipline::Plugin(_) => DEFAULT_LIMIT,
                    Discipline::Mac80211(_) => Mac80211Setting::LIMIT,
                    $( Discipline::$variant(_) => <$settings as OfDiscipline>::LIMIT, )+
                }
            }

            /// Returns the discipline in the nearest table of a queue, that is, the first table of
            /// `layers`.
            fn read(layers: &Layers) -> Result<Discipline, Refused> {
                let Some(queue) = layers.0.first() else {
                    return Err(layers.lack(QueueSetting::limit_packets));
                };
                if let Some(packets) = layers.value(QueueSetting::threshold)? {
                    return Ok(Discipline::Threshold { packets });
                }
                if let Some(own) = queue.inside(ApQueue::vbs) {
                    return SharingSetting::read(&Layers(&[own, queue])).map(Discipline::BufferSharing);
                }
                if let Some(own) = queue.inside(ApQueue::mac80211) {
                    return Mac80211Setting::read(&Layers(&[own])).map(Discipline::Mac80211);
                }
                $( if let Some(own) = queue.inside(QueueSetting::$key) {
                    return $settings::read(&Layers(&[own])).map(Discipline::$variant);
                } )+
                for (_, extension, own) in queue.extensions() {
                    if let Some(plugin) = PluginDiscipline::read(extension, own)? {
                        return Ok(Discipline::Plugin(plugin));
                    }
                }
                Ok(Discipline::DropTail)
            }

            /// Returns the current values of the keys that may change at run time.
            pub(super) fn moving(&self) -> Vec<Moving> {
                let inside = |table: &str, keys: Vec<Moving>| -> Vec<Moving> {
                    let keys = keys.into_iter();
                    keys.map(|own| Moving { key: format!("{table}.{}", own.key), ..own }).collect()
                };
                match self {
                    Discipline::DropTail | Discipline::Plugin(_) => Vec::new(),
                    Discipline::Threshold { packets } => vec![packets.at(QueueSetting::threshold.name())],
                    Discipline::BufferSharing(settings) => inside(ApQueue::vbs.name(), settings.moving()),
                    Discipline::Mac80211(settings) => inside(ApQueue::mac80211.name(), settings.moving()),
                    $( Discipline::$variant(settings) => inside(stringify!($key), settings.moving()), )+
                }
            }

            /// Returns this discipline, with the values of `other` for the keys that may change at
            /// run time. If `other` is another discipline, nothing changes.
            pub(super) fn moved_to(&self, other: &Discipline) -> Discipline {
                match (self, other) {
                    (Discipline::Threshold { .. }, &Discipline::Threshold { packets }) => Discipline::Threshold { packets },
                    (Discipline::BufferSharing(own), Discipline::BufferSharing(to)) => {
                        Discipline::BufferSharing(own.moved_to(*to))
                    }
                    (Discipline::Mac80211(own), Discipline::Mac80211(to)) => Discipline::Mac80211(own.moved_to(*to)),
                    $( (Discipline::$variant(own), Discipline::$variant(to)) => Discipline::$variant(own.moved_to(*to)), )+
                    (
                        own @ (Discipline::DropTail
                        | Discipline::Threshold { .. }
                        | Discipline::BufferSharing(_)
                        | Discipline::Mac80211(_)
                        | Discipline::Plugin(_)
                        $( | Discipline::$variant(_) )+),
                        _,
                    ) => own.clone(),
                }
            }

            /// Checks the table of each discipline, also in combination with the other keys of the
            /// queue.
            fn check(queue: &Section, problems: &mut Problems) {
                if let Some(own) = queue.inside(ApQueue::mac80211) {
                    Mac80211Setting::check(queue, own, problems);
                }
                $( if let Some(own) = queue.inside(QueueSetting::$key) {
                    <$settings as OfDiscipline>::check(queue, own, problems);
                } )+
            }
        }

        /// Keys that select the discipline of a queue. A queue may have at most one of these keys.
        pub(crate) const DISCIPLINES: &[&str] = &["threshold", $( stringify!($key), )+ "vbs", "mac80211"];
    };
}

disciplines! {
    /// Random early detection (RED).
    Red(RedSetting) as red = inner();
    /// Queue that drops packets with a probability proportional to the backlog.
    Proportional(ProportionalSetting) as proportional = inner();
    /// CoDel (RFC 8289).
    CoDel(CoDelSetting) as codel = shorthand(CoDelSetting::target);
    /// The PI controller of Hollot, Misra, Towsley and Gong (INFOCOM 2001).
    Pi(PiSetting) as pi = shorthand(PiSetting::target);
    /// PIE (RFC 8033).
    Pie(PieSetting) as pie = shorthand(PieSetting::target);
    /// FQ-CoDel (RFC 8290).
    FqCoDel(FqCoDelSetting) as fq_codel = shorthand(FqCoDelSetting::target);
    /// DualPI2 (RFC 9332).
    DualPi2(DualPi2Setting) as dualpi2 = shorthand(DualPi2Setting::target);
    /// CAKE (tc-cake(8)).
    Cake(CakeSetting) as cake = shorthand(CakeSetting::bandwidth_bps);
}

table! {
    /// Queue of the access point, with a limit and at most one discipline. Without a discipline it is drop-tail.
    pub struct ApQueue in "ap_queue" {
        all_of QueueSetting;
        /// Virtual buffer sharing: classes of flows with shares of the access point's queue.
        key vbs: SharingSetting = inner().absent("none");
        /// Queue of a Linux access point, in a cell that aggregates: FQ-CoDel for each station, turns by air time, and limits on the packets in the device.
        key mac80211: Mac80211Setting = inner().absent("none");
    }
}

/// Returns the specification of a key whose value is a queue. A number without a table is the
/// limit.
pub(crate) fn queue() -> Spec<QueueSetting> {
    shorthand(QueueSetting::limit_packets)
}

/// Returns the specification of a key whose value is the queue of an access point, which also
/// supports disciplines with classes and stations.
pub fn ap_queue() -> Spec<ApQueue> {
    shorthand(QueueSetting::limit_packets)
}

/// Returns the hint for a discipline name that the queue does not support.
fn meant(name: &str) -> Option<String> {
    let known = match name.trim().to_ascii_lowercase().as_str() {
        "cake" => "CAKE is a table, such as `{ cake = {} }`",
        "fq" | "sfq" | "drr" => "queues per flow are modelled as `{ fq_codel = {} }`",
        "fifo" | "pfifo" | "bfifo" | "pfifo_fast" | "droptail" | "drop-tail" | "drop_tail"
        | "noqueue" => "a number is the limit of a drop-tail queue, such as `1000`",
        "ared" | "choke" | "gred" => {
            "of the family of RED, `{ red = { min_th = ..., max_th = ... } }` is modelled"
        }
        "aqm" | "sqm" => "a discipline is a table, such as `{ fq_codel = {} }` or `{ codel = {} }`",
        _ => return None,
    };
    Some(known.to_owned())
}

/// Returns the limit in the table of a queue, or the default limit of the queue's discipline.
fn limit(layers: &Layers) -> Result<u32, Refused> {
    match layers.value(QueueSetting::limit_packets)? {
        Some(limit) => Ok(limit),
        None => Ok(Discipline::read(layers)?.default_limit()),
    }
}

impl QueueSetting {
    /// Returns a drop-tail queue of `limit_packets`.
    pub const fn drop_tail(limit_packets: u32) -> QueueSetting {
        QueueSetting {
            limit_packets,
            discipline: Discipline::DropTail,
        }
    }

    /// Returns the queue under `key` of `table`. If the value is only a limit, the queue is a
    /// drop-tail queue.
    ///
    /// # Errors
    /// `Refused` if the settings of the queue are invalid or missing.
    pub fn at<Q>(table: &Section, key: KeyOf<Q>) -> Result<Option<QueueSetting>, Refused> {
        if let Some(queue) = table.inside(key) {
            return QueueSetting::read(&Layers(&[queue])).map(Some);
        }
        let limit = Layers(&[table]).value(KeyOf::<u32>::new(key.name()))?;
        Ok(limit.map(QueueSetting::drop_tail))
    }

    /// Returns the queue under `key` in the first table of `layers` that contains this key.
    ///
    /// # Errors
    /// `Refused` if the settings of the queue are invalid or missing.
    pub(crate) fn nearest<Q>(layers: &Layers, key: KeyOf<Q>) -> Result<QueueSetting, Refused> {
        for table in layers.0 {
            if let Some(queue) = QueueSetting::at(table, key)? {
                return Ok(queue);
            }
        }
        Err(layers.lack(key))
    }

    /// Returns the current values of the keys that may change at run time. With the key
    /// `threshold`, the limit has the name `threshold`.
    pub fn moving(&self) -> Vec<Moving> {
        let own = self.discipline.moving().into_iter();
        let has_limit = !matches!(self.discipline, Discipline::Threshold { .. });
        let limit = self.limit_packets.at(QueueSetting::limit_packets.name());
        has_limit.then_some(limit).into_iter().chain(own).collect()
    }

    /// Returns these settings, with the values of `other` for the keys that may change at run time.
    /// If `other` has another discipline, nothing changes.
    pub fn moved_to(&self, other: &QueueSetting) -> QueueSetting {
        let kind = std::mem::discriminant::<Discipline>;
        if kind(&self.discipline) != kind(&other.discipline) {
            return self.clone();
        }
        QueueSetting {
            limit_packets: other.limit_packets,
            discipline: self.discipline.moved_to(&other.discipline),
        }
    }

    /// Returns the maximum number of packets in the queue.
    pub fn most_packets(&self) -> u32 {
        if let Discipline::Threshold { packets } = self.discipline {
            return packets.min(self.limit_packets);
        }
        self.limit_packets
    }

    /// Returns whether the discipline is drop-tail, so that losses depend only on the number of
    /// packets.
    pub fn is_plain(&self) -> bool {
        matches!(
            self.discipline,
            Discipline::DropTail | Discipline::Threshold { .. }
        )
    }

    /// Checks the queue under `key` of `table`, if the table contains this key.
    pub fn check<Q>(table: &Section, key: KeyOf<Q>, problems: &mut Problems) {
        if let Some(queue) = table.inside(key) {
            check_disciplines(queue, problems);
            check_threshold(queue, problems);
            Discipline::check(queue, problems);
        }
    }
}

/// Checks that the table of a queue is not empty and has at most one discipline.
fn check_disciplines(queue: &Section, problems: &mut Problems) {
    let place = |key: &'static str| {
        let origin = queue.table(key).map(|table| table.origin);
        let origin = origin.or(queue.entry(key).map(|entry| entry.origin));
        Some((key, origin?))
    };
    let outside = queue.extensions().map(|(key, ..)| key);
    let all = DISCIPLINES.iter().copied().chain(outside);
    let named: Vec<(&str, Origin)> = all.filter_map(place).collect();
    let is_empty = named.is_empty() && queue.entry(QueueSetting::limit_packets.name()).is_none();
    let is_refused = problems.concern(&queue.path) || problems.concern_inside(&queue.path);
    if is_empty && !is_refused {
        let message = format!(
            "the table is empty; expected limit, or one of {}",
            names_for(queue)
        );
        problems.add(queue.origin, &queue.path, message);
    }
    let is_set = |(_, origin): &(&str, Origin)| matches!(origin, Origin::Setting(_));
    // disciplines that an override sets come after the disciplines of the file
    let (set, mut inside): (Vec<_>, Vec<_>) = named.into_iter().partition(is_set);
    let hint = (!set.is_empty() && !inside.is_empty()).then(|| {
        let setting = format!("{}={{ {} = ... }}", queue.path, set[0].0);
        format!("`{setting}` replaces the whole queue")
    });
    inside.extend(set);
    if let [(first, _), (second, origin), ..] = inside[..] {
        let message = format!(
            "a second discipline in addition to {first}; expected one of {}",
            names_for(queue)
        );
        problems.add_with_hint(origin, &queue.path(second), message, hint);
    }
}

/// Returns the names of the disciplines that a queue may have.
fn names_for(queue: &Section) -> String {
    let names = DISCIPLINES.iter().copied();
    let names: Vec<&str> = names.filter(|name| queue.knows(name)).collect();
    names.join(", ")
}

/// Reports a limit that has no effect because the key `threshold` sets the limit.
fn check_threshold(queue: &Section, problems: &mut Problems) {
    let (Some(threshold), Some(limit)) = (queue.located(THRESHOLD), queue.located(LIMIT)) else {
        return;
    };
    let is_set = |origin| matches!(origin, Origin::Setting(_));
    // a threshold that an override sets does not conflict with a limit that the file sets for
    // another discipline
    let over_the_file = is_set(threshold.origin) && !is_set(limit.origin);
    if limit.value < threshold.value || limit.value > threshold.value && !over_the_file {
        let message = format!(
            "{} conflicts with a threshold of {}, which is the limit of its queue; expected one of the \
             two",
            limit.shown, threshold.shown
        );
        let hint = over_the_file.then(|| {
            let setting = format!("{}={{ threshold = {} }}", queue.path, threshold.shown);
            format!("`{setting}` replaces the whole queue")
        });
        problems.add_with_hint(limit.origin, &limit.path, message, hint);
    }
}
