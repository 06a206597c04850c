//! The table `[interface]` with the settings of `lasthop queue`.

mod assemble;
mod checked;
mod checks;
mod settings;

#[cfg(test)]
mod tests;

pub use checked::{Interface, Members};

pub(crate) use assemble::assemble;
pub(crate) use checks::check;
pub(crate) use settings::InterfaceTable;
