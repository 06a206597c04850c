//! Writes a capture of the frames on the air into a file. A separate thread writes, because a disk
//! may be slow.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

/// Smallest number of bytes that the loop passes to the writer thread at a time. [bytes]
const PIECE: usize = 1 << 16;

/// Writer of a capture file.
pub(crate) struct Writer {
    pieces: Sender<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

impl Writer {
    /// Starts the thread that writes to `file`.
    pub(crate) fn begin(file: impl Write + Send + 'static) -> Writer {
        let (pieces, coming) = channel();
        let thread = thread::spawn(move || write(&coming, file));
        Writer { pieces, thread }
    }

    /// Passes `pending` to the thread if it has at least [`PIECE`] bytes.
    pub(crate) fn take(&self, pending: &mut Vec<u8>) {
        if pending.len() >= PIECE {
            self.send(pending);
        }
    }

    fn send(&self, pending: &mut Vec<u8>) {
        // sending fails only if the thread has ended with an error, which `finish` reports
        let _ = self.pieces.send(std::mem::take(pending));
    }

    /// Writes the remaining bytes and ends the thread. Returns a JSON object with the given values of
    /// `frames` (number of frames in the file) and `full` (whether the frame limit was reached). The
    /// value `error` is null if the file is complete.
    pub(crate) fn finish(self, pending: &mut Vec<u8>, frames: u64, full: bool) -> Value {
        self.send(pending);
        drop(self.pieces);
        let error = match self.thread.join() {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the thread that writes has ended".to_owned()),
        };
        json!({ "frames": frames, "full": full, "error": error })
    }
}

fn write(pieces: &Receiver<Vec<u8>>, mut file: impl Write) -> io::Result<()> {
    for piece in pieces {
        file.write_all(&piece)?;
    }
    file.flush()
}
