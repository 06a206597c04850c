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
use crate::notation::layers::Layers;
use crate::notation::problem::{Origin, Problem, Problems, Refused};
use crate::notation::schema;
use crate::notation::setting::{FileTable, Json, Parts};
use crate::notation::table::{Default, Key, NOTHING_ADDED, Table};

/// Root tables of companions, each with who reads it: what a scenario alone is told of them.
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
    /// The companion with this `key` at the root of the file. `check` judges what several values of
    /// its table must satisfy together; `read` takes a table without problems; `needed` is said of a
    /// file that lacks it, to follow "needed is".
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

    /// The scenario of a file, and its companion if the file has the table.
    ///
    /// # Errors
    /// All that is wrong with either.
    pub fn parse_beside(
        &'static self,
        bytes: &[u8],
        format: Format,
        source: &str,
        settings: &[(String, String)],
    ) -> Result<(Scenario, Option<T>), Vec<Problem>> {
        let mut problems = Problems::new(source, settings);
        let grammar = file::grammar(self.beside(), &NOTHING_ADDED);
        let root = file::read(bytes, format, &grammar, settings, &mut problems);
        let both = root.and_then(|root| self.scenario_and_own(&root, source, &mut problems));
        problems.conclude(both)
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
    ) -> Result<T, Vec<Problem>> {
        let mut problems = Problems::new(source, settings);
        let grammar = file::grammar(self.alone(), &NOTHING_ADDED);
        let root = file::read(bytes, format, &grammar, settings, &mut problems);
        let own = root.and_then(|root| self.own(&root, source, &mut problems));
        problems.conclude(own)
    }

    /// JSON Schema (2020-12) of the scenario file with this table.
    pub fn schema(&'static self) -> Json {
        let grammar = file::grammar(self.beside(), &NOTHING_ADDED);
        schema::schema(&grammar, file::TITLE, &["duration", self.name()])
    }

    fn scenario_and_own(
        &self,
        root: &Section,
        source: &str,
        problems: &mut Problems,
    ) -> Result<(Scenario, Option<T>), Refused> {
        checks::check(root, problems);
        self.check(root, problems);
        problems.so_far()?;
        let scenario = assemble::assemble(root, &file::default_name(source), problems)?;
        let own = match root.table(self.name()) {
            Some(table) => Some(self.of(table, root, source, &scenario.stations)?),
            None => None,
        };
        Ok((scenario, own))
    }

    fn own(&self, root: &Section, source: &str, problems: &mut Problems) -> Result<T, Refused> {
        let simulated = root.said(Root::duration).is_some();
        if simulated {
            checks::check(root, problems);
        }
        self.check(root, problems);
        let missing = || format!("missing; needed is {}", self.needed);
        let table = match root.table(self.name()) {
            Some(table) => table,
            None if problems.concern(self.name()) => return Err(Refused::already()),
            None => return Err(problems.add(Origin::File, self.name(), missing())),
        };
        problems.so_far()?;
        let stations = match simulated {
            true => assemble::assemble(root, &file::default_name(source), problems)?.stations,
            false => Vec::new(),
        };
        self.of(table, root, source, &stations)
    }

    fn check(&self, root: &Section, problems: &mut Problems) {
        if let Some(table) = root.table(self.name()) {
            (self.check)(table, problems);
        }
    }

    fn of(
        &self,
        table: &Section,
        root: &Section,
        source: &str,
        stations: &[Station],
    ) -> Result<T, Refused> {
        let title = Layers(&[root]).value(Root::name)?.flatten();
        (self.read)(&Beside {
            table,
            name: &title.unwrap_or_else(|| file::default_name(source)),
            stations,
        })
    }

    fn name(&self) -> &'static str {
        (self.key)().name
    }

    fn beside(&'static self) -> &'static Table {
        self.beside.get_or_init(|| self.root(Key::clone))
    }

    fn alone(&'static self) -> &'static Table {
        self.alone.get_or_init(|| {
            self.root(|key| match key.name == Root::duration.name() {
                true => Key {
                    default: Default::Absent("nothing is simulated"),
                    ..key.clone()
                },
                false => key.clone(),
            })
        })
    }

    /// The keys of a scenario, as `with` has them, and behind them the companion's.
    fn root(&self, with: impl Fn(&Key) -> Key) -> Table {
        let scenario = Root::table();
        let mut parts = Parts::default();
        for (key, _) in scenario.keys() {
            parts.own(with(key));
        }
        parts.own((self.key)());
        parts.table(scenario.name, scenario.doc)
    }
}
