//! tmp
mod settings;

pub(crate) use settings::{
    AccessWord, ConnectionsWord, CsmaLinkTable, CsmaNodeTable, CsmaTable, MARGINAL_UTILITY,
    QueueUnit, Rounding,
};
pub use settings::{
    Connections, Csma, CsmaAccess, CsmaAcks, CsmaAir, CsmaFlow, CsmaLink, CsmaNode, CsmaPrice,
    CsmaUsers, DcfSettings, Hop, Spread,
};
