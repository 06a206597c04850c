//! Tests of a root table that another crate adds to scenario files.

use super::super::{ExtensionTable, Files, Format, Needed, Problem, Scenario};
use super::{SMALL, complaints, toml};
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, Json, KeyOf, count, inner};
use crate::table;

table! {
    /// Lamps of a room.
    pub struct Lamps: Copy in "lamps" {
        /// How many there are.
        number: u32 = count(1..=9).required();
        /// How many are lit.
        lit: u32 = count(0..=9).default(0);
    }
}

const LAMPS: KeyOf<Lamps> = KeyOf::new("lamps");

/// The extension's settings, with the title and the number of stations of the file.
#[derive(Debug, PartialEq)]
struct Room {
    title: String,
    stations: usize,
    lamps: Lamps,
}

static ROOM: ExtensionTable<Option<Room>> = ExtensionTable::new(
    || vec![inner().absent("dark").key(LAMPS, "Lamps of the room.")],
    |root, problems| {
        let Some(lamps) = root.table(LAMPS.name()) else {
            return;
        };
        let pair = (lamps.located(Lamps::lit), lamps.located(Lamps::number));
        if let (Some(lit), Some(number)) = pair
            && lit.value > number.value
        {
            let message = format!("{} lamps are not there", lit.shown);
            problems.add(lit.origin, &lit.path, message);
        }
    },
    |context, _| -> Result<Option<Room>, Refused> {
        let Some(lamps) = context.root.table(LAMPS.name()) else {
            return Ok(None);
        };
        Ok(Some(Room {
            title: context.name.to_owned(),
            stations: context
                .scenario
                .map_or(0, |scenario| scenario.stations.len()),
            lamps: Lamps::read(&Layers(&[lamps]))?,
        }))
    },
);

fn with_scenario(text: &str) -> Result<(Scenario, Option<Room>), Vec<Problem>> {
    ROOM.parse_with_scenario(text.as_bytes(), Format::Toml, "x.toml", &[], &Files::new())
}

fn without_extension(text: &str) -> Result<Room, Vec<Problem>> {
    let needed = Needed {
        key: "lamps",
        what: "a table [lamps]",
    };
    let bytes = text.as_bytes();
    let room = ROOM.parse(needed, bytes, Format::Toml, "x.toml", &[], &Files::new())?;
    Ok(room.expect("it is needed"))
}

#[test]
fn an_extension_is_read_with_its_scenario() {
    let (scenario, room) = with_scenario(&format!("{SMALL}[lamps]\nnumber = 3\n")).unwrap();
    assert_eq!(scenario, toml(SMALL, &[]).unwrap());
    let lamps = Lamps { number: 3, lit: 0 };
    let title = "x".to_owned();
    assert_eq!(
        room,
        Some(Room {
            title,
            stations: 1,
            lamps
        })
    );
    assert_eq!(with_scenario(SMALL).unwrap().1, None);
}

#[test]
fn an_extension_needs_its_table_but_no_scenario() {
    let room = without_extension("name = \"hall\"\nlamps.number = 1\n").unwrap();
    assert_eq!((room.title.as_str(), room.stations), ("hall", 0));
    assert_eq!(
        complaints(without_extension(SMALL)),
        "x.toml: `lamps`: missing; expected a table [lamps]"
    );
    assert_eq!(
        complaints(with_scenario("lamps.number = 1\n"))
            .lines()
            .next(),
        Some("x.toml: `duration`: missing; expected a duration from 1 ms to 1000000 s")
    );
}

#[test]
fn all_that_is_wrong_with_either_is_told_at_once() {
    let wrong = format!("{SMALL}window = 0\n[lamps]\nnumber = 3\nlit = 4\nlitt = 1\n");
    for message in [
        complaints(with_scenario(&wrong)),
        complaints(without_extension(&wrong)),
    ] {
        let lines: Vec<&str> = message.lines().collect();
        assert_eq!(
            lines[1..],
            [
                "hint: `window` is a key of `tcp`, `flow.NAME`, `station.NAME.tcp` and 3 other tables",
                "x.toml:8: `lamps.lit`: 4 lamps are not there",
                "x.toml:9: `lamps.litt`: unknown key; expected one of number, lit",
                "hint: did you mean `lit`?"
            ]
        );
        assert!(lines[0].starts_with("x.toml:5: `station.a.window`: unknown key"));
    }
}

#[test]
fn its_table_is_the_last_of_the_schema() {
    let schema = ROOM.schema();
    let last = |json: &Json| json.as_object().and_then(|o| o.keys().next_back()).cloned();
    assert_eq!(last(&schema["properties"]).as_deref(), Some("lamps"));
    assert_eq!(last(&schema["$defs"]).as_deref(), Some("lamps"));
    assert_eq!(schema["anyOf"][1]["required"][0], "lamps");
    assert!(super::super::schema()["properties"].get("lamps").is_none());
}

#[test]
fn a_scenario_without_extensions_names_the_reader_of_an_extension_table() {
    let file = format!("{SMALL}[gateway]\nwan = \"eth0\"\n");
    let message = "`gateway`: is no key of a scenario\nhint: `lasthop gateway` reads it, on Linux";
    assert_eq!(complaints(toml(&file, &[])), format!("x.toml:5: {message}"));
    assert_eq!(
        complaints(toml(SMALL, &[("gateway.wan", "eth0")])),
        format!("--set gateway.wan=eth0: {message}")
    );
    let other = with_scenario(&file).map(|(scenario, _)| scenario);
    assert_eq!(complaints(other), format!("x.toml:5: {message}"));
}
