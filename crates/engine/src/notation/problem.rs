//! The problems of a scenario file, each with its line or override.

use std::fmt;

/// A problem of a scenario file. Its [`Display`](fmt::Display) form is a complete line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the file, or the override that sets the value (`--set cell.ap.cwmin=x`).
    pub source: String,
    /// Line in the file, counted from 1; `None` for overrides and for the file as a whole.
    pub line: Option<usize>,
    /// Path of the key, such as `cell.ap.cwmin`, or [`WHOLE_FILE`] for a problem without a key.
    pub path: String,
    /// The value, its fault, and the accepted values.
    pub message: String,
    /// Suggested remedy, for a separate line.
    pub hint: Option<String>,
    /// Path of the override that sets the value; `None` for a value of the file.
    pub setting: Option<String>,
}

/// Value of [`Problem::path`] for a problem without a key.
pub const WHOLE_FILE: &str = "(file)";

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if self.path == WHOLE_FILE {
            write!(f, ": {}", self.message)
        } else {
            write!(f, ": `{}`: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for Problem {}

/// The part of the input that contains a value: the file, a line, or an override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The file as a whole.
    File,
    /// A line of the file, counted from 1.
    Line(usize),
    /// The override (`--set`) with this index.
    Setting(usize),
}

/// The error for a value that is missing because a problem with the value was reported. Only
/// functions that report problems create this error.
#[derive(Debug)]
pub struct Refused {
    /// Path of a required key that has no value although no problem was reported. The value is
    /// `Some` only because of a defect in a definition of tables.
    unsaid: Option<String>,
}

impl Refused {
    /// Returns the error for a value whose problem has already been reported.
    pub(crate) fn already() -> Refused {
        Refused { unsaid: None }
    }

    /// Returns the error for the key `path`, which has no value and no reported problem.
    pub(super) fn unsaid(path: String) -> Refused {
        let unsaid = Some(path);
        Refused { unsaid }
    }
}

/// Maximum number of listed problems. Further problems are only counted.
const LISTED: usize = 50;

/// The problems of a file.
pub struct Problems<'a> {
    source: &'a str,
    settings: &'a [(String, String)],
    listed: Vec<(Origin, Problem)>,
    unlisted: usize,
}

impl<'a> Problems<'a> {
    /// Returns an empty list of problems for the file `source` and its overrides.
    pub fn new(source: &'a str, settings: &'a [(String, String)]) -> Self {
        Problems {
            source,
            settings,
            listed: Vec::new(),
            unlisted: 0,
        }
    }

    /// Adds a problem of the key `path`.
    pub fn add(&mut self, origin: Origin, path: &str, message: String) -> Refused {
        self.add_with_hint(origin, path, message, None)
    }

    /// Adds a problem of the key `path`, with a hint.
    pub fn add_with_hint(
        &mut self,
        origin: Origin,
        path: &str,
        message: String,
        hint: Option<String>,
    ) -> Refused {
        if self.is_full() {
            self.unlisted += 1;
            return Refused::already();
        }
        let mut problem = self.of_file(path, message);
        problem.hint = hint;
        match origin {
            Origin::File => {}
            Origin::Line(line) => problem.line = Some(line),
            Origin::Setting(index) => {
                let (path, value) = &self.settings[index];
                problem.source = format!("--set {}={}", one_line(path, 80), one_line(value, 40));
                problem.setting = Some(path.clone());
            }
        }
        self.listed.push((origin, problem));
        Refused::already()
    }

    fn of_file(&self, path: &str, message: String) -> Problem {
        Problem {
            source: one_line(self.source, 200),
            line: None,
            path: one_line(path, 120),
            message,
            hint: None,
            setting: None,
        }
    }

    /// Checks that no problem has been reported so far.
    ///
    /// # Errors
    /// If problems have been reported.
    pub(crate) fn so_far(&self) -> Result<(), Refused> {
        match self.is_empty() {
            true => Ok(()),
            false => Err(Refused::already()),
        }
    }

