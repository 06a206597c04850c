//! Numbers with units: `"5 ms"`, `"11 Mbps"`, `"1500 B"`.
//!
//! A quantity is a decimal number and a unit. The number is parsed in integer arithmetic with 24
//! significant digits. The result is rounded once to the base unit (a half is rounded up):
//! nanosecond, bit/s, byte or millimetre. Prefixes are decimal: k = 1000.

use super::problem::nearest;

/// A unit, with its size in base units.
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    scale: u64,
}

const fn unit(name: &'static str, scale: u64) -> Unit {
    Unit { name, scale }
}

/// Units of time; base unit nanosecond.
pub(crate) const TIME: &[Unit] = &[
    unit("ns", 1),
    unit("us", 1_000),
    unit("µs", 1_000),
    unit("μs", 1_000),
    unit("ms", 1_000_000),
    unit("s", 1_000_000_000),
    unit("min", 60_000_000_000),
    unit("h", 3_600_000_000_000),
];

/// Units of data rate; base unit bit/s.
pub(crate) const RATE: &[Unit] = &[
    unit("bps", 1),
    unit("kbps", 1_000),
    unit("Mbps", 1_000_000),
    unit("Gbps", 1_000_000_000),
];

/// Units of size; base unit byte.
pub(crate) const SIZE: &[Unit] = &[
    unit("B", 1),
    unit("kB", 1_000),
    unit("MB", 1_000_000),
    unit("GB", 1_000_000_000),
];

/// Units of length; base unit millimetre.
pub(crate) const LENGTH: &[Unit] = &[unit("mm", 1), unit("m", 1_000), unit("km", 1_000_000)];

/// Returns every unit, the suffix of its SI unit in names of keys (such as `bps`), and the size of
/// the unit in the SI unit as numerator and denominator.
pub(crate) fn in_si() -> impl Iterator<Item = (&'static str, &'static str, u64, u64)> {
    let dimensions = [
        (TIME, "s", 1_000_000_000),
        (RATE, "bps", 1),
        (SIZE, "bytes", 1),
        (LENGTH, "m", 1_000),
    ];
    dimensions.into_iter().flat_map(|(units, si, parts)| {
        units
            .iter()
            .map(move |unit| (unit.name, si, unit.scale, parts))
    })
}

/// Units, each with a list of other spellings of this unit, in lower case.
const SPELLINGS: &[(&str, &[&str])] = &[
    ("ns", &["nsec", "nanosecond", "nanoseconds"]),
    ("us", &["usec", "microsecond", "microseconds"]),
    ("ms", &["msec", "millisecond", "milliseconds"]),
    ("s", &["sec", "secs", "second", "seconds"]),
    ("min", &["mins", "minute", "minutes"]),
    ("h", &["hr", "hrs", "hour", "hours"]),
    ("bps", &["b/s", "bit/s", "bits/s"]),
    ("kbps", &["k", "kb/s", "kbit", "kbit/s", "kbits/s"]),
    ("Mbps", &["m", "mb/s", "mbit", "mbit/s", "mbits/s"]),
    ("Gbps", &["g", "gb/s", "gbit", "gbit/s", "gbits/s"]),
    ("B", &["byte", "bytes"]),
    ("kB", &["k", "kbyte", "kbytes"]),
    ("m", &["metre", "metres", "meter", "meters"]),
    (
        "km",
        &["kilometre", "kilometres", "kilometer", "kilometers"],
    ),
];

/// Returns the accepted unit that the user probably meant by `word`; `None` if no accepted unit is
/// similar.
pub(crate) fn meant(word: &str, units: &[Unit]) -> Option<&'static str> {
    // "MB/s" is eight times "Mb/s", so a unit with bits is not suggested for bytes
    let bytes = word.contains('B') && !word.to_ascii_lowercase().contains("bit");
    if bytes && units.iter().any(|unit| unit.name == "bps") {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let known = |name: &str| units.iter().any(|unit| unit.name == name);
    SPELLINGS
        .iter()
        .find(|(name, spellings)| known(name) && spellings.contains(&lower.as_str()))
        .map(|(name, _)| *name)
        .or_else(|| {
            // no unit is suggested for an unknown prefix, as in "Tbps"
            let begins = |unit: &&Unit| {
                lower.chars().next() == unit.name.to_ascii_lowercase().chars().next()
            };
            nearest(word, units.iter().filter(begins).map(|unit| unit.name))
        })
}

/// The reason why a text is not a quantity.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotAQuantity {
    /// The text does not begin with a number.
    NoNumber,
    /// The number is NaN or infinite.
    NotFinite,
    /// The number is below zero.
    Negative,
    /// The number has no unit.
    NoUnit,
    /// A unit that is not accepted: the number, and the text after it.
    UnknownUnit(String, String),
}

