//! Rules for the targets to which a server lets its clients connect.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::Deserialize;

/// A rule that allows certain hosts and ports.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allowed {
    pub(crate) host: Host,
    /// Allowed port, or `None` if the rule allows every port.
    pub(crate) port: Option<u16>,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Host {
    Any,
    /// Host name, spelled as the client sends it.
    Name(String),
    /// Network that contains the IP address of the host.
    Network(IpNet),
}

impl Allowed {
    /// Returns whether this rule allows a target with the host name `name`, the IP address
    /// `address` and the port `port`.
    fn covers(&self, name: &str, address: IpAddr, port: u16) -> bool {
        let is_host = match &self.host {
            Host::Any => true,
            Host::Name(known) => known.eq_ignore_ascii_case(name.trim_end_matches('.')),
            Host::Network(network) => network.contains(&address.to_canonical()),
        };
        is_host && self.port.is_none_or(|known| known == port)
    }
}

/// Returns whether one of the rules in `list` allows a target. An empty list allows every target.
pub(crate) fn is_allowed(list: &[Allowed], name: &str, address: IpAddr, port: u16) -> bool {
    list.is_empty() || list.iter().any(|each| each.covers(name, address, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_networks_and_ports_are_told_apart() {
        let network = Host::Network("10.1.0.0/16".parse().unwrap());
        let allowed = |host: &Host, port| Allowed {
            host: host.clone(),
            port,
        };
        let name = Host::Name("db.example".into());
        let list = [allowed(&network, None), allowed(&name, Some(5432))];
        let may =
            |name, address: &str, port| is_allowed(&list, name, address.parse().unwrap(), port);
        assert!(may("x", "10.1.2.3", 80));
        assert!(may("x", "::ffff:10.1.2.3", 80));
        assert!(!may("x", "10.2.2.3", 80));
        assert!(may("DB.example.", "192.0.2.1", 5432));
        assert!(!may("db.example", "192.0.2.1", 22));
        assert!(is_allowed(&[], "x", "::1".parse().unwrap(), 1));
    }
}
