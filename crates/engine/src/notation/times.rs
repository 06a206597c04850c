//! Lists of times in milliseconds, in ascending order. The scenario contains the list, or names a
//! file with one time per line. The content of this file is passed together with the scenario.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::numbers::{Refusal, integer, quantity, refuse};
use super::problem::one_line;
use super::tree::{Data, Item};
use super::units;

/// Maximum number of times in a list or file.
pub const MAX_TIMES: usize = 1_000_000;

/// Maximum size of a file of times. [bytes]
pub const LARGEST_TIMES: usize = 16 << 20;

/// Largest accepted time. [ms]
const LATEST_MS: u64 = 1_000_000_000;

/// Description of an accepted list, as a noun phrase that follows the word `expected`.
pub(super) const LIST: &str = "a list of up to 1000000 times in whole ms, in ascending order, \
                               the last from 1 to 1000000000";

/// Description of an accepted file, as a noun phrase that follows the word `expected`.
pub(super) const FILE: &str = "a file of up to 1000000 times in whole ms, one per line, in ascending \
                               order, the last from 1 to 1000000000";

/// The files to which a scenario refers: for each file name, the content of the file, or the reason
/// why the file cannot be read.
pub type Files = BTreeMap<String, Result<Vec<u8>, String>>;

/// An empty set of files.
pub(crate) static NO_FILES: Files = Files::new();

/// Returns the times in the list `node`. [ms]
pub(super) fn of_list(node: &Item) -> Result<Arc<[u32]>, Refusal> {
    let Data::List(items) = &node.data else {
        return refuse("is not a list of times");
    };
    let time = |item: &Item| match item.text() {
        Some(_) => match quantity(item, units::TIME, "duration")? {
            ns if ns % 1_000_000 == 0 => Ok(ns / 1_000_000),
            _ => refuse("is not a whole number of ms"),
        },
        None => integer(item, &(0..=u64::MAX)),
    };
    let each = items.iter().map(|item| (item.show(), time(item)));
    in_order(each, items.len(), ["items", "as item"])
}

/// Returns the times in the file of this name. [ms]
pub(super) fn of_file(name: &str, files: &Files) -> Result<Arc<[u32]>, Refusal> {
    let bytes = match files.get(name) {
        Some(Ok(bytes)) => bytes,
        Some(Err(why)) => return refuse(format!("cannot be read: {why}")),
        None => return refuse("is the name of a file, and no files are available here"),
    };
    if bytes.len() > LARGEST_TIMES {
        return refuse(format!("has more than {LARGEST_TIMES} bytes"));
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return refuse("is not text");
    };
    let time = |line: &str| match line.parse::<i128>() {
        Ok(ms) => u64::try_from(ms).or_else(|_| match ms < 0 {
            true => refuse("is negative"),
            false => refuse("is too large"),
        }),
        Err(_) => refuse("is not a whole number"),
    };
    let lines = text.lines().map(str::trim);
    let each = lines.map(|line| (format!("\"{}\"", one_line(line, 40)), time(line)));
    in_order(each, text.lines().count(), ["lines", "in line"])
}

/// Returns `count` times if they are in ascending order. With each time, the caller passes its text
/// for messages. `places` is the plural noun for positions in messages (`items` or `lines`), and
/// `place` precedes a position number.
fn in_order(
    each: impl Iterator<Item = (String, Result<u64, Refusal>)>,
    count: usize,
    [places, place]: [&str; 2],
) -> Result<Arc<[u32]>, Refusal> {
    match count {
        0 => return refuse("is empty"),
        1..=MAX_TIMES => {}
        _ => return refuse(format!("has {count} {places}")),
    }
    let mut times: Vec<u32> = Vec::with_capacity(count);
    for (number, (shown, ms)) in (1..).zip(each) {
        let before = times.last().map_or(0, |&ms| u64::from(ms));
        let fault = match ms {
            Err(refusal) => refusal.fault,
            Ok(ms) if ms > LATEST_MS => "is too large".to_owned(),
            Ok(ms) if ms < before => format!("is before the previous time, {before}"),
            Ok(ms) => {
                times.push(ms as u32);
                continue;
            }
        };
        return refuse(format!("has {shown} {place} {number}, which {fault}"));
    }
    match times.last() {
        Some(0) => refuse(format!(
            "ends with 0 {place} {count}, so that it takes no time"
        )),
        _ => Ok(times.into()),
    }
}

/// Name of the key that names a file of times, in every table.
pub(crate) const FILE_KEY: &str = "trace_file";

/// Adds the names of all files of times in a tree, without duplicates.
pub(super) fn named(node: &Item, names: &mut Vec<String>) {
    for (name, inner) in node.entries().unwrap_or_default() {
        match inner.text() {
            Some(file) if name != FILE_KEY || names.iter().any(|known| known == file) => {}
            Some(file) => names.push(file.to_owned()),
            None => named(inner, names),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the times that this content of a file lists, or the fault of the file.
    fn of(content: &[u8]) -> Result<Vec<u32>, String> {
        let files = Files::from([("x".to_owned(), Ok(content.to_vec()))]);
        match of_file("x", &files) {
            Ok(ms) => Ok(ms.to_vec()),
            Err(refusal) => Err(refusal.fault),
        }
    }

    #[test]
    fn a_file_has_a_time_a_line() {
        assert_eq!(of(b"0\n3\n3\n12\n"), Ok(vec![0, 3, 3, 12]));
        assert_eq!(of(b"5\r\n7\r\n"), Ok(vec![5, 7]), "of Windows");
        assert_eq!(of(b"1000000000"), Ok(vec![1_000_000_000]));
    }

    #[test]
    fn each_fault_of_a_file_says_where_it_is() {
        let many = [b"1\n".repeat(MAX_TIMES), b"2".to_vec()].concat();
        for (content, fault) in [
            (&b""[..], "is empty"),
            (b"1\n\n2", "has \"\" in line 2, which is not a whole number"),
            (
                b"1\n2.5",
                "has \"2.5\" in line 2, which is not a whole number",
            ),
            (b"1 2", "has \"1 2\" in line 1, which is not a whole number"),
            (
                b"4\n9\n7",
                "has \"7\" in line 3, which is before the previous time, 9",
            ),
            (b"-3\n9", "has \"-3\" in line 1, which is negative"),
            (
                b"1000000001",
                "has \"1000000001\" in line 1, which is too large",
            ),
            (b"0\n0\n", "ends with 0 in line 2, so that it takes no time"),
            (b"\xff\n", "is not text"),
            (&many, "has 1000001 lines"),
            (
                &vec![b' '; LARGEST_TIMES + 1],
                "has more than 16777216 bytes",
            ),
        ] {
            assert_eq!(of(content), Err(fault.to_owned()));
        }
    }

    #[test]
    fn a_file_that_nobody_could_read_says_why() {
        let files = Files::from([("x".to_owned(), Err("no such file".to_owned()))]);
        let fault = |name| of_file(name, &files).map_err(|refusal| refusal.fault);
        assert_eq!(fault("x"), Err("cannot be read: no such file".to_owned()));
        assert_eq!(
            fault("y"),
            Err("is the name of a file, and no files are available \
                          here"
                .to_owned())
        );
    }
}