/// Returns the quantity `text` in base units, rounded to an integer and limited to `u64::MAX`.
pub(crate) fn parse(text: &str, units: &[Unit]) -> Result<u64, NotAQuantity> {
    let text = text.trim();
    let unsigned = text.trim_start_matches(['+', '-']);
    let first_word = unsigned.split_whitespace().next().unwrap_or_default();
    if ["nan", "inf", "infinity"].contains(&first_word.to_ascii_lowercase().as_str()) {
        return Err(NotAQuantity::NotFinite);
    }
    let (decimal, unit) = Decimal::read(unsigned).ok_or(NotAQuantity::NoNumber)?;
    match text.len() - unsigned.len() {
        0 => {}
        1 if text.starts_with('+') => {}
        1 => return Err(NotAQuantity::Negative),
        _ => return Err(NotAQuantity::NoNumber),
    }
    let number = unsigned[..unsigned.len() - unit.len()].trim().to_owned();
    let unit = unit.trim();
    if unit.is_empty() {
        return Err(NotAQuantity::NoUnit);
    }
    match units.iter().find(|u| u.name == unit) {
        Some(unit) => Ok(decimal.scaled(unit.scale)),
        None => Err(NotAQuantity::UnknownUnit(number, unit.to_owned())),
    }
}

/// Returns whether the quantity `text` is a whole number of base units. A text that is not a quantity
/// has no fraction.
pub(crate) fn is_whole(text: &str, units: &[Unit]) -> bool {
    let Some((decimal, unit)) = Decimal::read(text.trim()) else {
        return true;
    };
    let unit = units.iter().find(|known| known.name == unit.trim());
    unit.is_none_or(|unit| decimal.is_whole(unit.scale))
}

/// A number `mantissa * 10^exponent`.
struct Decimal {
    mantissa: u128,
    exponent: i64,
}

impl Decimal {
    /// Parses digits, fraction and exponent at the start of `text`. Returns the number and the
    /// remaining text.
    fn read(text: &str) -> Option<(Decimal, &str)> {
        /// Mantissa from which further digits are ignored. With 24 digits, the mantissa times the
        /// largest unit fits into 128 bits.
        const FULL: u128 = 1_000_000_000_000_000_000_000_000;
        let mut decimal = Decimal {
            mantissa: 0,
            exponent: 0,
        };
        let (mut digits, mut in_fraction, mut end) = (0, false, 0);
        for (at, c) in text.char_indices() {
            match c.to_digit(10) {
                Some(digit) => {
                    digits += 1;
                    if decimal.mantissa < FULL / 10 {
                        decimal.mantissa = decimal.mantissa * 10 + u128::from(digit);
                        decimal.exponent -= i64::from(in_fraction);
                    } else {
                        decimal.exponent += i64::from(!in_fraction);
                    }
                }
                None if c == '.' && !in_fraction => in_fraction = true,
                None => break,
            }
            end = at + c.len_utf8();
        }
        if digits == 0 {
            return None;
        }
        let mut rest = &text[end..];
        if let Some((exponent, after)) = read_exponent(rest) {
            decimal.exponent += exponent;
            rest = after;
        }
        Some((decimal, rest))
    }

    /// Returns whether the number times `scale` is a whole number.
    fn is_whole(&self, scale: u64) -> bool {
        let product = self.mantissa * u128::from(scale);
        let divisor = u32::try_from(-self.exponent).ok();
        match divisor.and_then(|exponent| 10u128.checked_pow(exponent)) {
            Some(divisor) => product.is_multiple_of(divisor),
            None => self.exponent >= 0 || product == 0,
        }
    }

    /// Returns the number times `scale` (the size of a unit), rounded to an integer (a half is
    /// rounded up) and limited to `u64::MAX`.
    fn scaled(&self, scale: u64) -> u64 {
        let product = self.mantissa * u128::from(scale);
        let power = |exponent: u64| {
            u32::try_from(exponent)
                .ok()
                .and_then(|e| 10u128.checked_pow(e))
        };
        let rounded = if self.exponent >= 0 {
            match power(self.exponent.unsigned_abs()) {
                Some(factor) => product.saturating_mul(factor),
                None if product == 0 => 0,
                None => u128::MAX,
            }
        } else {
            match power(self.exponent.unsigned_abs()) {
                Some(divisor) => {
                    product / divisor + u128::from(product % divisor >= divisor.div_ceil(2))
                }
                None => 0,
            }
        };
        u64::try_from(rounded).unwrap_or(u64::MAX)
    }
}

/// Parses an exponent such as `e+12` at the start of `text`. The exponent is limited to ±1 000 000.
fn read_exponent(text: &str) -> Option<(i64, &str)> {
    let after_e = text.strip_prefix(['e', 'E'])?;
    let (sign, digits) = match after_e.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, after_e.strip_prefix('+').unwrap_or(after_e)),
    };
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    if length == 0 {
        return None;
    }
    let magnitude: i64 = digits[..length].parse().unwrap_or(1_000_000);
    Some((sign * magnitude.min(1_000_000), &digits[length..]))
}

