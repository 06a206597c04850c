//! Tests of complete engine runs in one binary, so that it is linked once and its tests run in
//! parallel.

mod access;
mod applications;
mod averages;
mod bbr;
mod bottleneck;
mod buffer_sharing;
mod capture;
mod cell;
mod csma;
mod l4s;
mod laws;
mod limits;
mod losses;
mod mac80211;
mod oracle;
mod power_save;
mod ppdu;
mod ppdus;
mod queues;
mod support;
mod tails;
mod waits;
mod weather;
