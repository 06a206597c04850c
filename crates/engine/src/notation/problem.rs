//! What is wrong with a scenario, and where.

use std::fmt;

/// One thing wrong with a scenario; its [`Display`](fmt::Display) form is one complete line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the file, or the setting (`--set cell.ap.cwmin=x`) that brought the value in.
    pub source: String,
    /// Line in the file, counted from 1; `None` for settings and for the file as a whole.
    pub line: Option<usize>,
    /// Path of the key, such as `cell.ap.cwmin`; [`WHOLE_FILE`] if no key is concerned.
    pub path: String,
    /// The value, what is wrong with it and what is allowed.
    pub message: String,
    /// A remedy, if one is likely; belongs on a line of its own.
    pub hint: Option<String>,
    /// Path of the setting that brought the value in; `None` for a value of the file.
    pub setting: Option<String>,
}

/// [`Problem::path`] of a problem that no key can be blamed for.
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

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The file as a whole.
    File,
    /// A line of the file, counted from 1.
    Line(usize),
    /// The setting with this index.
    Setting(usize),
}

/// Stands for what is not there because a problem has been told; there is no other way to make one.
#[derive(Debug)]
pub struct Refused {
    /// The key that is not there though nobody complained: a defect of the tables.
    unsaid: Option<String>,
}

impl Refused {
    /// There has been a complaint.
    pub(crate) fn already() -> Refused {
        Refused { unsaid: None }
    }

    /// The key `path` is needed and not there.
    pub(super) fn unsaid(path: String) -> Refused {
        let unsaid = Some(path);
        Refused { unsaid }
    }
}

/// More problems than this are counted, not listed.
const LISTED: usize = 50;

/// Collects problems.
pub struct Problems<'a> {
    source: &'a str,
    settings: &'a [(String, String)],
    found: Vec<(Origin, Problem)>,
    unlisted: usize,
}

impl<'a> Problems<'a> {
    /// None yet, of the file `source` and the settings over it.
    pub fn new(source: &'a str, settings: &'a [(String, String)]) -> Self {
        Problems {
            source,
            settings,
            found: Vec::new(),
            unlisted: 0,
        }
    }

    /// Adds a problem of the key `path`; what hangs on it is refused.
    pub fn add(&mut self, origin: Origin, path: &str, message: String) -> Refused {
        self.add_with_hint(origin, path, message, None)
    }

    /// The same with a remedy.
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
        let mut problem = Problem {
            source: one_line(self.source, 200),
            line: None,
            path: one_line(path, 120),
            message,
            hint,
            setting: None,
        };
        match origin {
            Origin::File => {}
            Origin::Line(line) => problem.line = Some(line),
            Origin::Setting(index) => {
                let (path, value) = &self.settings[index];
                problem.source = format!("--set {}={}", one_line(path, 80), one_line(value, 40));
                problem.setting = Some(path.clone());
            }
        }
        self.found.push((origin, problem));
        Refused::already()
    }

    /// Whether all is well so far.
    ///
    /// # Errors
    /// It is not.
    pub(crate) fn so_far(&self) -> Result<(), Refused> {
        match self.is_empty() {
            true => Ok(()),
            false => Err(Refused::already()),
        }
    }

    /// What came of a file: a value if there is no problem, else all of them. If something has been
    /// refused and nobody has said why, it is said here.
    ///
    /// # Errors
    /// There are problems.
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

    /// Whether further problems are only counted, so that their texts need no care.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() == LISTED
    }

    /// Whether one of the problems listed is about the key `path`.
    pub fn concern(&self, path: &str) -> bool {
        self.found.iter().any(|(_, problem)| problem.path == path)
    }

    /// Whether one of the problems listed is about a key of the table `path`.
    pub fn concern_inside(&self, path: &str) -> bool {
        self.found.iter().any(|(_, problem)| {
            let rest = problem.path.strip_prefix(path);
            rest.is_some_and(|rest| rest.starts_with('.'))
        })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// In order of the file, then of the settings.
    pub(crate) fn into_vec(self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        let mut ranks: Vec<(u8, usize)> = Vec::new();
        for (origin, problem) in self.found {
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
            problems.push(Problem {
                source: one_line(self.source, 200),
                line: None,
                path: WHOLE_FILE.to_owned(),
                message: format!("{} more problems are not listed", self.unlisted),
                hint: None,
                setting: None,
            });
        }
        problems
    }
}

