//! Quality of links: frame errors due to noise, the settings of a channel, and channel changes
//! during a run.

mod noise;
mod settings;

pub use noise::{coded_frame_error, frame_error};
pub(crate) use settings::ErrorKeys;
pub use settings::{Channel, ChannelChange, Quality};
