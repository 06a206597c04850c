//! Tables at the root of the file that another crate reads.
//!
//! The engine has no use for them. It reads the file once all the same, so that every key of it is
//! known and every problem told, whichever part of the file it is in.

use std::sync::OnceLock;

use super::model::Scenario;
use super::root::Root;
use super::{assemble, checks, file};
use crate::notation::Format;
use crate::notation::decode::Section;
use crate::notation::problem::{Origin, Problem, Problems, Refused};
use crate::notation::schema;
use crate::notation::setting::{FileTable, Json, Parts};
use crate::notation::table::{Default, Key, NOTHING_ADDED, Table};
use crate::notation::times::{Files, NO_FILES};

/// Root tables of companions, each with who reads it: the hint for a scenario read without companions.
pub(super) const ELSEWHERE: &[(&str, &str)] = &[
    ("gateway", "`lasthop gateway` reads it"),
    ("interface", "`lasthop queue` reads it"),
];

/// Another crate's tables at the root of the file, and how they become a `T`.
pub struct Companion<T> {
    keys: fn() -> Vec<Key>,
    check: fn(&Section, &mut Problems),
    read: fn(&Beside, &mut Problems) -> Result<T, Refused>,
    /// The root of a scenario that may have the tables.
    beside: OnceLock<Table>,
    /// The root of a file that need not say what to simulate.
    alone: OnceLock<Table>,
}

/// What a companion is made of: its tables, without problems, and what the file says beside them.
pub struct Beside<'a> {
    /// The root of the file, with the companion's tables.
    pub root: &'a Section,
    /// The file's title.
    pub name: &'a str,
    /// The scenario; none if the file does not say what to simulate.
    pub scenario: Option<&'a Scenario>,
}

/// A table that a file must have, and what is said without it: a text that follows "expected".
#[derive(Clone, Copy, Debug)]
pub struct Needed {
    /// Its key.
    pub key: &'static str,
    /// What is needed.
    pub what: &'static str,
}

impl<T> Companion<T> {
    /// The companion with these `keys` at the root of the file. `check` judges what several values of its
    /// tables must satisfy together, given the root; `read` takes tables without problems, of which none need be
    /// there, and may find some beside the scenario.
    pub const fn new(
        keys: fn() -> Vec<Key>,
        check: fn(&Section, &mut Problems),
        read: fn(&Beside, &mut Problems) -> Result<T, Refused>,
    ) -> Companion<T> {
        Companion {
            keys,
            check,
            read,
            beside: OnceLock::new(),
            alone: OnceLock::new(),
        }
    }

    /// The scenario of a file, and its companion; `files` are those that it names.
    ///
    /// # Errors
    /// All that is wrong with either.
    pub fn parse_beside(
        &'static self,
        bytes: &[u8],
        format: Format,
        source: &str,
        settings: &[(String, String)],
        files: &Files,
    ) -> Result<(Scenario, T), Vec<Problem>> {
        let grammar = file::grammar(self.beside(), &NOTHING_ADDED, files);
        file::parse(
            &grammar,
            bytes,
            format,
            source,
            settings,
            |root, problems| {
                checks::check(root, problems);
                (self.check)(root, problems);
                problems.so_far()?;
                let scenario = assemble::assemble(root, source, problems)?;
                let own = self.of(root, source, Some(&scenario), problems)?;
                Ok((scenario, own))
            },
        )
    }

    /// The companion of a file, which must have the table that is `needed`. A file that says what to simulate
    /// is checked as a scenario too.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(
        &'static self,
        needed: Needed,
        bytes: &[u8],
        format: Format,
        source: &str,
        settings: &[(String, String)],
        files: &Files,
    ) -> Result<T, Vec<Problem>> {
        let grammar = file::grammar(self.alone(), &NOTHING_ADDED, files);
        file::parse(
            &grammar,
            bytes,
            format,
            source,
            settings,
            |root, problems| {
                let simulated = root.said(Root::duration).is_some();
                if simulated {
                    checks::check(root, problems);
                }
                (self.check)(root, problems);
                if root.table(needed.key).is_none() {
                    if problems.concern(needed.key) {
                        return Err(Refused::already());
                    }
                    let message = format!("missing; expected {}", needed.what);
                    return Err(problems.add(Origin::File, needed.key, message));
                }
                problems.so_far()?;
                let scenario = match simulated {
                    true => Some(assemble::assemble(root, source, problems)?),
                    false => None,
                };
                self.of(root, source, scenario.as_ref(), problems)
            },
        )
    }

    /// JSON Schema (2020-12) of the scenario file with these tables.
    pub fn schema(&'static self) -> Json {
        let grammar = file::grammar(self.beside(), &NOTHING_ADDED, &NO_FILES);
        let names: Vec<&str> = (self.keys)().iter().map(|key| key.name).collect();
        let needed: Vec<&str> = ["duration"].into_iter().chain(names).collect();
        schema::schema(&grammar, file::TITLE, &needed)
    }

    fn of(
        &self,
        root: &Section,
        source: &str,
        scenario: Option<&Scenario>,
        problems: &mut Problems,
    ) -> Result<T, Refused> {
        let beside = Beside {
            root,
            name: &file::name(root, source)?,
            scenario,
        };
        (self.read)(&beside, problems)
    }

    fn beside(&'static self) -> &'static Table {
        self.beside.get_or_init(|| self.root(Default::Required))
    }

    fn alone(&'static self) -> &'static Table {
        let nothing = Default::Absent("nothing is simulated");
        self.alone.get_or_init(|| self.root(nothing))
    }

    /// The keys of a scenario, with `without_duration` as the default of its duration, and the companion's
    /// keys.
    fn root(&self, without_duration: Default) -> Table {
        let scenario = Root::table();
        let mut parts = Parts::default();
        for (key, _) in scenario.keys() {
            let default = match key.name == Root::duration.name() {
                true => without_duration,
                false => key.default,
            };
            let key = key.clone();
            parts.own(Key { default, ..key });
        }
        for key in (self.keys)() {
            parts.own(key);
        }
        parts.table(scenario.name, scenario.doc)
    }
}
