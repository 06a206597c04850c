//! Tables of the scenario file that other crates define and use.
//!
//! The engine does not use the values of these tables. The engine still decodes the tables with the
//! rest of the file, so that all problems of the file are reported together.

use std::sync::OnceLock;

use super::model::Scenario;
use super::root::Root;
use super::{assemble, checks, file, viewing};
use crate::notation::decode::Section;
use crate::notation::problem::{Origin, Problem, Problems, Refused};
use crate::notation::schema;
use crate::notation::setting::{FileTable, Json, Parts};
use crate::notation::table::{Default, Key, NOTHING_ADDED, Table};
use crate::notation::times::{Files, NO_FILES};
use crate::notation::{File, Format};

/// Extension tables, each with the command that reads it. If another command finds such a table in
/// its file, the hint of the error message names the command that reads the table.
pub(super) const ELSEWHERE: &[(&str, &str)] = &[
    ("gateway", "`lasthop gateway` reads it, on Linux"),
    ("interface", "`lasthop queue` reads it, on Linux"),
];

/// The root tables that another crate adds to a scenario file, and the function that converts these
/// tables to a `T`.
pub struct ExtensionTable<T> {
    keys: fn() -> Vec<Key>,
    check: fn(&Section, &mut Problems),
    convert: fn(&Context, &mut Problems) -> Result<T, Refused>,
    /// Root table of a file that must contain a scenario.
    with_scenario: OnceLock<Table>,
    /// Root table of a file that may contain only the extension's tables.
    without_scenario: OnceLock<Table>,
}

/// The checked tables of an extension, with the rest of the file.
pub struct Context<'a> {
    /// Root of the file, including the extension's tables.
    pub root: &'a Section,
    /// Title of the file.
    pub name: &'a str,
    /// Scenario of the file, if the file has one.
    pub scenario: Option<&'a Scenario>,
}

/// A table that a file must contain, with the message for a missing table.
#[derive(Clone, Copy, Debug)]
pub struct Needed {
    /// Key of the table.
    pub key: &'static str,
    /// Description of the table, as a phrase that follows "expected" in the message.
    pub what: &'static str,
}

impl<T> ExtensionTable<T> {
    /// Returns the extension that adds `keys` to the root of the file.
    ///
    /// `check` receives the root table and checks the consistency of values of the extension's
    /// tables. `convert` converts valid tables to a `T`. Each table may be absent, and `convert`
    /// may report problems that concern the scenario.
    pub const fn new(
        keys: fn() -> Vec<Key>,
        check: fn(&Section, &mut Problems),
        convert: fn(&Context, &mut Problems) -> Result<T, Refused>,
    ) -> ExtensionTable<T> {
        ExtensionTable {
            keys,
            check,
            convert,
            with_scenario: OnceLock::new(),
            without_scenario: OnceLock::new(),
        }
    }

    /// Returns the scenario of a file and the extension's settings in it. `files` contains the
    /// other files that the scenario names.
    ///
    /// # Errors
    /// All problems of the scenario and of the extension.
    pub fn parse_with_scenario(
        &'static self,
        bytes: &[u8],
        format: Format,
        source: &str,
        settings: &[(String, String)],
        files: &Files,
    ) -> Result<(Scenario, T), Vec<Problem>> {
        let grammar = file::grammar(self.table_with_scenario(), &NOTHING_ADDED, files);
        let file = File {
            bytes,
            format,
            source,
            settings,
        };
        file::parse(&grammar, &file, |root, problems| {
            let (scenario, own) = self.read(root, source, None, problems)?;
            Ok((scenario.ok_or_else(Refused::already)?, own))
        })
    }

    /// Returns the extension's settings in a file, which must contain the table `needed`. If the
    /// file also contains a scenario, the scenario is checked.
    ///
    /// # Errors
    /// All problems of the file.
    pub fn parse(
        &'static self,
        needed: Needed,
        bytes: &[u8],
        format: Format,
        source: &str,
        settings: &[(String, String)],
        files: &Files,
    ) -> Result<T, Vec<Problem>> {
        let grammar = file::grammar(self.table_without_scenario(), &NOTHING_ADDED, files);
        let file = File {
            bytes,
            format,
            source,
            settings,
        };
        file::parse(&grammar, &file, |root, problems| {
            let (_, own) = self.read(root, source, Some(needed), problems)?;
            Ok(own)
        })
    }

    /// Returns the JSON Schema (2020-12) of scenario files, including the extension's tables.
    pub fn schema(&'static self) -> Json {
        let grammar = file::grammar(self.table_with_scenario(), &NOTHING_ADDED, &NO_FILES);
        let names: Vec<&str> = (self.keys)().iter().map(|key| key.name).collect();
        let needed: Vec<&str> = ["duration"].into_iter().chain(names).collect();
        schema::schema(&grammar, file::TITLE, &needed)
    }

    /// Returns the scenario of a file and the extension's settings in it. If `needed` names a
    /// table, the scenario may be absent.
    fn read(
        &self,
        root: &Section,
        source: &str,
        needed: Option<Needed>,
        problems: &mut Problems,
    ) -> Result<(Option<Scenario>, T), Refused> {
        let simulated = needed.is_none() || root.located(Root::duration).is_some();
        if simulated {
            checks::check(root, problems);
            viewing::check(root, problems);
        }
        (self.check)(root, problems);
        if let Some(needed) = needed
            && root.table(needed.key).is_none()
            && !problems.concern(needed.key)
        {
            let message = format!("missing; expected {}", needed.what);
            problems.add(Origin::File, needed.key, message);
        }
        problems.so_far()?;
        let scenario = match simulated {
            true => Some(assemble::assemble(root, source, problems)?),
            false => None,
        };
        let context = Context {
            root,
            name: &file::name(root, source)?,
            scenario: scenario.as_ref(),
        };
        let own = (self.convert)(&context, problems)?;
        Ok((scenario, own))
    }

    fn table_with_scenario(&'static self) -> &'static Table {
        self.with_scenario
            .get_or_init(|| self.root(Default::Required))
    }

    fn table_without_scenario(&'static self) -> &'static Table {
        let nothing = Default::Absent("nothing is simulated");
        self.without_scenario.get_or_init(|| self.root(nothing))
    }

    /// Returns the root table of the grammar: the keys of a scenario and the keys of the extension.
    /// `without_duration` determines the value of the key `duration` in a file without this key.
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
        Table {
            elsewhere: ELSEWHERE,
            ..parts.table(scenario.name, scenario.doc)
        }
    }
}
