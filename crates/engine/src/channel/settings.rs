//! Channel of a station and its changes during a run: types, tables of the scenario file, and
//! checks.

use crate::kernel::time::Span;
use crate::notation::changes::Instants;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::{KeyOf, S, duration, level, probability};
use crate::packet::Direction;
use crate::table;

/// Declares a table with the keys for frame errors, either of a station or of a change of its
/// channel.
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

/// Frame errors of the link between the access point and one station.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Channel {
    /// Probability that a frame with data from the station is lost to channel errors, per attempt.
    /// [-]
    pub error_up: f64,
    /// Probability that a frame with data to the station is lost to channel errors, per attempt.
    /// [-]
    pub error_down: f64,
    /// Probability that a frame with only a TCP ACK from the station is lost to channel errors, per
    /// attempt. [-]
    pub ack_error_up: f64,
    /// Probability that a frame with only a TCP ACK to the station is lost to channel errors, per
    /// attempt. [-]
    pub ack_error_down: f64,
    /// Signal-to-noise ratio. If the ratio is set, the error probability of a frame follows from
    /// the ratio, and from the rate and length of the frame. The four probabilities are then those
    /// of full segments and of ACKs at the nominal rates. [dB]
    pub snr_db: Option<f64>,
}

/// Channel of a station from a given time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelChange {
    /// Time of the change, after the start of the run.
    pub at: Span,
    /// Channel from this time until the next change.
    pub channel: Channel,
}

/// Quality of a link in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quality {
    /// Given error probabilities, independent of the rate and length of a frame.
    Given {
        /// Error probability of frames with data. [-]
        data: f64,
        /// Error probability of frames with only a TCP ACK. [-]
        ack: f64,
    },
    /// Errors due to noise, at a signal-to-noise ratio.
    Snr {
        /// Signal-to-noise ratio. [dB]
        db: f64,
    },
}

impl Channel {
    /// Returns the quality of the link to the station (if `down`), or from the station.
    pub fn quality(&self, down: bool) -> Quality {
        match (self.snr_db, down) {
            (Some(db), _) => Quality::Snr { db },
            (None, true) => Quality::Given {
                data: self.error_down,
                ack: self.ack_error_down,
            },
            (None, false) => Quality::Given {
                data: self.error_up,
                ack: self.ack_error_up,
            },
        }
    }

    /// Returns whether the channel loses frames.
    pub(crate) fn has_errors(&self) -> bool {
        let errors = [
            self.error_up,
            self.error_down,
            self.ack_error_up,
            self.ack_error_down,
        ];
        self.snr_db.is_some() || errors.iter().any(|&error| error > 0.0)
    }
}

/// Keys of error probabilities. A station and a change of its channel have the same keys.
const ERRORS: [KeyOf<Option<f64>>; 6] = [
    ErrorKeys::error,
    ErrorKeys::error_up,
    ErrorKeys::error_down,
    ErrorKeys::ack_error,
    ErrorKeys::ack_error_up,
    ErrorKeys::ack_error_down,
];

impl Channel {
    /// Checks the channel settings in the table of a station. `duration` is the duration of the
    /// run.
    pub(crate) fn check(station: &Section, duration: Option<Span>, problems: &mut Problems) {
        check_ratio(station, problems);
        let mut instants = Instants::within(duration);
        for (name, change) in station.tables(ErrorKeys::channel) {
            change.check_name(name, problems);
            check_ratio(change, problems);
            let mut keys = ERRORS.into_iter().chain([ErrorKeys::snr_db]);
            if !keys.any(|key| change.located(key).is_some() || change.lacks(key)) {
                let message = "this table changes nothing; expected `snr`, `error` or another \
                               error probability";
                change.refuse(message, problems);
            }
            instants.check(change, ChangeTable::at, problems);
        }
    }

    /// Returns the channel that the tables describe, in order of precedence. A signal-to-noise
    /// ratio is read only from the first table.
    ///
    /// # Errors
    /// A value has been refused.
    pub(crate) fn read(tables: &[&Section]) -> Result<Channel, Refused> {
        let layers = Layers(tables);
        // Returns the value with the highest priority. Each list in `ranks` contains keys, and
        // earlier lists have priority over later lists. Within a list, earlier tables have priority,
        // and within a table, earlier keys of the list.
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

    /// Returns the changes of the channel of a station, in order of time.
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

    /// Computes the error probabilities from the signal-to-noise ratio, if one is set. Frames with
    /// data have `data_bytes`, and frames with an ACK have `ack_bytes`, headers included. `error`
    /// returns the error probability for a direction, a length and a signal-to-noise ratio.
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

/// Checks that a table with a signal-to-noise ratio sets no error probability, because the ratio
/// determines all errors.
fn check_ratio(table: &Section, problems: &mut Problems) {
    let Some(snr) = table.located(ErrorKeys::snr_db) else {
        return;
    };
    // `error` = 0 does not contradict the ratio, because 0 is the default
    let errors = ERRORS.into_iter().filter_map(|key| table.located(key));
    for error in errors.filter(|error| error.value != Some(0.0)) {
        let snr = &snr.shown;
        let fault = format!("conflicts with `snr` = {snr}; expected one of the two");
        error.refuse_value(fault, problems);
    }
}
