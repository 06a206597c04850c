//! Channels and windows that change while frames wait and while one is on the air.

use super::{AP, Dcf};
use crate::channel::Channel;
use crate::kernel::time::Time;
use crate::mac::Access;

impl Dcf {
    /// `contender` has these windows and opportunities from `now` on: windows from its next draw of a backoff,
    /// opportunities from the next frame that asks whether it may follow. Its AIFS stays.
    #[cold]
    #[inline(never)]
    pub fn set_access(&mut self, now: Time, contender: u32, access: &Access) {
        // what has begun draws as it was when it began
        if !self.on_air && !self.stale && !self.forms && self.start <= now {
            self.begin_apart();
        }
        self.contenders[contender as usize].set_access(access);
        self.countdown.widen(access.cwmax.max(access.cwmin));
    }

    /// The channel of station number `station`, counted from 0, is `channel` from now on: for frames
    /// that wait too, and for one on the air, which is judged at its end.
    pub fn change_channel(&mut self, station: usize, channel: &Channel) {
        if self.forms {
            return; // it asks when an exchange begins, and when it ends
        }
        self.down[station].set_quality(channel.quality_down());
        self.up[station].set_quality(channel.quality_up());
        let node = station as u32 + 1;
        for contender in 0..self.contenders.len() {
            let state = &self.contenders[contender];
            let concerned = state.node == node || state.node == AP && state.frame.to == node;
            if state.backlogged && concerned {
                let frame = state.frame;
                self.load(contender as u32, frame);
            }
        }
    }
}