/// Returns `base` base units as text in the largest unit that gives a whole number, such as `20
/// us`. A time above 1 us that is not a whole number of microseconds has decimals: `1567.091 us`.
pub(crate) fn show(base: u64, units: &[Unit]) -> String {
    let unit = units
        .iter()
        .filter(|u| !["min", "h", "µs", "μs"].contains(&u.name))
        .rfind(|u| base.is_multiple_of(u.scale) && base >= u.scale)
        .unwrap_or(&units[0]);
    let micro = units.iter().find(|u| u.name == "us");
    match micro.filter(|u| unit.scale < u.scale && base > u.scale) {
        Some(us) => format!("{}.{:03} us", base / us.scale, base % us.scale),
        None => format!("{} {}", base / unit.scale, unit.name),
    }
}

/// Returns rates as a list in Mbps, such as `1, 2, 5.5, 11 Mbps`.
pub(crate) fn show_rates(rates_bps: &[u64]) -> String {
    let numbers: Vec<String> = rates_bps
        .iter()
        .map(|bps| (*bps as f64 / 1e6).to_string())
        .collect();
    format!("{} Mbps", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_fractions_are_exact() {
        assert_eq!(parse("0.1 ms", TIME), Ok(100_000));
        assert_eq!(parse("5.5 Mbps", RATE), Ok(5_500_000));
        assert_eq!(parse("1.5 kB", SIZE), Ok(1_500));
        assert_eq!(parse("2 min", TIME), Ok(120_000_000_000));
        assert_eq!(parse("1.5e-3s", TIME), Ok(1_500_000));
        assert_eq!(parse("3 µs", TIME), Ok(3_000));
    }

    #[test]
    fn rounding_is_to_the_nearest_nanosecond_ties_up() {
        assert_eq!(parse("0.4 ns", TIME), Ok(0));
        assert_eq!(parse("0.5 ns", TIME), Ok(1));
        assert_eq!(parse("1118.5454 ns", TIME), Ok(1_119));
    }

    #[test]
    fn a_fraction_of_a_base_unit_is_found() {
        for text in [
            "1 B",
            "1.0 B",
            "1.5 kB",
            "1500e-3 kB",
            "2e3 B",
            "0 B",
            "x",
            "1.5 parsec",
        ] {
            assert!(is_whole(text, SIZE), "{text}");
        }
        for text in ["1.5 B", "0.1 B", "1.0005 kB", "1e-60 B"] {
            assert!(!is_whole(text, SIZE), "{text}");
        }
    }

    #[test]
    fn enormous_and_tiny_numbers_saturate() {
        assert_eq!(parse("1e30 s", TIME), Ok(u64::MAX));
        assert_eq!(parse("1e999999999999999999999 s", TIME), Ok(u64::MAX));
        assert_eq!(parse("1e-999999999999999999999 s", TIME), Ok(0));
        assert_eq!(parse(&format!("{} s", "9".repeat(500)), TIME), Ok(u64::MAX));
        assert_eq!(parse(&format!("0.{}1 s", "0".repeat(500)), TIME), Ok(0));
    }

    #[test]
    fn each_mistake_has_its_name() {
        assert_eq!(parse("5", TIME), Err(NotAQuantity::NoUnit));
        assert_eq!(parse("-5 s", TIME), Err(NotAQuantity::Negative));
        assert_eq!(parse("nan s", TIME), Err(NotAQuantity::NotFinite));
        assert_eq!(parse("soon", TIME), Err(NotAQuantity::NoNumber));
        assert_eq!(
            parse("5 sec", TIME),
            Err(NotAQuantity::UnknownUnit("5".into(), "sec".into()))
        );
    }

    #[test]
    fn spelled_out_units_are_understood_but_bytes_are_no_bits() {
        assert_eq!(meant("sec", TIME), Some("s"));
        assert_eq!(meant("hours", TIME), Some("h"));
        assert_eq!(meant("mbps", RATE), Some("Mbps"));
        assert_eq!(meant("MBit/s", RATE), Some("Mbps"));
        assert_eq!(meant("MB/s", RATE), None);
        assert_eq!(meant("Tbps", RATE), None, "a factor of 10^12 off");
        assert_eq!(meant("bsp", RATE), Some("bps"));
        assert_eq!(meant("k", SIZE), Some("kB"));
        assert_eq!(meant("parsec", TIME), None);
    }

    #[test]
    fn shown_quantities_read_back() {
        for text in [
            "20 us",
            "1000000 s",
            "1 ms",
            "0 ns",
            "999 ns",
            "1567.091 us",
            "5500 kbps",
        ] {
            let units = if text.ends_with("bps") { RATE } else { TIME };
            assert_eq!(show(parse(text, units).unwrap(), units), text);
        }
        assert_eq!(show_rates(&[1_000_000, 5_500_000]), "1, 5.5 Mbps");
    }
}
