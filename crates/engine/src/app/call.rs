//! The datagrams of an audio or video call between two persons.
//!
//! Audio is G.711 with 20 ms of speech per datagram (ITU-T G.711; RFC 3551, 4.5.14). Video consists
//! of 30 frames per second, with several datagrams per frame. Audio and video are sent in both
//! directions, without pauses.
//!
//! With `control = "gcc"` the rate of the video adapts to the network ([`super::adaptive_call`]).
//!
//! Differs from the calls of current applications in two points. There is no silence suppression.
//! Without control, all frames of the video have the same length, and the rate is not adapted to the
//! network.

use serde_json::json;

use super::adaptive_call::PAYLOAD_BYTES;
use super::gcc::{LOWEST_BPS, RateBounds};
use super::{Arrivals, UdpSettings};
use crate::notation::decode::{Located, Section};
use crate::notation::problem::Problems;
use crate::notation::setting::{Json, Setting, count, flag, keys, rate, word};
use crate::notation::value::Value;
use crate::packet::Direction;
use crate::{table, words};

/// Maximum number of calls of a station or host.
const MAX_CALLS: u64 = 100;

/// Value of the key `calls`: the word "audio", or a number of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallCount {
    /// The word "audio": one call without video.
    Audio,
    /// A number of calls with audio and video.
    Calls(u8),
}

impl Setting for CallCount {
    fn of(value: &Value) -> Option<CallCount> {
        match value {
            Value::Word("audio") => Some(CallCount::Audio),
            other => u8::of(other).map(CallCount::Calls),
        }
    }

    fn json(&self) -> Json {
        match self {
            CallCount::Audio => Json::from("audio"),
            CallCount::Calls(calls) => Json::from(*calls),
        }
    }
}

table! {
    /// Number of calls, and whether they have video.
    pub struct CallKeys: Copy in "call" {
        /// Number of calls. The word "audio" means one call with video = false.
        calls: CallCount = count(1..=MAX_CALLS).or("audio").hinting(with_video).default(1);
        /// Whether each call sends video in addition to audio.
        video: Option<bool> = flag().depends("true; false with calls = \"audio\"");
        /// Whether the rate of the video adapts to the network. With "none" it is constant, with 30 frames per second of 5 packets. With "gcc" Google congestion control sets it, as in browsers (WebRTC).
        control: CallControl = word().default(CallControl::None);
        /// Lowest rate of a video with control = "gcc", UDP/IP headers included.
        min_rate: Option<u64> = rate().depends("30 kbps with control = \"gcc\"");
        /// Rate of a video with control = "gcc" before the first feedback.
        start_rate: Option<u64> = rate().depends("300 kbps with control = \"gcc\", within min_rate and max_rate");
        /// Highest rate of a video with control = "gcc". Probes may have twice this rate for a short time.
        max_rate: Option<u64> = rate().depends("2500 kbps with control = \"gcc\"");
    }
}

/// Returns the hint for a user who writes "video" instead of a number of calls.
fn with_video(word: &str) -> Option<String> {
    word.trim().starts_with("video").then(|| {
        "a call has video unless it is \"audio\"; 1 is a call with audio and video".to_owned()
    })
}

words! {
    /// Rule for the rate of a call's video.
    pub enum CallControl {
        /// The rate is constant.
        None = "none",
        /// Google congestion control.
        Gcc = "gcc",
    }
}

words! {
    /// Medium that a flow of a call carries.
    pub enum Medium {
        /// 50 datagrams per second, each with 160 samples of 8 bits.
        Audio = "audio",
        /// 30 frames per second, each of 5 datagrams.
        Video = "video",
    }
}

impl Medium {
    /// Returns the settings of the UDP source for audio or video. `udp` contains settings that do
    /// not depend on the medium.
    pub fn source(self, udp: UdpSettings) -> UdpSettings {
        let (rate_bps, payload_bytes, burst) = match self {
            Medium::Audio => (64_000, 160, 1),
            Medium::Video => (1_200_000, 1_000, 5),
        };
        UdpSettings {
            arrivals: Arrivals::Constant,
            rate_bps,
            payload_bytes,
            burst,
            ..udp
        }
    }
}

/// A flow's role in a call: audio or video, and its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallPart {
    /// Number of the call at its station or host, counted from 1.
    pub number: u8,
    /// Audio or video.
    pub medium: Medium,
    /// Direction of the flow: up is from the station or host of the call, down is to it.
    pub direction: Direction,
}

