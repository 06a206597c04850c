//! Settings of a station of a cell.

use super::ppdu::Modulation;
use super::{Node, PhyKind};
use crate::channel::{Channel, ChannelChange, frame_error};
use crate::echo::{Echo, EchoChange};
use crate::kernel::time::Span;
use crate::packet::Direction;

/// Settings of a station.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Name of the station, unique in the scenario.
    pub name: String,
    /// Name of the table of the station in the file. This name equals `name`, unless the table has
    /// a `count`.
    pub group: String,
    /// Rate of data frames from the station. [bit/s]
    pub rate_bps: u64,
    /// Rate of data frames to the station. [bit/s]
    pub downlink_rate_bps: u64,
    /// Physical layer of the station: that of the cell, or an older physical layer.
    pub phy: PhyKind,
    /// Modulation of data frames in both directions; `None` if the station does not support
    /// aggregates.
    pub modulation: Option<Modulation>,
    /// Whether the rate control chooses the MCS by the signal-to-noise ratio.
    pub mcs_by_snr: bool,
    /// Medium access of the station.
    pub node: Node,
    /// Channel at the start of the run.
    pub channel: Channel,
    /// Later changes of the channel, in order of time.
    pub channel_changes: Vec<ChannelChange>,
    /// Time for which the station stays awake after its last frame; `None` if the station never
    /// sleeps.
    pub power_save: Option<Span>,
    /// Delay and loss of the replies of the station to pings, at the start of the run.
    pub echo: Echo,
    /// Later changes of the delay and loss of replies to pings, in order of time.
    pub echo_changes: Vec<EchoChange>,
}

impl Station {
    /// Returns whether channel errors can destroy frames to or from the station at any time of the
    /// run.
    pub fn has_errors(&self) -> bool {
        let mut changes = self.channel_changes.iter();
        self.channel.has_errors() || changes.any(|change| change.channel.has_errors())
    }

    /// Returns whether a signal-to-noise ratio determines the frame errors.
    pub fn hears_noise(&self) -> bool {
        self.channel.snr_db.is_some()
    }

    /// Returns the probability that noise destroys a frame of `bytes` in the given direction, at
    /// the signal-to-noise ratio `snr_db`. [-]
    pub fn frame_error(&self, direction: Direction, bytes: u32, snr_db: f64) -> f64 {
        match (&self.modulation, direction) {
            (Some(modulation), _) if self.mcs_by_snr => {
                modulation.best_for(snr_db).frame_error(bytes, snr_db)
            }
            (Some(modulation), _) => modulation.frame_error(bytes, snr_db),
            (None, Direction::Up) => frame_error(self.rate_bps, bytes, snr_db),
            (None, Direction::Down) => frame_error(self.downlink_rate_bps, bytes, snr_db),
        }
    }
}
