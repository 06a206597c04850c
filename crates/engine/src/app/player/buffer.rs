//! The buffer of a player: the video that has arrived and is not played. While the video plays, the
//! buffer falls by one second per second. The video stalls when the buffer is empty.

use crate::kernel::time::{Span, Time};

/// The buffer of a player, in playing time.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    /// Buffer at the time `since`.
    level: Span,
    since: Time,
    is_playing: bool,
    /// Buffer with which the video starts to play.
    startup: Span,
    first_played: Option<Time>,
    /// Stalls so far, each with its begin and end; [`Time::NEVER`] for a stall that has not ended.
    stalls: Vec<(Time, Time)>,
}

impl Buffer {
    pub(super) fn new(startup: Span) -> Buffer {
        Buffer {
            level: Span::ZERO,
            since: Time::ZERO,
            is_playing: false,
            startup,
            first_played: None,
            stalls: Vec::new(),
        }
    }

    /// Adds video of length `video`, which has arrived at `now`.
    pub(super) fn add(&mut self, now: Time, video: Span) {
        if let Some(empty) = self.runs_empty(now) {
            (self.level, self.is_playing) = (Span::ZERO, false);
            self.stalls.push((empty, Time::NEVER));
        }
        self.level = self.level(now) + video;
        self.since = now;
        if !self.is_playing && self.level >= self.startup {
            self.is_playing = true;
            self.first_played.get_or_insert(now);
            if let Some((_, ended)) = self.stalls.last_mut() {
                *ended = now;
            }
        }
    }

    /// Returns the time at which the buffer was empty, if the video stalls at `now` because of this
    /// and [`add`](Buffer::add) has not recorded the stall.
    fn runs_empty(&self, now: Time) -> Option<Time> {
        let empty = self.since + self.level;
        (self.is_playing && empty < now).then_some(empty)
    }

    /// Returns the buffer at `now`, which is not before the last addition.
    pub(super) fn level(&self, now: Time) -> Span {
        match self.is_playing {
            true => Span(self.level.0.saturating_sub(now.since(self.since).0)),
            false => self.level,
        }
    }

    /// Returns whether the video plays since the last addition.
    pub(super) fn is_playing(&self) -> bool {
        self.is_playing
    }

    /// Returns the time at which the video began to play.
    pub(super) fn first_played(&self) -> Option<Time> {
        self.first_played
    }

    /// Returns the begin and the end of each stall that began before `now`.
    pub(super) fn stalls(&self, now: Time) -> impl Iterator<Item = (Time, Time)> {
        let present = self.runs_empty(now).map(|empty| (empty, Time::NEVER));
        self.stalls.iter().copied().chain(present)
    }
}