/// Returns words as a list to choose from, a noun phrase that follows `expected`.
pub fn one_of<S: AsRef<str>>(words: &[S]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words[..] {
        [word] => word.to_owned(),
        _ => format!("one of {}", words.join(", ")),
    }
}

/// `text` on one line of at most `limit` characters: control characters escaped, the rest cut.
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

/// Most candidates that a hint names.
const SUGGESTED: usize = 3;

/// The candidate nearest to `word`, if it is near enough to be what was meant.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    near(word, candidates).first().copied()
}

/// Candidates that are near enough to `word` to be what was meant, the nearest first: no more than a
/// few, of which none takes more than one change more than the first.
fn near<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Vec<&'c str> {
    among(word, &candidates.into_iter().collect::<Vec<_>>())
}

/// The same, compiled once.
fn among<'c>(word: &str, candidates: &[&'c str]) -> Vec<&'c str> {
    let length = word.chars().count();
    if length > 64 {
        return Vec::new();
    }
    let word = word.to_lowercase();
    let close: Vec<(usize, &str)> = (candidates.iter().copied())
        .map(|c| (strsim::osa_distance(&word, &c.to_lowercase()), c))
        .filter(|(distance, c)| {
            let shorter = length.min(c.chars().count());
            let whole = c.to_lowercase();
            let rest = word
                .strip_prefix(&*whole)
                .or_else(|| whole.strip_prefix(&*word));
            // The rest is no word of its own: `video_call` is no kind of `video`.
            let begins = rest.is_some_and(|rest| !rest.starts_with('_'));
            begins && shorter >= 3 || *distance < shorter && *distance <= 1.max(shorter / 3)
        })
        .collect();
    let least = close.iter().map(|(distance, _)| *distance).min();
    let least = least.unwrap_or_default();
    // a candidate that differs only in case is what was meant
    let most = least + usize::from(least > 0);
    let at = |wanted| {
        close
            .iter()
            .filter(move |(distance, _)| *distance == wanted)
    };
    let nearest = (least..=most).flat_map(at).take(SUGGESTED);
    nearest.map(|(_, candidate)| *candidate).collect()
}

/// The hint `did you mean ...` for a name that is not among `candidates`.
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
        // a word that was not cut short, or was
        assert_eq!(nearest("maximum", ["min", "max", "low"]), Some("max"));
        assert_eq!(nearest("fair", ["rate", "fairness"]), Some("fairness"));
        assert_eq!(nearest("up", ["upload"]), None);
        assert_eq!(nearest("video_call", ["video", "voice"]), None);
    }

    #[test]
    fn all_that_are_as_near_are_suggested_but_three_at_most() {
        let said = |word, names: &[&'static str]| did_you_mean(word, names.iter().copied());
        let keys = ["rate", "rates", "gate", "date", "back_rate", "rtt"];
        assert_eq!(
            said("rats", &keys).as_deref(),
            Some("did you mean `rate` or `rates`?")
        );
        assert_eq!(
            said("rat", &["rate", "rates", "ratio", "rat_1"]).as_deref(),
            Some("did you mean `rate`, `rates` or `ratio`?")
        );
        // its case alone is wrong; one that takes two changes more is not named
        assert_eq!(said("RATE", &keys).as_deref(), Some("did you mean `rate`?"));
        assert_eq!(
            said("up_load_rate", &["upload_rate", "download_rate"]).as_deref(),
            Some("did you mean `upload_rate`?")
        );
        assert_eq!(said("colour", &keys), None);
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
