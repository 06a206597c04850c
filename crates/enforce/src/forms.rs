//! Text formats of values whose syntax another standard defines: addresses, interface names, paths.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
pub(crate) use lasthop_engine::notation::forms::words;
use lasthop_engine::notation::forms::{Form, fault_of_each};
use lasthop_engine::notation::problem::one_line;
use serde::Serialize;

/// Name of a network interface, limited by `IFNAMSIZ` of Linux.
pub(crate) static INTERFACE: Form = Form {
    expected: "the name of a network interface, 1 to 15 characters without blanks, `/` and `:`",
    fault: |text| {
        let plain = |c: char| c.is_ascii_graphic() && c != '/' && c != ':';
        match text {
            "" => Some("is empty".to_owned()),
            "." | ".." => Some("is no interface name".to_owned()),
            _ if text.len() > 15 => Some("is too long for an interface name".to_owned()),
            _ if !text.chars().all(plain) => Some("is no interface name".to_owned()),
            _ => None,
        }
    },
    pattern: "^[!-.0-9;-~]{1,15}$",
};

/// Names of network interfaces, separated by blanks or commas.
pub(crate) static INTERFACES: Form = Form {
    expected: "names of network interfaces, separated by commas",
    fault: |text| fault_of_each(text, INTERFACE.fault),
    pattern: r"^\s*[!-.0-9;-~]{1,15}([\s,]+[!-.0-9;-~]{1,15})*\s*$",
};

/// IP addresses and subnets, separated by blanks or commas.
pub(crate) static MEMBERS: Form = Form {
    expected: "IP addresses and subnets such as 192.168.4.0/24, separated by commas",
    fault: |text| fault_of_each(text, |word| member(word).err()),
    pattern: r"^\s*[0-9A-Fa-f:.]+(/\d+)?([\s,]+[0-9A-Fa-f:.]+(/\d+)?)*\s*$",
};

/// MAC addresses, separated by blanks or commas.
pub(crate) static MACS: Form = Form {
    expected: "MAC addresses such as 02:00:5e:10:00:01, separated by commas",
    fault: |text| fault_of_each(text, |word| mac(word).err()),
    pattern: r"^\s*([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}([\s,]+([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2})*\s*$",
};

/// IP addresses, separated by blanks or commas.
pub(crate) static ADDRESSES: Form = Form {
    expected: "IPv4 and IPv6 addresses, separated by commas",
    fault: |text| fault_of_each(text, |word| address(word).err()),
    pattern: r"^\s*[0-9A-Fa-f:.]+([\s,]+[0-9A-Fa-f:.]+)*\s*$",
};

/// IP subnets, separated by blanks or commas.
pub(crate) static SUBNETS: Form = Form {
    expected: "subnets such as 192.168.4.0/24, separated by commas",
    fault: |text| fault_of_each(text, |word| subnet(word).err()),
    pattern: r"^\s*[0-9A-Fa-f:.]+/\d+([\s,]+[0-9A-Fa-f:.]+/\d+)*\s*$",
};

/// MAC addresses, IP addresses, subnets and names of stations, separated by blanks or commas.
pub(crate) static STATIONS: Form = Form {
    expected: "MAC addresses, IP addresses, subnets and names of listed stations, separated by commas",
    fault: |text| fault_of_each(text, |word| station(word).err()),
    pattern: r"^\s*[0-9A-Za-z:._/-]+([\s,]+[0-9A-Za-z:._/-]+)*\s*$",
};

/// A MAC address of one station.
pub(crate) static MAC: Form = Form {
    expected: "a MAC address such as 02:00:5e:10:00:01",
    fault: |text| mac(text).err(),
    pattern: "^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$",
};

/// An absolute path.
pub(crate) static FILE: Form = Form {
    expected: "an absolute path",
    fault: |text| match text {
        "" => Some("is empty".to_owned()),
        _ if !text.starts_with('/') => Some("is no absolute path".to_owned()),
        _ if text.chars().any(char::is_control) => Some("has control characters".to_owned()),
        _ => None,
    },
    pattern: "^/.*$",
};

