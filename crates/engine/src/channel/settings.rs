//! How good a station's link is, and how that changes during a run: types, tables, checks.

use crate::kernel::time::Span;
use crate::notation::changes::Instants;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::{KeyOf, S, duration, level, probability};
use crate::packet::Direction;
use crate::table;

/// Keys that say how many frames are lost: of a station, and of a change of its channel.
macro_rules! errors {
    (
        $(#[doc = $doc:literal])+
        $name:ident in $table:literal { $($before:tt)* } error = $error:expr; others = $both:expr, $acks:expr,
        $each_ack:expr; $snr_doc:literal snr = $snr:expr; $($after:tt)*
    ) => {
        table! {
            $(#[doc = $doc])+
            pub struct $name in $table {
                $($before)*
                /// Probability per attempt that a data frame is lost to channel errors, in both directions.
                error: Option<f64> = $error;
                /// Probability per attempt that a data frame from the station is lost to channel errors.
                error_up: Option<f64> = $both;
                /// Probability per attempt that a data frame to the station is lost to channel errors.
                error_down: Option<f64> = $both;
                /// Probability per attempt that a frame with only a TCP ACK is lost to channel errors, in both directions.
                ack_error: Option<f64> = $acks;
                /// Probability per attempt that a frame from the station with only a TCP ACK is lost to channel errors.
                ack_error_up: Option<f64> = $each_ack;
                /// Probability per attempt that a frame to the station with only a TCP ACK is lost to channel errors.
                ack_error_down: Option<f64> = $each_ack;
                #[doc = $snr_doc]
                snr_db as "snr": Option<f64> = $snr;
                $($after)*
            }
        }
    };
}

errors! {
    /// Channel errors of a station.
    ErrorKeys in "errors" {}
    error = probability().default(0.0);
    others = probability().depends("the value of error"),
        probability().depends("the error probability of data frames, in each direction"),
        probability().depends("the value of ack_error");
    " Signal-to-noise ratio in both directions, in place of error probabilities. The loss probability of each frame then follows from its rate and length."
    snr = level(-20.0..=60.0).absent("none");
    /// Changes of the channel during the run, by name. From the time `at` on, the values of the table apply.
    key channel: ChangeTable = crate::notation::setting::tables().absent("none");
}

errors! {
    /// Channel of a station from a given time until its next change. Absent keys have the values of the station's table.
    ChangeTable in "channel" {
        /// Time of the change, after the start of the run.
        at: Span = duration(1..=1_000_000 * S).required();
    }
    error = probability().absent("the value in the station's table");
    others = probability().absent("the value in the station's table"), probability().absent("the value in the station's table"),
        probability().absent("the value in the station's table");
    " Signal-to-noise ratio in both directions, in place of error probabilities."
    snr = level(-20.0..=60.0).absent("no ratio; the error probabilities apply");
}

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
    /// Signal-to-noise ratio, which decides the errors of every frame by its rate and length where it is
    /// given; the probabilities above are then those of full segments and of ACKs at the nominal rates.
    /// [dB]
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
    /// Frames are lost to noise, at a signal-to-noise ratio.
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

    /// Whether it loses frames.
    pub(crate) fn has_errors(&self) -> bool {
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

/// Keys that give probabilities; the table of a change has the same keys.
const ERRORS: [KeyOf<Option<f64>>; 6] = [
    ErrorKeys::error,
    ErrorKeys::error_up,
    ErrorKeys::error_down,
    ErrorKeys::ack_error,
    ErrorKeys::ack_error_up,
    ErrorKeys::ack_error_down,
];

impl Channel {
    /// Checks what a table of stations says of its channel in a run of this `duration`.
    pub(crate) fn check(station: &Section, duration: Option<Span>, problems: &mut Problems) {
        check_ratio(station, problems);
        let mut instants = Instants::within(duration);
        for (name, change) in station.tables(ErrorKeys::channel) {
            change.check_name(name, problems);
            check_ratio(change, problems);
            let mut keys = ERRORS.into_iter().chain([ErrorKeys::snr_db]);
            if !keys.any(|key| change.said(key).is_some() || change.lacks(key)) {
                let message = "this table changes nothing; expected `snr`, `error` or another \
                               error probability";
                problems.add(change.origin, &change.path, message.to_owned());
            }
            instants.check(change, ChangeTable::at, problems);
        }
    }

    /// The channel that the tables describe, nearest first; a signal-to-noise ratio counts only in the
    /// first table.
    ///
    /// # Errors
    /// A value has been refused.
    pub(crate) fn read(tables: &[&Section]) -> Result<Channel, Refused> {
        let layers = Layers(tables);
        // the nearest table that has any key of a rank decides, even by a key that stands later in the rank
        let nearest = |ranks: &[&[KeyOf<Option<f64>>]]| {
            for keys in ranks {
                for table in tables {
                    for key in *keys {
                        if let Some(error) = Layers(&[table]).value(*key)?.flatten() {
                            return Ok(error);
                        }
                    }
                }
            }
            Err(layers.lack(ErrorKeys::error))
        };
        let up: &[_] = &[ErrorKeys::error_up, ErrorKeys::error];
        let down: &[_] = &[ErrorKeys::error_down, ErrorKeys::error];
        let snr = match tables.first() {
            Some(first) => Layers(&[first]).value(ErrorKeys::snr_db)?,
            None => None,
        };
        Ok(Channel {
            error_up: nearest(&[up])?,
            error_down: nearest(&[down])?,
            ack_error_up: nearest(&[&[ErrorKeys::ack_error_up, ErrorKeys::ack_error], up])?,
            ack_error_down: nearest(&[&[ErrorKeys::ack_error_down, ErrorKeys::ack_error], down])?,
            snr_db: snr.flatten(),
        })
    }

    /// The changes of a station's channel, in order of time.
    ///
    /// # Errors
    /// A value has been refused.
    pub(crate) fn changes(station: &Section) -> Result<Vec<ChannelChange>, Refused> {
        let mut changes: Vec<ChannelChange> = Vec::new();
        for (_, own) in station.tables(ErrorKeys::channel) {
            let at = Layers(&[own]).need(ChangeTable::at)?;
            let channel = Channel::read(&[own, station])?;
            let place = changes.partition_point(|earlier| earlier.at <= at);
            changes.insert(place, ChannelChange { at, channel });
        }
        Ok(changes)
    }

    /// Where a signal-to-noise ratio is given, fills in the errors of frames of `data_bytes` with data
    /// and of `ack_bytes` with an ACK, headers included, which `error` tells by way, length and ratio.
    pub(crate) fn hear_noise(
        &mut self,
        data_bytes: u32,
        ack_bytes: u32,
        error: impl Fn(Direction, u32, f64) -> f64,
    ) {
        let Some(snr_db) = self.snr_db else {
            return;
        };
        self.error_up = error(Direction::Up, data_bytes, snr_db);
        self.error_down = error(Direction::Down, data_bytes, snr_db);
        self.ack_error_up = error(Direction::Up, ack_bytes, snr_db);
        self.ack_error_down = error(Direction::Down, ack_bytes, snr_db);
    }
}

/// A signal-to-noise ratio decides all errors, so that no probability may stand beside it.
fn check_ratio(table: &Section, problems: &mut Problems) {
    let Some(snr) = table.said(ErrorKeys::snr_db) else {
        return;
    };
    // an error of 0 is no contradiction: it is the default of `error`
    let said = ERRORS.into_iter().filter_map(|key| table.said(key));
    for said in said.filter(|said| said.value != Some(0.0)) {
        let message = format!(
            "{} conflicts with `snr` = {}; expected one of the two",
            said.shown, snr.shown
        );
        problems.add(said.origin, &said.path, message);
    }
}
