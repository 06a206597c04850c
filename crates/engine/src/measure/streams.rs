//! Measures of adaptive video.

use super::item::{Value, mean_s, quantile, ratio};
use super::period::Period;
use crate::app::player::{Player, StreamTally};
use crate::kernel::time::{Span, Time};
use crate::quantities::*;
use crate::world::{Application, World};

/// Returns the player whose video flow `flow` carries.
pub(crate) fn player_of<'a>(world: &'a World<'_>, flow: usize) -> Option<&'a Player> {
    let application = world.flows().states()[flow].application();
    application.and_then(Application::player)
}

impl Period<'_> {
    /// Returns the measures of the video that flow `flow` carries; an empty list for other flows.
    pub(super) fn stream(&self, flow: usize) -> Vec<Value> {
        let Some(player) = player_of(self.world, flow) else {
            return Vec::new();
        };
        let (from, to) = (self.start.marks.at, self.end.marks.at);
        let stop = self.world.scenario().flows[flow].stop;
        let to = stop.map_or(to, |stop| to.min(Time::ZERO + stop));
        if to <= from {
            return Vec::new(); // the stream stopped in the warm-up
        }
        let StreamTally {
            bitrates_bps,
            switches,
            times,
            stalls,
            stalled,
            watched,
        } = player.tally(from, to);
        let count = times.len() as u64;
        // a video that never plays stalls the whole time
        let waits = player.waits_at(to);
        let (bitrate_bps, stalled) = match waits {
            true => (Some(ratio(bitrates_bps, count).unwrap_or(0.0)), Some(1.0)),
            false => (ratio(bitrates_bps, count), ratio(stalled.0, watched.0)),
        };
        let sum_ns = times.iter().map(|time| time.0).sum();
        vec![
            VIDEO_BITRATE.of(bitrate_bps),
            SWITCHES.of(switches as f64),
            STALLS.of(stalls as f64),
            STALLED.of(stalled),
            STARTUP.of(player.startup().map(Span::seconds)),
            CHUNK_COMPLETION.of(mean_s(sum_ns, count)),
            CHUNK_COMPLETION_P95.of(quantile(&times, 0.95).map(Span::seconds)),
        ]
    }
}
