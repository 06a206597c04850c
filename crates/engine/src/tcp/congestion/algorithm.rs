//! The congestion controls that a scenario can name.

use super::external::ExternalName;
use crate::tcp::Feedback;
use crate::words;

words! {
    /// Congestion control of a TCP sender.
    pub enum CongestionAlgorithm {
        /// Slow start after every loss.
        Tahoe = "tahoe",
        /// Fast recovery, which ends at the first new ACK (RFC 2581).
        Reno = "reno",
        /// Fast recovery with partial ACKs (RFC 6582).
        NewReno = "newreno",
        /// Reno's window plus a window that follows the queueing delay (Tan et al. 2006).
        Compound = "compound",
        /// The window as a cubic function of the time since the last loss (RFC 9438).
        Cubic = "cubic",
        /// CUBIC in whole packets and with HyStart, as in Linux (Ha et al. 2008).
        CubicLinux = "cubic_linux",
        /// Reno with an increase and a decrease that depend on the queueing delay (Liu et al. 2008).
        Illinois = "illinois",
        /// HighSpeed TCP while the queue is short, Reno otherwise (King et al. 2005).
        Africa = "africa",
        /// Reno that reduces its window to the measured bandwidth times the minimum RTT (Grieco,
        /// Mascolo 2004).
        Westwood = "westwood",
        /// Reno that reduces its window by half of the fraction of marked packets, for private networks (RFC 8257).
        Dctcp = "dctcp",
        /// DCTCP for the Internet, with ECT(1) for L4S (draft-briscoe-iccrg-prague-congestion-control).
        Prague = "prague",
        /// Sending at the measured delivery rate, whatever is lost (Cardwell et al. 2016), as in Linux.
        Bbr = "bbr",
        /// BBR version 3, which also responds to losses (draft-ietf-ccwg-bbr).
        Bbr3 = "bbr3",
        ;
        /// Congestion control of another crate.
        External(ExternalName)
    }
}

impl CongestionAlgorithm {
    /// Returns the hint of the error message for an unknown congestion control `name`; `None` if
    /// there is no hint for this name.
    pub(in crate::tcp) fn meant(name: &str) -> Option<String> {
        name.starts_with("bbr")
            .then(|| "use \"bbr\" for version 1 of BBR, and \"bbr3\" for version 3".to_owned())
    }

    /// Returns how the receiver reports ECN marks to this congestion control, if the connection
    /// uses ECN.
    pub(in crate::tcp) fn feedback(self) -> Feedback {
        match self {
            CongestionAlgorithm::Dctcp => Feedback::Each,
            CongestionAlgorithm::Prague => Feedback::Count,
            CongestionAlgorithm::Reno
            | CongestionAlgorithm::Tahoe
            | CongestionAlgorithm::NewReno
            | CongestionAlgorithm::Cubic
            | CongestionAlgorithm::CubicLinux
            | CongestionAlgorithm::Compound
            | CongestionAlgorithm::Illinois
            | CongestionAlgorithm::Africa
            | CongestionAlgorithm::Westwood
            | CongestionAlgorithm::Bbr
            | CongestionAlgorithm::Bbr3
            | CongestionAlgorithm::External(_) => Feedback::Flag,
        }
    }

    /// Returns whether this congestion control sets the window during a recovery, so that
    /// proportional rate reduction is not used. It requires SACK, RACK-TLP and pacing.
    pub(in crate::tcp) fn sets_recovery_window(self) -> bool {
        matches!(self, CongestionAlgorithm::Bbr | CongestionAlgorithm::Bbr3)
    }

    /// Returns whether this congestion control processes the loss of each transmission.
    pub(in crate::tcp) fn processes_losses(self) -> bool {
        self == CongestionAlgorithm::Bbr3
    }

    /// Returns whether this congestion control reacts to the number of marked segments, and
    /// therefore requires ECN.
    pub(in crate::tcp) fn needs_ecn(self) -> bool {
        self.feedback() != Feedback::Flag
    }
}
