//! Compiles the C code of `crates/bpf` for this machine, so that tests can compare this code with
//! the Rust code.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns the directory of the C sources.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../bpf")
}

/// A compiled C program. Dropping this value removes the directory of the program.
pub(crate) struct Compiled {
    directory: PathBuf,
}

impl Compiled {
    /// Compiles `program`, which includes the C file `law`.
    pub(crate) fn new(program: &str, law: &str) -> Compiled {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("lasthop-{law}-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir(&directory).unwrap();
        let made = Command::new("cc")
            .args(["-O2", "-Wall", "-Wextra", "-Werror"])
            .arg(format!("-DLAW=\"{law}\""))
            .arg(sources().join(program))
            .arg("-o")
            .arg(directory.join("law"))
            .status()
            .unwrap();
        assert!(made.success());
        Compiled { directory }
    }

    /// Runs the compiled program with the given `input`, and returns the 64-bit numbers of its
    /// output.
    pub(crate) fn answers(&self, input: Vec<u8>) -> Vec<u64> {
        let mut process = Command::new(self.directory.join("law"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut to, mut from) = (
            process.stdin.take().unwrap(),
            process.stdout.take().unwrap(),
        );
        let mut output = Vec::new();
        std::thread::scope(|threads| {
            threads.spawn(move || to.write_all(&input).unwrap());
            from.read_to_end(&mut output).unwrap();
        });
        assert!(process.wait().unwrap().success());
        let (numbers, _) = output.as_chunks::<8>();
        numbers.iter().copied().map(u64::from_ne_bytes).collect()
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}
