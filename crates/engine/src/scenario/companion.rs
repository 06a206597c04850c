//! A table at the root of the file that another crate reads.
//!
//! The engine has no use for it. It reads the file once all the same, so that every key of it is
//! known and every problem told, whichever part of the file it is in.

use std::sync::OnceLock;

use super::model::{Scenario, Station};
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
pub(super) const ELSEWHERE: &[(&str, &str)] = &[("gateway", "`lasthop gateway` reads it")];

/// Another crate's table at the root of the file, and how it becomes a `T`.
pub struct Companion<T> {
    key: fn() -> Key,
    needed: &'static str,
    check: fn(&Section, &mut Problems),
    read: fn(&Beside) -> Result<T, Refused>,
    /// The root of a scenario that may have the table.
    beside: OnceLock<Table>,
    /// The root of a file that need not say what to simulate.
    alone: OnceLock<Table>,
}

/// What a companion is made of: its table, without problems, and what the file says beside it.
pub struct Beside<'a> {
    /// The companion's table.
    pub table: &'a Section,
    /// The file's title.
    pub name: &'a str,
    /// The scenario's stations; none if the file does not say what to simulate.
    pub stations: &'a [Station],
}

impl<T> Companion<T> {
    /// The companion with this `key` at the root of the file. `check` judges what several values of its
    /// table must satisfy together; `read` takes a table without problems; `needed` is told if a file lacks
    /// the table, as a text that follows "needed is".
    pub const fn new(
        key: fn() -> Key,
        needed: &'static str,
        check: fn(&Section, &mut Problems),
        read: fn(&Beside) -> Result<T, Refused>,
    ) -> Companion<T> {
        Companion {
            key,
            needed,
            check,
            read,
            beside: OnceLock::new(),
            alone: OnceLock::new(),
        }
    }

    /// The scenario of a file, and its companion if the file has the table; `files` are those that it names.
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
    ) -> Result<(Scenario, Option<T>), Vec<Problem>> {
        let grammar = file::grammar(self.beside(), &NOTHING_ADDED, files);
        file::parse(
            &grammar,
            bytes,
            format,
            source,
            settings,
            |root, problems| {
                checks::check(root, problems);
                let table = self.checked(root, problems);
                problems.so_far()?;
                let scenario = assemble::assemble(root, source, problems)?;
                let own = table.map(|table| self.of(table, root, source, &scenario.stations));
                Ok((scenario, own.transpose()?))
            },
        )
    }

    /// The companion of a file, which must have the table. A file that says what to simulate is
    /// checked as a scenario too.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(
        &'static self,
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
                let Some(table) = self.checked(root, problems) else {
                    if problems.concern(self.name()) {
                        return Err(Refused::already());
                    }
                    let message = format!("missing; needed is {}", self.needed);
                    return Err(problems.add(Origin::File, self.name(), message));
                };
                problems.so_far()?;
                let stations = match simulated {
                    true => assemble::assemble(root, source, problems)?.stations,
                    false => Vec::new(),
                };
                self.of(table, root, source, &stations)
            },
        )
    }

    /// JSON Schema (2020-12) of the scenario file with this table.
    pub fn schema(&'static self) -> Json {
        let grammar = file::grammar(self.beside(), &NOTHING_ADDED, &NO_FILES);
        schema::schema(&grammar, file::TITLE, &["duration", self.name()])
    }

    /// The companion's table, judged.
    fn checked<'s>(&self, root: &'s Section, problems: &mut Problems) -> Option<&'s Section> {
        let table = root.table(self.name())?;
        (self.check)(table, problems);
        Some(table)
    }

    fn of(
        &self,
        table: &Section,
        root: &Section,
        source: &str,
        stations: &[Station],
    ) -> Result<T, Refused> {
        (self.read)(&Beside {
            table,
            name: &file::name(root, source)?,
            stations,
        })
    }

    fn name(&self) -> &'static str {
        (self.key)().name
    }

    fn beside(&'static self) -> &'static Table {
        self.beside.get_or_init(|| self.root(Default::Required))
    }

    fn alone(&'static self) -> &'static Table {
        let nothing = Default::Absent("nothing is simulated");
        self.alone.get_or_init(|| self.root(nothing))
    }

    /// The keys of a scenario, with `without_duration` as the default of its duration, and the companion's
    /// key.
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
        parts.own((self.key)());
        parts.table(scenario.name, scenario.doc)
    }
}
