//! Passes two items to the extension: the fingerprint of the engine, and the preload library for
//! user-mode Linux.
//!
//! A stored result is reused only if the fingerprint of the engine that computed it is that of the
//! present engine. The fingerprint does not depend on the machine that compiles the engine.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Files on which the results of a run depend: the engine, and the versions of its dependencies.
const PARTS: [&str; 3] = ["../engine/src", "../engine/Cargo.toml", "../../Cargo.lock"];

/// Source of the library that programs in user-mode Linux preload.
const PRELOAD: &str = "uml/preload.c";

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
    compile_preload()
}

/// Compiles the library that programs in user-mode Linux preload.
///
/// User-mode Linux exists only for Linux on x86-64. For other targets, and in builds without the
/// emulator, the library is an empty file.
fn compile_preload() -> io::Result<()> {
    println!("cargo::rerun-if-changed={PRELOAD}");
    let variable = |name| env::var(name).expect("cargo sets this variable for every build script");
    let library = PathBuf::from(variable("OUT_DIR")).join("preload.so");
    println!("cargo::rustc-env=LASTHOP_UML_PRELOAD={}", library.display());
    let target = (
        variable("CARGO_CFG_TARGET_OS"),
        variable("CARGO_CFG_TARGET_ARCH"),
    );
    if target == ("linux".to_owned(), "x86_64".to_owned()) {
        compile(&library)
    } else {
        fs::write(&library, [])
    }
}

#[cfg(not(feature = "emulator"))]
fn compile(library: &Path) -> io::Result<()> {
    fs::write(library, [])
}

#[cfg(feature = "emulator")]
fn compile(library: &Path) -> io::Result<()> {
    let compiler = cc::Build::new().opt_level(2).debug(false).get_compiler();
    let mut command = compiler.to_command();
    command.args([
        "-shared", "-fPIC", "-s", "-Wall", "-Wextra", "-Werror", PRELOAD, "-ldl", "-o",
    ]);
    let status = command.arg(library).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("{command:?}: {status}")))
    }
}

/// Returns the file at `path`, or all files below the directory `path`, sorted by name.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(path.exists().then(|| path.to_owned()).into_iter().collect());
    }
    let mut entries = fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    let mut paths = Vec::new();
    for entry in entries {
        paths.extend(files(&entry)?);
    }
    Ok(paths)
}
