//! The specification of a key: the kind, range, default and words of its value.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use super::file_table::FileTable;
use super::forms::Form;
use super::key::{KeyOf, Setting, Words};
use super::table::{ByNetwork, Curve, Default, Inner, Key, Kind, Listed, Part, Table, documented};

/// All properties of a key except its name and documentation.
pub struct Spec<T> {
    kind: Kind,
    word: Option<&'static str>,
    accepted: Option<&'static str>,
    default: Default,
    of: PhantomData<fn() -> T>,
    meant: Option<fn(&str) -> Option<String>>,
}

impl<T> Spec<T> {
    fn new(kind: Kind) -> Spec<T> {
        Spec {
            kind,
            word: None,
            accepted: None,
            default: Default::Absent("none"),
            of: PhantomData,
            meant: None,
        }
    }

    /// Requires that the key is given.
    pub fn required(self) -> Spec<T> {
        self.default(Default::Required)
    }

    /// Requires the key, but the decoder does not report that it is missing. A later check of the
    /// table reports this with its own message.
    pub fn checked(self) -> Spec<T> {
        self.default(Default::Checked)
    }

    /// Sets the value of an absent key.
    pub fn default(mut self, value: impl Into<Default>) -> Spec<T> {
        self.default = value.into();
        self
    }

    /// Sets the default of modern networks, which the phrase `networks` describes. The default that
    /// was set before applies to older networks.
    pub fn modern(self, value: impl Into<Default>, networks: &'static str) -> Spec<T> {
        // the specification of a key is built only once, so this leaks little memory
        let each = Box::leak(Box::new(ByNetwork {
            older: self.default,
            modern: value.into(),
            networks: documented(networks),
        }));
        self.default(Default::ByNetwork(each))
    }

    /// Sets the description of a default that is read if no table in which the key is looked up has
    /// the key.
    pub fn fallback(self, value: &T) -> Spec<T>
    where
        T: Setting,
    {
        if !cfg!(feature = "docs") {
            return self.depends("");
        }
        // the specification of a key is built only once, so this leaks little memory
        let shown: &'static str = Box::leak(value.json().to_string().into_boxed_str());
        self.depends(shown.strip_suffix(".0").unwrap_or(shown))
    }

    /// Sets the description of a default that depends on other keys.
    pub fn depends(self, what: &'static str) -> Spec<T> {
        self.default(Default::Depends(documented(what)))
    }

    /// Sets the description of a default for each preset.
    pub fn by_preset(self, description: fn() -> String) -> Spec<T> {
        match cfg!(feature = "docs") {
            true => self.default(Default::ByPreset(description)),
            false => self.depends(""),
        }
    }

    /// Describes the behaviour without the key. The key then has no value.
    pub fn absent(self, what: &'static str) -> Spec<T> {
        self.default(Default::Absent(documented(what)))
    }

    /// Accepts this word in place of a value.
    pub fn or(mut self, word: &'static str) -> Spec<T> {
        self.word = Some(word);
        self
    }

    /// Replaces the accepted range in messages by a noun phrase that follows the word `expected`.
    pub fn but(mut self, accepted: &'static str) -> Spec<T> {
        self.accepted = Some(accepted);
        self
    }

    /// Sets the function that returns the hint for a word that is not accepted.
    pub fn hinting(mut self, meant: fn(&str) -> Option<String>) -> Spec<T> {
        self.meant = Some(meant);
        self
    }

    /// Accepts groups in place of the keys of the table: tables whose names the file chooses, with
    /// the keys of `W`.
    pub fn groups<W: FileTable>(mut self) -> Spec<T> {
        if let Kind::Tables(inner) = &mut self.kind {
            inner.groups = Some(W::table);
        }
        self
    }

    /// Accepts the bare number 0, which means that the table is absent.
    pub fn or_zero(mut self) -> Spec<T> {
        if let Kind::Tables(inner) = &mut self.kind {
            inner.is_absent_at_zero = true;
        }
        self
    }

    /// Returns the key of a table with this specification.
    pub fn key(self, key: KeyOf<T>, doc: &'static str) -> Key {
        Key {
            name: key.name(),
            kind: self.kind,
            word: self.word,
            accepted: self.accepted,
            default: self.default,
            doc: doc.trim_ascii_start(),
            meant: self.meant,
        }
    }

    /// Returns the specification unchanged. The argument is used only for its type: the value of the
    /// specification gets the type of the key.
    pub fn name(self, _: KeyOf<T>) -> Spec<T> {
        self
    }
}