/// Loopback address and port on which a program listens.
pub(crate) static LOOPBACK: Form = Form {
    expected: "\"off\" or a port of this machine only, such as \"127.0.0.1:9464\"",
    fault: |text| match text.parse::<SocketAddr>() {
        _ if text == "off" => None,
        Err(_) => Some("is no address with a port".to_owned()),
        Ok(at) if !at.ip().is_loopback() => Some("is not a loopback address".to_owned()),
        Ok(at) if at.port() == 0 => Some("has port 0".to_owned()),
        Ok(_) => None,
    },
    pattern: r"^(off|127\.[0-9.]+:\d+|\[::1\]:\d+)$",
};

/// Address and port of an SNMP agent.
pub(crate) static AGENT: Form = Form {
    expected: "an IP address, with or without a port, such as \"192.168.4.2\" or \"192.168.4.2:161\"",
    fault: |text| agent(text).is_none().then(|| "is no IP address".to_owned()),
    pattern: r"^[0-9A-Fa-f:.\[\]]+$",
};

/// SNMP community: up to 64 printable ASCII characters.
pub(crate) static COMMUNITY: Form = Form {
    expected: "an SNMP community of 1 to 64 printable ASCII characters",
    fault: |text| {
        let printable = text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
        let fits = printable && (1..=64).contains(&text.len());
        (!fits).then(|| "is no SNMP community".to_owned())
    },
    pattern: "^[ -~]{1,64}$",
};

/// Sources of the stations' data rates, separated by blanks or commas.
pub(crate) static RATE_SOURCES: Form = Form {
    expected: "sources such as \"iw:wlan0\" and \"hostapd:/var/run/hostapd/wlan0\", separated by commas",
    fault: |text| fault_of_each(text, |word| rate_source(word).err()).or_else(|| repeated(text)),
    pattern: r"^\s*(iw:[^\s,/:]{1,15}|hostapd:/[^\s,]+)([\s,]+(iw:[^\s,/:]{1,15}|hostapd:/[^\s,]+))*\s*$",
};

/// SNMP object identifier of a column with the addresses of an access point's stations.
pub(crate) static OID: Form = Form {
    expected: "an object identifier such as \"1.3.6.1.4.1.9.9.273.1.2.1.1.16\"",
    fault: fault_of_oid,
    pattern: PATTERN_OF_OID,
};

/// SNMP object identifier of a column with the data rates of an access point's stations.
pub(crate) static RATES_OID: Form = Form {
    expected: "an object identifier such as \"1.3.6.1.4.1.9.9.273.1.3.1.1.1\"",
    fault: fault_of_oid,
    pattern: PATTERN_OF_OID,
};

const PATTERN_OF_OID: &str = r"^\d+(\.\d+){2,}$";

/// Returns what is wrong with an SNMP object identifier, if anything.
fn fault_of_oid(text: &str) -> Option<String> {
    let numbers = text.split('.').map(str::parse::<u32>);
    let mut count = 0;
    let good = numbers.inspect(|_| count += 1).all(|n| n.is_ok());
    (!good || count < 3).then(|| "is no object identifier".to_owned())
}

/// Parses an address that a single host can have.
pub(crate) fn address(text: &str) -> Result<IpAddr, String> {
    let address: IpAddr = text.parse().map_err(|_| "is no IP address".to_owned())?;
    let broadcast = address == IpAddr::from([255, 255, 255, 255]);
    if address.is_unspecified() || address.is_multicast() || address.is_loopback() || broadcast {
        return Err("is no address of a host".to_owned());
    }
    Ok(address)
}

/// Address range of a subnet: whether the addresses are IPv4, and the first and last address as
/// numbers.
pub(crate) type Range = (bool, u128, u128);

/// Returns the address range of a subnet.
pub(crate) fn range(subnet: IpNet) -> Range {
    let number = |address| match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    };
    let is_v4 = subnet.addr().is_ipv4();
    (is_v4, number(subnet.network()), number(subnet.broadcast()))
}

/// Returns whether two subnets overlap.
pub(crate) fn overlap(a: IpNet, b: IpNet) -> bool {
    a.contains(&b) || b.contains(&a)
}

/// Parses a subnet. The bits after the prefix must be zero.
pub(crate) fn subnet(text: &str) -> Result<IpNet, String> {
    let fault = || "is no subnet".to_owned();
    let (address, length) = text.split_once('/').ok_or_else(fault)?;
    let address: IpAddr = address.parse().map_err(|_| fault())?;
    let length: u8 = length.parse().map_err(|_| fault())?;
    let subnet = IpNet::new(address, length).map_err(|_| fault())?;
    match subnet.trunc() {
        network if network == subnet => Ok(subnet),
        network => Err(format!("has bits after its prefix, write {network}")),
    }
}