    /// Returns the value `outcome` of a file, or all problems. If `outcome` is an error and no
    /// problem was reported, a problem is added.
    ///
    /// # Errors
    /// If problems have been reported.
    pub fn conclude<T>(mut self, outcome: Result<T, Refused>) -> Result<T, Vec<Problem>> {
        match outcome {
            Ok(value) if self.is_empty() => return Ok(value),
            Err(refused) if self.is_empty() => {
                let path = refused.unsaid.unwrap_or_else(|| WHOLE_FILE.to_owned());
                let message = "there is no value; this is a defect of lasthop".to_owned();
                self.add(Origin::File, &path, message);
            }
            _ => {}
        }
        Err(self.into_vec())
    }

    /// Returns whether the list is full. Further problems are then only counted, so their text need
    /// not be built.
    pub(crate) fn is_full(&self) -> bool {
        self.listed.len() == LISTED
    }

    /// Returns whether a listed problem is about the key `path`.
    pub fn concern(&self, path: &str) -> bool {
        self.listed.iter().any(|(_, problem)| problem.path == path)
    }

    /// Returns whether a listed problem is about a key of the table `path`.
    pub fn concern_inside(&self, path: &str) -> bool {
        self.listed.iter().any(|(_, problem)| {
            let rest = problem.path.strip_prefix(path);
            rest.is_some_and(|rest| rest.starts_with('.'))
        })
    }

    /// Returns whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Returns the problems, sorted: first the problems of the file by line, then the problems of
    /// the overrides in the order of the overrides.
    pub(crate) fn into_vec(mut self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        let mut ranks: Vec<(u8, usize)> = Vec::new();
        for (origin, problem) in std::mem::take(&mut self.listed) {
            let rank = match origin {
                Origin::Line(line) => (0, line),
                Origin::Setting(index) => (1, index),
                Origin::File => (2, 0),
            };
            let place = ranks.partition_point(|earlier| *earlier <= rank);
            ranks.insert(place, rank);
            problems.insert(place, problem);
        }
        if self.unlisted > 0 {
            let message = format!("{} more problems are not listed", self.unlisted);
            problems.push(self.of_file(WHOLE_FILE, message));
        }
        problems
    }
}

/// Returns the words as a list of alternatives, such as `a, b or c`, which follows `expected`.
pub fn one_of<S: AsRef<str>>(words: &[S]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words[..] {
        [word] => word.to_owned(),
        _ => format!("one of {}", words.join(", ")),
    }
}

/// Returns `text` on one line of at most `limit` characters, with control characters escaped.
pub fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == limit {
            line.push_str("...");
            break;
        }
        let breaks_lines = matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}');
        if c.is_control() || breaks_lines {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// Largest number of candidates that a hint suggests. Less similar candidates are omitted.
const SUGGESTED: usize = 3;

/// Returns the candidate that the user probably meant by `word`; `None` if no candidate is similar.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    near(word, candidates).first().copied()
}

/// Returns the candidates that the user probably meant by `word`, the most similar first. The
/// number of edits from `word` to a candidate exceeds that of the first candidate by at most one.
fn near<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Vec<&'c str> {
    among(word, &candidates.into_iter().collect::<Vec<_>>())
}

