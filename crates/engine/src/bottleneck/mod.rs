//! tmp
mod settings;

pub use settings::{VsbFairness, VsbSettings};