/// Returns the values that `read` parses from the words of a list. Words that `read` refuses are left out.
/// If there is no list (`None`), the result is empty.
pub(crate) fn each<T>(list: Option<&str>, read: fn(&str) -> Result<T, String>) -> Vec<T> {
    let words = words(list.unwrap_or_default());
    words.filter_map(|word| read(word).ok()).collect()
}

/// Parses a subnet, or a single address, which is returned as a subnet.
pub(crate) fn member(text: &str) -> Result<IpNet, String> {
    match text.contains('/') {
        true => subnet(text),
        false => address(text).map(IpNet::from),
    }
}

/// A reference to a station in the list of a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Which {
    /// MAC address of the station.
    Mac(String),
    /// Subnet that contains an address of the station.
    Subnet(IpNet),
    /// Name of the station in the file.
    Name(String),
}

/// Parses a reference to a station: a MAC address, an IP address, a subnet or a name.
pub(crate) fn station(text: &str) -> Result<Which, String> {
    if let Ok(mac) = mac(text) {
        return Ok(Which::Mac(mac));
    }
    match member(text) {
        Ok(subnet) => Ok(Which::Subnet(subnet)),
        Err(_) if is_like_mac(text) => mac(text).map(Which::Mac),
        Err(fault) if text.contains([':', '.', '/']) => Err(fault),
        Err(_) => Ok(Which::Name(text.to_owned())),
    }
}

/// Returns whether a text resembles a MAC address: five to seven groups of up to three hexadecimal
/// digits.
fn is_like_mac(text: &str) -> bool {
    let is_part =
        |part: &str| (1..=3).contains(&part.len()) && part.chars().all(|c| c.is_ascii_hexdigit());
    let parts = || text.split([':', '-']);
    (5..=7).contains(&parts().count()) && parts().all(is_part)
}

/// Parses a MAC address. Returns it in lower case with colons.
pub(crate) fn mac(text: &str) -> Result<String, String> {
    let fault = || "is no MAC address".to_owned();
    let parts: Vec<&str> = text.split([':', '-']).collect();
    let hex = |part: &&str| part.len() == 2 && part.chars().all(|c| c.is_ascii_hexdigit());
    if parts.len() != 6 || !parts.iter().all(hex) {
        return Err(fault());
    }
    let first = u8::from_str_radix(parts[0], 16).map_err(|_| fault())?;
    let mac = parts.join(":").to_lowercase();
    if first & 1 == 1 || mac == "00:00:00:00:00:00" {
        return Err("is no address of one station".to_owned());
    }
    Ok(mac)
}

/// Longest path of a UNIX socket (Linux: `sun_path` without its final zero). [bytes]
const LONGEST_SOCKET: usize = 107;

/// Returns a fault that names the first repeated word of a list, or `None` if no word occurs twice.
fn repeated(text: &str) -> Option<String> {
    let mut seen = BTreeSet::new();
    let word = words(text).find(|word| !seen.insert(*word))?;
    Some(format!("has `{}` twice", one_line(word, 40)))
}

/// A source of the stations' data rates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateSource {
    /// Program that reports the rates: `iw` or `hostapd`.
    pub kind: String,
    /// Interface, or path of the program's socket.
    pub at: String,
}

/// Parses a source of the stations' data rates.
pub(crate) fn rate_source(text: &str) -> Result<RateSource, String> {
    let unknown = || "is no source of rates".to_owned();
    let (kind, at) = text.split_once(':').ok_or_else(unknown)?;
    let fault = match kind {
        "iw" if at.starts_with('-') => Some("is no interface name".to_owned()),
        "iw" => (INTERFACE.fault)(at),
        "hostapd" if at.len() > LONGEST_SOCKET => {
            Some(format!("has a path of more than {LONGEST_SOCKET} bytes"))
        }
        "hostapd" => (FILE.fault)(at),
        _ => Some(unknown()),
    };
    let (kind, at) = (kind.to_owned(), at.to_owned());
    fault.map_or(Ok(RateSource { kind, at }), Err)
}

