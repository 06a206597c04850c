//! Access parameters and channels that change while frames wait and while one is on the air.

use super::{Dcf, Frame, FrameExchange, Phase};
use crate::kernel::time::Time;
use crate::mac::{Access, NodeId};

impl Dcf {
    /// Sets the windows and opportunities of `contender` from `now` on: windows from its next draw
    /// of a backoff, opportunities from the next frame that may follow. Its AIFS does not change.
    #[cold]
    #[inline(never)]
    pub fn set_access<X: FrameExchange>(
        &mut self,
        now: Time,
        contender: u32,
        access: &Access,
        _kind: &X,
    ) {
        // an exchange that has begun draws with the windows of its begin
        if !X::FORMED_AT_START && self.phase == Phase::Planned && !self.stale && self.start <= now {
            self.begin_apart::<X>();
        }
        self.contenders[contender as usize].set_access(access);
        self.countdown.widen(access.cwmax.max(access.cwmin));
    }

    /// Loads the frames again at `now` that wait for the link between the access point and the
    /// station `node`, whose channel has changed. A frame on the air is judged at its end.
    pub fn reload<X: FrameExchange<Next = Frame>>(
        &mut self,
        now: Time,
        node: NodeId,
        kind: &mut X,
    ) {
        for contender in 0..self.contenders.len() {
            let state = &self.contenders[contender];
            let concerned = state.node == node || state.frame.to == node;
            if state.backlogged && concerned {
                let frame = state.frame;
                self.load(now, contender as u32, frame, kind);
            }
        }
    }
}