impl CallPart {
    /// Returns the flow's name without the name of the station or host.
    pub fn name(self) -> String {
        let (medium, direction) = (self.medium.name(), self.direction.name());
        format!("{medium}-{direction}/{}", self.number)
    }

    /// Returns the role of the flow as JSON for the normalised scenario.
    pub fn json(self) -> Json {
        json!({
            "number": self.number,
            "medium": self.medium.name(),
            "direction": self.direction.name(),
        })
    }
}

/// Returns the bounds of the rate of an adaptive video as JSON for the normalised scenario.
pub(crate) fn control_json(bounds: &RateBounds) -> Json {
    json!({
        "name": CallControl::Gcc.name(),
        "min_rate_bps": bounds.min_bps,
        "start_rate_bps": bounds.start_bps,
        "max_rate_bps": bounds.max_bps,
    })
}

/// Rates of an adaptive video by default, as in libwebrtc: `kMinVideoBitrate`,
/// `kDefaultStartBitrate`, and the highest rate of a single stream. [bit/s]
const DEFAULT_BOUNDS: RateBounds = RateBounds {
    min_bps: 30_000,
    start_bps: 300_000,
    max_bps: 2_500_000,
};

/// Highest rate of an adaptive video. [bit/s]
const LARGEST_BPS: u64 = 100_000_000;

impl CallKeys {
    /// Returns the bounds of the rate of an adaptive video; `None` if the rate is constant.
    fn bounds(self) -> Option<RateBounds> {
        let given = |rate: Option<u64>, default: u32| {
            rate.map_or(default, |bps| bps.clamp(LOWEST_BPS, LARGEST_BPS) as u32)
        };
        let min = given(self.min_rate, DEFAULT_BOUNDS.min_bps);
        let max = given(self.max_rate, DEFAULT_BOUNDS.max_bps).max(min);
        let start = given(self.start_rate, DEFAULT_BOUNDS.start_bps);
        (self.control == CallControl::Gcc).then_some(RateBounds {
            min_bps: min,
            start_bps: start.clamp(min, max),
            max_bps: max,
        })
    }

    /// Returns the settings of the UDP source of a part of these calls. `udp` contains settings that
    /// do not depend on the call. The rate of a video that adapts is its highest rate.
    pub fn source(self, part: CallPart, udp: UdpSettings) -> UdpSettings {
        let constant = part.medium.source(udp);
        match self.bounds().filter(|_| part.medium == Medium::Video) {
            None => constant,
            Some(bounds) => UdpSettings {
                rate_bps: u64::from(bounds.max_bps),
                payload_bytes: PAYLOAD_BYTES,
                burst: 1,
                control: Some(bounds),
                ..constant
            },
        }
    }