/// Implements [`near`] for a slice. This function has no type parameter, so that it is compiled
/// only once.
fn among<'c>(word: &str, candidates: &[&'c str]) -> Vec<&'c str> {
    let length = word.chars().count();
    if length > 64 {
        return Vec::new();
    }
    let word = word.to_ascii_lowercase();
    let close: Vec<(usize, &str)> = (candidates.iter().copied())
        .map(|c| (strsim::osa_distance(&word, &c.to_ascii_lowercase()), c))
        .filter(|(distance, c)| {
            let shorter = length.min(c.chars().count());
            let lower = c.to_ascii_lowercase();
            let rest = word
                .strip_prefix(&*lower)
                .or_else(|| lower.strip_prefix(&*word));
            // `video_call` is not a misspelling of `video`, because an underscore begins a further
            // word
            let begins = rest.is_some_and(|rest| !rest.starts_with('_'));
            begins && shorter >= 3 || *distance < shorter && *distance <= 1.max(shorter / 3)
        })
        .collect();
    let least = close.iter().map(|(distance, _)| *distance).min();
    let least = least.unwrap_or_default();
    // `least` is 0 if a candidate differs from the word only in case; no other candidate is then
    // suggested
    let most = least + usize::from(least > 0);
    let at = |wanted| {
        close
            .iter()
            .filter(move |(distance, _)| *distance == wanted)
    };
    let nearest = (least..=most).flat_map(at).take(SUGGESTED);
    nearest.map(|(_, candidate)| *candidate).collect()
}

/// Returns the hint `did you mean ...` for a name that is not among `candidates`.
pub fn did_you_mean<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<String> {
    let quoted: Vec<String> = near(word, candidates)
        .into_iter()
        .map(|c| format!("`{c}`"))
        .collect();
    let (last, others) = quoted.split_last()?;
    Some(match others {
        [] => format!("did you mean {last}?"),
        _ => format!("did you mean {} or {last}?", others.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_near_and_another_word_is_not() {
        let keys = ["upload", "download", "rate"];
        assert_eq!(nearest("uplaod", keys), Some("upload"));
        assert_eq!(nearest("Rate", keys), Some("rate"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("b", ["a"]), None);
        assert_eq!(nearest("foo", ["tcp", "udp", "for"]), Some("for"));
        assert_eq!(nearest("fast", ["rate"]), None);
        // a word is similar to a key if one is the beginning of the other: "max" and "maximum",
        // "fair" and "fairness"
        assert_eq!(nearest("maximum", ["min", "max", "low"]), Some("max"));
        assert_eq!(nearest("fair", ["rate", "fairness"]), Some("fairness"));
        assert_eq!(nearest("up", ["upload"]), None);
        assert_eq!(nearest("video_call", ["video", "voice"]), None);
    }

    #[test]
    fn all_that_are_as_near_are_suggested_but_three_at_most() {
        let hint = |word, names: &[&'static str]| did_you_mean(word, names.iter().copied());
        let keys = ["rate", "rates", "gate", "date", "back_rate", "rtt"];
        assert_eq!(
            hint("rats", &keys).as_deref(),
            Some("did you mean `rate` or `rates`?")
        );
        assert_eq!(
            hint("rat", &["rate", "rates", "ratio", "rat_1"]).as_deref(),
            Some("did you mean `rate`, `rates` or `ratio`?")
        );
        // "RATE" differs from "rate" only in case, so no other key is suggested; "download_rate"
        // needs at least two edits more than "upload_rate", so it is not suggested
        assert_eq!(hint("RATE", &keys).as_deref(), Some("did you mean `rate`?"));
        assert_eq!(
            hint("up_load_rate", &["upload_rate", "download_rate"]).as_deref(),
            Some("did you mean `upload_rate`?")
        );
        assert_eq!(hint("colour", &keys), None);
    }

    #[test]
    fn text_from_the_file_stays_on_one_short_line() {
        assert_eq!(one_line("a\nb", 10), "a\\nb");
        assert_eq!(one_line("abcdef", 3), "abc...");
    }

    #[test]
    fn a_flood_of_problems_is_counted() {
        let mut problems = Problems::new("x.toml", &[]);
        for line in 0..60 {
            problems.add(Origin::Line(60 - line), "a", "bad".into());
        }
        let listed = problems.into_vec();
        assert_eq!(listed.len(), LISTED + 1);
        assert_eq!(
            listed[LISTED].to_string(),
            "x.toml: 10 more problems are not listed"
        );
    }
}