/// Defines the functions that return the specification of each kind of value.
macro_rules! kinds {
    ($( $(#[doc = $doc:literal])+ $name:ident($( $range:ident: $type:ty )?) = $kind:expr; )+) => { $(
        $(#[doc = $doc])+
        pub fn $name<T>($( $range: $type )?) -> Spec<T> {
            Spec::new($kind)
        }
    )+ };
}

kinds! {
    /// One line of text.
    title() = Kind::Title;
    /// A plain name.
    name() = Kind::Name;
    /// A list of names.
    names() = Kind::Names;
    /// A shell command, or a list of shell commands.
    commands() = Kind::Commands;
    /// Text in a format that another standard defines.
    formed(form: &'static Form) = Kind::Formed(form);
    /// true or false.
    flag() = Kind::Flag;
    /// A whole number.
    count(range: RangeInclusive<u64>) = Kind::Count(range);
    /// A number from 0 to below 1.
    probability() = Kind::Probability;
    /// A number.
    number(range: RangeInclusive<f64>) = Kind::Number(range);
    /// A level. [dB]
    level(range: RangeInclusive<f64>) = Kind::Level(range);
    /// A duration, with its range in nanoseconds.
    duration(range: RangeInclusive<u64>) = Kind::Duration(range);
    /// A positive rate.
    rate() = Kind::Rate;
    /// One of the rates that the file's preset lists.
    listed(listed: &'static Listed) = Kind::Listed(listed);
    /// A number of bytes.
    size(range: RangeInclusive<u64>) = Kind::Size(range);
    /// A length, with its range in millimetres.
    length(range: RangeInclusive<u64>) = Kind::Length(range);
    /// A list of rates in ascending order.
    rates() = Kind::Rates;
    /// Times in ascending order, in milliseconds.
    times() = Kind::Times;
    /// A file with times in ascending order, in milliseconds.
    times_file() = Kind::TimesFile;
    /// Points of a curve.
    points(curve: &'static Curve) = Kind::Points(curve);
}

/// Returns the specification of a key whose value is one of the words of an enum.
pub fn word<T: Words>() -> Spec<T> {
    Spec::new(Kind::Choice(T::WORDS))
}

/// Returns the specification of a key whose value is one of the words of an enum. The key may be
/// absent.
pub fn word_or_none<T: Words>() -> Spec<Option<T>> {
    Spec::new(Kind::Choice(T::WORDS))
}

fn inside<T, W: FileTable>(bare: Option<&'static str>, is_named: bool) -> Spec<T> {
    let table = W::table;
    Spec::new(Kind::Tables(Inner {
        table,
        bare,
        is_named,
        groups: None,
        is_absent_at_zero: false,
    }))
}

/// Returns the specification of a key whose value is a table.
pub fn inner<T: FileTable>() -> Spec<T> {
    inside::<T, T>(None, false)
}

/// Returns the specification of a key whose value is a table, or a bare value for the table's key
/// `main`.
pub fn shorthand<T: FileTable, M>(main: KeyOf<M>) -> Spec<T> {
    inside::<T, T>(Some(main.name()), false)
}

/// Returns the specification of a key that can be set in two forms: by a table with the keys of `W`,
/// or by a bare value, which sets the key `main` of this table. The settings of the table are
/// converted to a `T`.
pub fn shorthand_as<T, W: FileTable, M>(main: KeyOf<M>) -> Spec<T> {
    inside::<T, W>(Some(main.name()), false)
}

/// Returns the specification of a key whose value is a set of tables. The file chooses the names of
/// the tables.
pub fn tables<T: FileTable>() -> Spec<T> {
    inside::<T, T>(None, true)
}

/// Returns the specification of a key with one table per place of an emulation. A place is the
/// server, a station, or one end of a wired flow. A bare value in place of a table sets the table's
/// key `main`.
pub fn by_place<T: FileTable, M>(main: KeyOf<M>) -> Spec<T> {
    inside::<T, T>(Some(main.name()), true)
}

/// The lists of keys from which [`table!`](crate::table) builds a table.
#[derive(Default)]
pub struct Parts(Vec<Part>);

impl Parts {
    /// Adds a key that belongs only to this table.
    pub fn own(&mut self, key: Key) {
        self.push(key, None);
    }

    /// Adds the keys of the table `other`. `inherits` names the table in which absent keys are
    /// looked up.
    pub fn all_of(&mut self, other: &Table, inherits: Option<&'static str>) {
        for (key, outer) in other.keys() {
            self.push(key.clone(), inherits.or(outer));
        }
    }

    fn push(&mut self, key: Key, inherits: Option<&'static str>) {
        match self.0.last_mut() {
            Some(part) if part.inherits == inherits => part.keys.to_mut().push(key),
            _ => self.0.push(Part {
                keys: vec![key].into(),
                inherits,
            }),
        }
    }

    /// Returns the table with these keys.
    pub fn table(self, name: &'static str, doc: &'static str) -> Table {
        Table {
            name,
            doc: doc.trim_ascii_start(),
            parts: self.0.into(),
            elsewhere: &[],
        }
    }
}