    /// Checks the keys of an adaptive video in a table.
    pub(crate) fn check_control(table: &Section, problems: &mut Problems) {
        let control = table.located(CallKeys::control);
        let is_adaptive = (control.as_ref()).is_some_and(|own| own.value == CallControl::Gcc);
        let is_audio = table.value(CallKeys::calls) == Some(CallCount::Audio);
        let without_video = is_audio || table.value(CallKeys::video) == Some(Some(false));
        if let Some(control) = &control
            && is_adaptive
            && without_video
        {
            let fault = "needs video, because the rate of audio is constant; expected \"none\"";
            control.refuse_value(fault, problems);
        }
        if !is_adaptive {
            let keys = keys!(CallKeys: min_rate, start_rate, max_rate);
            let overruled = control.is_some_and(|own| own.is_set());
            return table.refuse_idle(&keys, "control = \"gcc\"", overruled, problems);
        }
        let rates = [CallKeys::min_rate, CallKeys::start_rate, CallKeys::max_rate];
        let [min, start, max] = rates.map(|key| table.present(key));
        for rate in [&min, &start, &max].into_iter().flatten() {
            if !(LOWEST_BPS..=LARGEST_BPS).contains(&rate.value) {
                rate.refuse_value("is out of range; expected 5 kbps to 100 Mbps", problems);
                return;
            }
        }
        let bps = |rate: &Option<Located<'_, u64>>, default: u32| {
            rate.as_ref().map_or(u64::from(default), |rate| rate.value)
        };
        let (least, most) = (
            bps(&min, DEFAULT_BOUNDS.min_bps),
            bps(&max, DEFAULT_BOUNDS.max_bps),
        );
        if least > most
            && let Some(rate) = max.as_ref().or(min.as_ref())
        {
            let fault = "contradicts the other bound; expected min_rate to be at most max_rate";
            rate.refuse_value(fault, problems);
        } else if let Some(start) = &start
            && !(least..=most).contains(&start.value)
        {
            let fault = "is outside the bounds; expected a rate from min_rate to max_rate";
            start.refuse_value(fault, problems);
        }
    }

    /// Returns whether the values of `calls` and `video` contradict each other.
    pub fn contradict(calls: CallCount, video: Option<bool>) -> bool {
        calls == CallCount::Audio && video == Some(true)
    }

    /// Returns the number of flows of the calls.
    pub fn flows(calls: CallCount, video: Option<bool>) -> usize {
        let (number, usual) = match calls {
            CallCount::Audio => (1, false),
            CallCount::Calls(number) => (usize::from(number), true),
        };
        let media = if video.unwrap_or(usual) { 2 } else { 1 };
        2 * media * number
    }

    /// Returns the flows of the calls. For each call, the order is audio up, audio down, video up,
    /// video down.
    pub fn parts(self) -> impl Iterator<Item = CallPart> {
        let (calls, usual) = match self.calls {
            CallCount::Audio => (1, false),
            CallCount::Calls(calls) => (calls, true),
        };
        let media: &[Medium] = match self.video.unwrap_or(usual) {
            true => &[Medium::Audio, Medium::Video],
            false => &[Medium::Audio],
        };
        (1..=calls).flat_map(move |number| {
            media.iter().flat_map(move |&medium| {
                [Direction::Up, Direction::Down].map(|direction| CallPart {
                    number,
                    medium,
                    direction,
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UDP: UdpSettings = UdpSettings {
        arrivals: Arrivals::Constant,
        rate_bps: 0,
        payload_bytes: 1472,
        header_bytes: 28,
        burst: 1,
        control: None,
    };

    const PLAIN: CallKeys = CallKeys {
        calls: CallCount::Calls(1),
        video: None,
        control: CallControl::None,
        min_rate: None,
        start_rate: None,
        max_rate: None,
    };

    #[test]
    fn the_number_of_flows_is_that_of_the_parts() {
        for (calls, video) in [
            (CallCount::Audio, None),
            (CallCount::Calls(3), None),
            (CallCount::Calls(2), Some(false)),
        ] {
            let keys = CallKeys {
                calls,
                video,
                ..PLAIN
            };
            assert_eq!(CallKeys::flows(calls, video), keys.parts().count());
        }
    }

    #[test]
    fn only_the_video_of_an_adaptive_call_has_bounds_and_the_start_is_within_them() {
        let bounds = |min_rate, start_rate, max_rate| {
            let keys = CallKeys {
                control: CallControl::Gcc,
                min_rate,
                start_rate,
                max_rate,
                ..PLAIN
            };
            let parts: Vec<_> = keys.parts().map(|part| keys.source(part, UDP)).collect();
            assert_eq!((parts[0].control, parts[1].control), (None, None));
            assert_eq!(parts[2], parts[3]);
            let own = parts[3].control.unwrap();
            assert_eq!(parts[3].rate_bps, u64::from(own.max_bps));
            [own.min_bps, own.start_bps, own.max_bps]
        };
        assert_eq!(bounds(None, None, None), [30_000, 300_000, 2_500_000]);
        assert_eq!(
            bounds(None, None, Some(200_000)),
            [30_000, 200_000, 200_000]
        );
        assert_eq!(
            bounds(Some(4_000_000), None, None),
            [4_000_000, 4_000_000, 4_000_000]
        );
        let video = PLAIN.parts().last().unwrap();
        assert_eq!(PLAIN.source(video, UDP).control, None);
    }

    #[test]
    fn a_call_has_audio_and_video_both_ways_and_the_word_audio_no_video() {
        let names = |calls, video| {
            let keys = CallKeys {
                calls,
                video,
                ..PLAIN
            };
            keys.parts().map(CallPart::name).collect::<Vec<_>>()
        };
        assert_eq!(
            names(CallCount::Calls(1), None),
            ["audio-up/1", "audio-down/1", "video-up/1", "video-down/1"]
        );
        assert_eq!(
            names(CallCount::Audio, None),
            ["audio-up/1", "audio-down/1"]
        );
        assert_eq!(
            names(CallCount::Calls(2), Some(false)).last().unwrap(),
            "audio-down/2"
        );
    }
}
