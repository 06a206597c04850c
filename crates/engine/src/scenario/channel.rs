//! How good a station's link is, and how that changes during a run: types, checks, assembly.

use super::model::{Cell, Station};
use crate::channel::frame_error;
use crate::kernel::time::Span;
use crate::notation::decode::{Entry, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, one_line};
use crate::notation::units::{self, TIME};
use crate::notation::value::{NAMES, fault_of_name};

/// What channel errors do to the frames between the access point and one station.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Channel {
    /// Probability that a frame with data from the station is lost to channel errors, per attempt.
    pub error_up: f64,
    /// The same to the station.
    pub error_down: f64,
    /// Probability that a frame with a TCP ACK alone, from the station, is lost to channel errors.
    pub ack_error_up: f64,
    /// The same to the station.
    pub ack_error_down: f64,
    /// Signal-to-noise ratio, which then says the errors of every frame by its rate and length; the
    /// probabilities are those of full segments and of ACKs at the nominal rates. [dB]
    pub snr_db: Option<f64>,
}

/// A station's channel from some instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelChange {
    /// When it begins, after the start of the run.
    pub at: Span,
    /// What it is from then on, until the next change.
    pub channel: Channel,
}

/// How good a link is, one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quality {
    /// Frames are lost with these probabilities, whatever their rate and length.
    Given {
        /// Frames with data.
        data: f64,
        /// Frames with a TCP ACK alone.
        ack: f64,
    },
    /// A signal-to-noise ratio says it.
    Snr {
        /// The ratio. [dB]
        db: f64,
    },
}

impl Channel {
    /// Quality of the link from the station.
    pub fn quality_up(&self) -> Quality {
        self.quality(self.error_up, self.ack_error_up)
    }

    /// Quality of the link to the station.
    pub fn quality_down(&self) -> Quality {
        self.quality(self.error_down, self.ack_error_down)
    }

    fn has_errors(&self) -> bool {
        let errors = [
            self.error_up,
            self.error_down,
            self.ack_error_up,
            self.ack_error_down,
        ];
        self.snr_db.is_some() || errors.iter().any(|&error| error > 0.0)
    }

    fn quality(&self, data: f64, ack: f64) -> Quality {
        match self.snr_db {
            Some(db) => Quality::Snr { db },
            None => Quality::Given { data, ack },
        }
    }
}

impl Station {
    /// Whether channel errors lose some of its frames, at some time.
    pub fn has_errors(&self) -> bool {
        let changes = self.channel_changes.iter().map(|change| &change.channel);
        std::iter::once(&self.channel)
            .chain(changes)
            .any(Channel::has_errors)
    }
}

/// Keys that say probabilities.
const ERRORS: [&str; 6] = [
    "error",
    "error_up",
    "error_down",
    "ack_error",
    "ack_error_up",
    "ack_error_down",
];

/// Checks what a table of stations says of its channel.
pub(super) fn check(root: &Section, station: &Section, problems: &mut Problems) {
    check_ratio(station, problems);
    let duration = root.entry("duration").and_then(Entry::duration);
    let mut starts: Vec<(Span, &str)> = Vec::new();
    for (name, change) in station.named("channel") {
        if let Some(fault) = fault_of_name(name) {
            let message = format!("\"{}\" {fault}; allowed {NAMES}", one_line(name, 40));
            problems.add(change.origin, &change.path, message);
        }
        check_ratio(change, problems);
        let says = |key: &&str| change.entry(key).is_some() || change.lacks(key);
        if !ERRORS.iter().chain(&["snr"]).any(says) {
            let message = "changes nothing; needed is `snr`, `error` or one of its kin";
            problems.add(change.origin, &change.path, message.to_owned());
        }
        let Some(entry) = change.entry("at") else {
            continue;
        };
        let Some(at) = entry.duration() else { continue };
        if let Some(duration) = duration.filter(|&duration| at >= duration) {
            let message = format!(
                "{} is not before the end; allowed is less than the duration of {}",
                entry.shown,
                units::show(duration.0, TIME)
            );
            problems.add(entry.origin, &entry.path, message);
        }
        if let Some((_, other)) = starts.iter().find(|(other, _)| *other == at) {
            let message = format!(
                "{} is the time of `{other}` too; allowed are different times",
                entry.shown
            );
            problems.add(entry.origin, &entry.path, message);
        }
        starts.push((at, &change.path));
    }
}

/// A signal-to-noise ratio says all errors.
fn check_ratio(table: &Section, problems: &mut Problems) {
    let Some(snr) = table.entry("snr") else {
        return;
    };
    // `error` has a default, which says nothing
    let given = |entry: &&Entry| entry.probability() != Some(0.0);
    for entry in ERRORS
        .iter()
        .filter_map(|key| table.entry(key))
        .filter(given)
    {
        let message = format!(
            "{} beside `snr` = {}; allowed is one of the two",
            entry.shown, snr.shown
        );
        problems.add(entry.origin, &entry.path, message);
    }
}

/// What the tables say, the nearest first; a ratio counts only in the first.
pub(super) fn channel(tables: &[&Section]) -> Option<Channel> {
    let error = |layers: &[&[&str]]| {
        let mut keys = layers.iter().flat_map(|names| {
            tables
                .iter()
                .flat_map(|table| names.iter().filter_map(|name| table.entry(name)))
        });
        keys.next().and_then(Entry::probability)
    };
    let (up, down) = (["error_up", "error"], ["error_down", "error"]);
    let ratio = |table: &&Section| table.entry("snr").and_then(Entry::number);
    Some(Channel {
        error_up: error(&[&up])?,
        error_down: error(&[&down])?,
        ack_error_up: error(&[&["ack_error_up", "ack_error"], &up])?,
        ack_error_down: error(&[&["ack_error_down", "ack_error"], &down])?,
        snr_db: tables.first().and_then(ratio),
    })
}

/// The changes of a station's channel, in order of time.
pub(super) fn changes(station: &Section) -> Option<Vec<ChannelChange>> {
    let change = |(_, own): &(String, Section)| {
        Some(ChannelChange {
            at: own.entry("at")?.duration()?,
            channel: channel(&[own, station])?,
        })
    };
    let changes = station.named("channel").iter().map(change);
    let mut changes = changes.collect::<Option<Vec<_>>>()?;
    changes.sort_by_key(|change| change.at);
    Some(changes)
}

/// Where a signal-to-noise ratio is given, the errors of full segments and of ACKs.
pub(super) fn hear_noise(
    station: &mut Station,
    root: &Section,
    section: &Section,
    cell: &Cell,
) -> Option<()> {
    let layers = Layers(&[section.table("tcp")?, root.table("tcp")?]);
    let (mss, header) = (layers.size("mss")?, layers.size("header")?);
    let (up_bps, down_bps) = (station.rate_bps, station.downlink_rate_bps);
    let changes = station.channel_changes.iter_mut();
    let changes = changes.map(|change| &mut change.channel);
    for channel in std::iter::once(&mut station.channel).chain(changes) {
        let Some(snr_db) = channel.snr_db else {
            continue;
        };
        let error = |rate_bps, bytes| frame_error(rate_bps, cell.frame_bytes(bytes), snr_db);
        channel.error_up = error(up_bps, mss + header);
        channel.error_down = error(down_bps, mss + header);
        channel.ack_error_up = error(up_bps, header);
        channel.ack_error_down = error(down_bps, header);
    }
    Some(())
}
