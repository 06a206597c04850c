//! Changes of access parameters and channels during a run, while frames wait or are on the air.

use super::{Dcf, Frame, FrameExchange, Phase};
use crate::kernel::time::Time;
use crate::mac::{Access, NodeId};

impl Dcf {
    /// Changes the contention windows and TXOP limits of `contender` at `now`. The windows apply
    /// from the next draw of a backoff. The limits apply to the next frame that would continue a
    /// TXOP. The AIFS does not change.
    #[cold]
    #[inline(never)]
    pub fn set_access<X: FrameExchange>(
        &mut self,
        now: Time,
        contender: u32,
        access: &Access,
        _kind: &X,
    ) {
        // an exchange that has already begun uses the old contention windows
        if !X::FORMED_AT_START && self.phase == Phase::Planned && !self.stale && self.start <= now {
            self.begin_apart::<X>();
        }
        self.contenders[contender as usize].set_access(access);
        self.countdown.widen(access.cwmax.max(access.cwmin));
    }

    /// Computes again, at `now`, the air times and error probabilities of the frames that wait for
    /// the link between the access point and station `node`, because the channel of this link has
    /// changed. For a frame on the air, the channel at the end of the frame decides whether the
    /// frame is lost.
    pub fn reload<X: FrameExchange<Next = Frame>>(
        &mut self,
        now: Time,
        node: NodeId,
        kind: &mut X,
    ) {
        for state in &mut self.contenders {
            let concerned = state.node == node || state.frame.to == node;
            if !concerned {
                continue;
            }
            let frame = state.unload();
            if state.backlogged {
                kind.load(now, state, frame, &self.phy);
            }
        }
    }
}
