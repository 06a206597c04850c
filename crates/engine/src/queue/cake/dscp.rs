//! DSCPs, and the tins to which CAKE assigns them (tc-cake(8), section "Priority queue parameters").

use crate::words;

words! {
    /// DSCP: differentiated services code point, in the IP header (RFC 2474).
    pub enum Dscp {
        /// Default forwarding.
        Cs0 = "CS0",
        /// Lower effort (RFC 8622).
        Le = "LE",
        /// Class selector 1.
        Cs1 = "CS1",
        /// Assured forwarding, class 1, low drop precedence (RFC 2597).
        Af11 = "AF11",
        /// Assured forwarding, class 1, medium drop precedence.
        Af12 = "AF12",
        /// Assured forwarding, class 1, high drop precedence.
        Af13 = "AF13",
        /// Class selector 2.
        Cs2 = "CS2",
        /// Assured forwarding, class 2, low drop precedence.
        Af21 = "AF21",
        /// Assured forwarding, class 2, medium drop precedence.
        Af22 = "AF22",
        /// Assured forwarding, class 2, high drop precedence.
        Af23 = "AF23",
        /// Class selector 3.
        Cs3 = "CS3",
        /// Assured forwarding, class 3, low drop precedence.
        Af31 = "AF31",
        /// Assured forwarding, class 3, medium drop precedence.
        Af32 = "AF32",
        /// Assured forwarding, class 3, high drop precedence.
        Af33 = "AF33",
        /// Class selector 4.
        Cs4 = "CS4",
        /// Assured forwarding, class 4, low drop precedence.
        Af41 = "AF41",
        /// Assured forwarding, class 4, medium drop precedence.
        Af42 = "AF42",
        /// Assured forwarding, class 4, high drop precedence.
        Af43 = "AF43",
        /// Class selector 5.
        Cs5 = "CS5",
        /// Voice admit (RFC 5865).
        Va = "VA",
        /// Expedited forwarding (RFC 3246).
        Ef = "EF",
        /// Class selector 6.
        Cs6 = "CS6",
        /// Class selector 7.
        Cs7 = "CS7",
    }
}

words! {
    /// Division of packets into tins by their DSCP.
    pub enum Diffserv {
        /// One tin.
        Besteffort = "besteffort",
        /// Eight tins, by the upper three bits of the DSCP.
        Precedence = "precedence",
        /// Bulk, best effort and voice.
        Diffserv3 = "diffserv3",
        /// Bulk, best effort, video and voice.
        Diffserv4 = "diffserv4",
        /// Eight tins.
        Diffserv8 = "diffserv8",
    }
}

impl Dscp {
    /// Returns the code point, from 0 to 63.
    pub const fn number(self) -> u8 {
        match self {
            Dscp::Cs0 => 0,
            Dscp::Le => 1,
            Dscp::Cs1 => 8,
            Dscp::Af11 => 10,
            Dscp::Af12 => 12,
            Dscp::Af13 => 14,
            Dscp::Cs2 => 16,
            Dscp::Af21 => 18,
            Dscp::Af22 => 20,
            Dscp::Af23 => 22,
            Dscp::Cs3 => 24,
            Dscp::Af31 => 26,
            Dscp::Af32 => 28,
            Dscp::Af33 => 30,
            Dscp::Cs4 => 32,
            Dscp::Af41 => 34,
            Dscp::Af42 => 36,
            Dscp::Af43 => 38,
            Dscp::Cs5 => 40,
            Dscp::Va => 44,
            Dscp::Ef => 46,
            Dscp::Cs6 => 48,
            Dscp::Cs7 => 56,
        }
    }
}

impl Diffserv {
    /// Returns the names of the tins, in the order of their numbers. Tin 0 of `diffserv3` and
    /// `diffserv4` is the tin of best effort.
    pub fn tins(self) -> &'static [&'static str] {
        match self {
            Diffserv::Besteffort => &["best-effort"],
            Diffserv::Diffserv3 => &["best-effort", "bulk", "voice"],
            Diffserv::Diffserv4 => &["best-effort", "bulk", "video", "voice"],
            Diffserv::Precedence | Diffserv::Diffserv8 => &[
                "tin-0", "tin-1", "tin-2", "tin-3", "tin-4", "tin-5", "tin-6", "tin-7",
            ],
        }
    }

    /// Returns the number of the tin for packets with this DSCP.
    pub fn tin(self, dscp: Dscp) -> u8 {
        match self {
            Diffserv::Besteffort => 0,
            Diffserv::Precedence => dscp.number() >> 3,
            Diffserv::Diffserv3 => match dscp {
                Dscp::Le | Dscp::Cs1 => 1,
                Dscp::Va | Dscp::Ef | Dscp::Cs6 | Dscp::Cs7 => 2,
                _ => 0,
            },
            Diffserv::Diffserv4 => match dscp.number() {
                1 | 8 => 1,
                16 | 18..=30 | 34..=38 => 2,
                32 | 40.. => 3,
                _ => 0,
            },
            Diffserv::Diffserv8 => match dscp.number() {
                1 => 0,
                8..=14 => 1,
                24..=30 | 34..=38 => 3,
                18..=22 => 4,
                16 => 5,
                32 | 40..=46 => 6,
                48.. => 7,
                _ => 2,
            },
        }
    }

    /// Returns the rate threshold of each tin, for this rate of the shaper. Up to its threshold, a
    /// tin has priority over tins with lower numbers. A rate of 0 means no shaper. [bytes/s]
    pub fn thresholds(self, rate: u64) -> Vec<u64> {
        self.divided(rate)
    }

    /// Returns the number of bytes that each tin may send per turn without a shaper. [bytes]
    pub fn quanta(self) -> Vec<i64> {
        let total = match self {
            Diffserv::Besteffort => 65_535,
            Diffserv::Diffserv3 | Diffserv::Diffserv4 => 1_024,
            Diffserv::Precedence | Diffserv::Diffserv8 => 256,
        };
        let quanta = self.divided(total).into_iter();
        quanta.map(|quantum| quantum.max(1).cast_signed()).collect()
    }

    /// Returns the part of `total` of each tin.
    fn divided(self, total: u64) -> Vec<u64> {
        match self {
            Diffserv::Besteffort => vec![total],
            Diffserv::Diffserv3 => vec![total, total >> 4, total >> 2],
            Diffserv::Diffserv4 => vec![total, total >> 4, total >> 1, total >> 2],
            // each tin has 7/8 of the previous tin
            Diffserv::Precedence | Diffserv::Diffserv8 => {
                let next = |last: &u64| Some((last * 7) >> 3);
                std::iter::successors(Some(total), next).take(8).collect()
            }
        }
    }
}
