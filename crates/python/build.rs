//! Hands the fingerprint of the engine to the extension: results that were kept are found again if
//! and only if the engine that made them is the same, on whatever machine it was compiled.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// What decides what comes out of a run: the engine, and the versions of what it is built with.
const PARTS: [&str; 3] = ["../engine/src", "../engine/Cargo.toml", "../../Cargo.lock"];

fn main() -> io::Result<()> {
    let mut hash = Sha256::new();
    for part in PARTS {
        println!("cargo::rerun-if-changed={part}");
        for file in files(Path::new(part))? {
            let content = fs::read(&file)?;
            hash.update(file.to_string_lossy().replace('\\', "/").as_bytes());
            hash.update((content.len() as u64).to_le_bytes());
            hash.update(content);
        }
    }
    println!("cargo::rustc-env=LASTHOP_ENGINE={:x}", hash.finalize());
    let profile = env::var("PROFILE").expect("cargo sets PROFILE for every build script");
    println!("cargo::rustc-env=LASTHOP_PROFILE={profile}");
    Ok(())
}

/// The file, or all files of the directory and below, in the order of their names.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(path.exists().then(|| path.to_owned()).into_iter().collect());
    }
    let mut entries = fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        found.extend(files(&entry)?);
    }
    Ok(found)
}