/// Parses address and port of an SNMP agent.
pub(crate) fn agent(text: &str) -> Option<SocketAddr> {
    const SNMP: u16 = 161;
    let bare = text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, SNMP));
    bare.or_else(|_| text.parse()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_the_word_at_fault() {
        assert_eq!((ADDRESSES.fault)("10.0.0.1, fe80::1"), None);
        let fault = (ADDRESSES.fault)("10.0.0.1, 10.0.0").unwrap_or_default();
        assert_eq!(fault, "has `10.0.0`, which is no IP address");
        assert_eq!((ADDRESSES.fault)(" , ").as_deref(), Some("is empty"));
        let fault = (ADDRESSES.fault)("224.0.0.1");
        assert_eq!(fault.as_deref(), Some("is no address of a host"));
    }

    #[test]
    fn no_form_but_a_list_goes_on_behind_its_line() {
        let forms = [
            (&INTERFACE, "eth0"),
            (&MAC, "02:00:5e:10:00:01"),
            (&FILE, "/leases"),
            (&LOOPBACK, "127.0.0.1:9464"),
            (&AGENT, "10.0.0.1"),
            (&COMMUNITY, "public"),
            (&OID, "1.3.6"),
        ];
        for (form, text) in forms {
            assert_eq!((form.fault)(text), None, "{text}");
            assert!((form.fault)(&format!("{text}\n")).is_some(), "{text}");
        }
    }

    #[test]
    fn a_subnet_has_nothing_behind_its_prefix() {
        assert!(subnet("192.168.4.0/24").is_ok() && subnet("::/0").is_ok());
        assert!(subnet("0.0.0.0/0").is_ok() && subnet("2001:db8::/64").is_ok());
        for bad in ["192.168.4.1/24", "192.168.4.0", "192.168.4.0/33", "x/8"] {
            assert!(subnet(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_mistyped_reference_is_named_by_what_it_resembles() {
        for bad in ["02:00:5e:10:0:02", "02:00:5e:10:00", "02-00-5e-10-0-2"] {
            assert_eq!(station(bad), Err("is no MAC address".to_owned()), "{bad}");
        }
        let group = "is no address of one station";
        assert_eq!(station("ff:ff:ff:ff:ff:ff"), Err(group.to_owned()));
        for bad in ["fe80:::1", "2001:db8:1:2:3:4", "1:2:3:4:5:6:7:8:9"] {
            assert_eq!(station(bad), Err("is no IP address".to_owned()), "{bad}");
        }
        assert_eq!(
            station("fe80::1:2"),
            Ok(Which::Subnet("fe80::1:2/128".parse().unwrap()))
        );
        let host_bits = [
            ("10.0.0.1/24", "write 10.0.0.0/24"),
            ("2001:db8::7/32", "write 2001:db8::/32"),
        ];
        for (bad, remedy) in host_bits {
            assert_eq!(
                station(bad),
                Err(format!("has bits after its prefix, {remedy}"))
            );
        }
    }

    #[test]
    fn a_source_of_rates_names_what_is_asked_and_where() {
        for (kind, at) in [("iw", "wlan0"), ("hostapd", "/var/run/hostapd/wlan0:1")] {
            let source = rate_source(&format!("{kind}:{at}")).unwrap();
            assert_eq!((source.kind.as_str(), source.at.as_str()), (kind, at));
        }
        let long = format!("hostapd:/{}", "x".repeat(LONGEST_SOCKET));
        for bad in [
            "",
            "iw",
            "iw:",
            "iw:a/b",
            "wlan0",
            "hostapd:",
            "hostapd:run",
            &long,
        ] {
            assert!(rate_source(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_mac_address_is_of_one_station() {
        assert_eq!(mac("02-00-5E-10-00-01").as_deref(), Ok("02:00:5e:10:00:01"));
        for bad in [
            "ff:ff:ff:ff:ff:ff",
            "00:00:00:00:00:00",
            "02:00:5e:10:00",
            "2:0:5e:10:0:1",
        ] {
            assert!(mac(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn metrics_are_for_this_machine_alone() {
        for good in ["off", "127.0.0.1:9464", "[::1]:9464"] {
            assert_eq!((LOOPBACK.fault)(good), None, "{good}");
        }
        for bad in [
            "0.0.0.0:9464",
            "192.168.4.1:9464",
            "127.0.0.1",
            "127.0.0.1:0",
        ] {
            assert!((LOOPBACK.fault)(bad).is_some(), "{bad}");
        }
    }
}
