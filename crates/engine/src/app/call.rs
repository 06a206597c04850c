//! The datagrams of an audio or video call between two persons.
//!
//! Audio is G.711 with 20 ms of speech per datagram (ITU-T G.711; RFC 3551, 4.5.14). Video consists
//! of 30 frames per second, with several datagrams per frame. Audio and video are sent in both
//! directions, without pauses.
//!
//! Differs from the calls of current applications in three points. There is no silence suppression,
//! all frames of the video have the same length, and the rate is not adapted to the network.

use serde_json::json;

use super::{Arrivals, UdpSettings};
use crate::notation::setting::{Json, Setting, count, flag};
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
    }
}

/// Returns the hint for a user who writes "video" instead of a number of calls.
fn with_video(word: &str) -> Option<String> {
    word.trim().starts_with("video").then(|| {
        "a call has video unless it is \"audio\"; 1 is a call with audio and video".to_owned()
    })
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

impl CallKeys {
    /// Returns whether `calls` and `video` contradict each other.
    pub fn contradicts(self) -> bool {
        self.calls == CallCount::Audio && self.video == Some(true)
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

    #[test]
    fn a_call_has_audio_and_video_both_ways_and_the_word_audio_no_video() {
        let names = |calls, video| {
            let keys = CallKeys { calls, video };
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
