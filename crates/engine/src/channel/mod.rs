//! How good a link is: what noise does to frames, what a file says of it, how it changes during a run.

mod noise;
mod settings;

pub use noise::{coded_frame_error, frame_error};
pub(crate) use settings::ErrorKeys;
pub use settings::{Channel, ChannelChange, Quality};
