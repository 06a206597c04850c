//! From TOML or JSON text to a checked [`Scenario`].

mod model;

pub use model::*;
