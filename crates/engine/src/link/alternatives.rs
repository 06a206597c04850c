//! Tables that must set exactly one key. A single value may replace such a table.

use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::{FileTable, KeyOf, Setting};

/// Returns the setting of `key`, which a file sets by a table or by a single value. The first
/// section in `layers` that sets `key` determines the setting. `None`: no section sets `key`.
///
/// # Errors
/// The setting has been refused.
pub(super) fn nearest<T: FileTable + Setting>(
    layers: &Layers,
    key: KeyOf<T>,
) -> Result<Option<T>, Refused> {
    for section in layers.0 {
        if let Some(own) = section.inside(key) {
            return T::read(&Layers(&[own])).map(Some);
        }
        if let Some(value) = Layers(&[section]).value(key)? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Checks the value of `key`, if it is a table: the table must set exactly one of its keys. The
/// error message calls a second key "a second `kind`", for example "a second rate".
pub(super) fn check<T: FileTable>(
    table: &Section,
    key: KeyOf<T>,
    kind: &str,
    problems: &mut Problems,
) {
    let Some(own) = table.inside(key) else {
        return;
    };
    let names: Vec<&str> = T::table().names().collect();
    let keys = names.iter().filter_map(|key| Some((key, own.given(key)?)));
    let keys: Vec<_> = keys.collect();
    let names = names.join(", ");
    match keys[..] {
        [] if !problems.concern(&own.path) && !problems.concern_inside(&own.path) => {
            own.refuse(
                format!("the table is empty; expected one of {names}"),
                problems,
            );
        }
        [(first, _), (_, second), ..] => {
            let message =
                format!("a second {kind} in addition to {first}; expected one of {names}");
            second.refuse(message, problems);
        }
        [] | [_] => {}
    }
}
