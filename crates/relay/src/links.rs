//! Tasks that send and receive the messages of one TCP connection of a pool.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::{AbortHandle, spawn_local};

use crate::frame;
use crate::kernel;
use crate::noise::{Direction, Directions, NoiseError, OVERHEAD};
use crate::pool::Pool;
use crate::session::{LinkId, MAX_BLOCK};

/// Maximum number of bytes per read. [bytes]
const READ_BYTES: usize = 262_144;

thread_local! {
    /// Buffers that all connections use in turn. This is possible because all connections run on
    /// one thread.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

#[derive(Default)]
struct Scratch {
    come: Vec<u8>,
    message: Vec<u8>,
}

/// Interface between a connection's task and the rest of the relay.
pub(crate) struct Wire {
    pub(crate) socket: TcpStream,
    /// Notification that the connection may have messages to send.
    pub(crate) work: Notify,
    /// Number of bytes that the kernel accepts. `None` while the connection is sending. [bytes]
    pub(crate) room: Cell<Option<usize>>,
    task: Cell<Option<AbortHandle>>,
}

impl Wire {
    /// Ends the task of the connection.
    pub(crate) fn stop(&self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

/// Adds a TCP connection to a pool. The identifier of the connection must be unique in the pool.
pub(crate) fn join(
    pool: &Rc<Pool>,
    id: LinkId,
    socket: TcpStream,
    directions: Directions,
) -> io::Result<()> {
    kernel::prepare(&socket, Duration::from_secs_f64(pool.terms.timeout_s))?;
    let wire = Rc::new(Wire {
        socket,
        work: Notify::new(),
        room: Cell::new(None),
        task: Cell::new(None),
    });
    pool.join(id, wire.clone());
    let Directions { out, come } = directions;
    let (pool, joined) = (pool.clone(), wire.clone());
    let task = spawn_local(async move {
        tokio::select! {
            _ = write(&pool, &wire, id, out) => {}
            heard = read(&pool, &wire, id, come) => if let Err(ReadEnd::Violation) = heard {
                pool.abandon();
            },
        }
        pool.lose(id);
    });
    joined.task.set(Some(task.abort_handle()));
    Ok(())
}

async fn write(
    pool: &Rc<Pool>,
    wire: &Wire,
    id: LinkId,
    mut out: Direction,
) -> Result<(), NoiseError> {
    let mut sealed = Vec::new();
    loop {
        let room = kernel::room(&wire.socket).await?;
        let has_block = gather(pool, id, room, &mut out, &mut sealed)?;
        pool.dispatch();
        if sealed.is_empty() {
            if pool.session.borrow().is_empty(id) {
                kernel::end(&wire.socket)?;
                std::future::pending::<()>().await;
            }
            wire.room.set(Some(room));
            if !pool.session.borrow().wants(id, pool.now()) {
                wire.work.notified().await;
            }
            wire.room.set(None);
            continue;
        }
        let mut rest = sealed.as_slice();
        while !rest.is_empty() {
            match wire.socket.try_write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wire.socket.writable().await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        if !has_block {
            kernel::be_no_dialogue(&wire.socket)?;
        }
        sealed.clear();
        if sealed.capacity() > MAX_BLOCK / 8 {
            sealed = Vec::new(); // an idle connection uses no buffer memory
        }
    }
}

/// Gathers messages of the session until `room` is used up, with at most one block of data. Returns
/// whether there was a message.
fn gather(
    pool: &Rc<Pool>,
    id: LinkId,
    room: usize,
    out: &mut Direction,
    sealed: &mut Vec<u8>,
) -> Result<bool, NoiseError> {
    let head = OVERHEAD + frame::DATA_HEAD;
    loop {
        let left = room.saturating_sub(sealed.len() + head);
        let mut session = pool.session.borrow_mut();
        let mut read = |stream, to: &mut Vec<u8>, most| pool.read(stream, to, most);
        let Some(message) = session.next_message(id, left, pool.now(), &mut read) else {
            return Ok(false);
        };
        out.seal(&message, sealed)?;
        let is_block = frame::is_data(&message);
        if is_block || sealed.len() + head >= room {
            return Ok(is_block);
        }
    }
}

/// Reason why the task stops reading from a connection.
enum ReadEnd {
    /// The connection was closed, or received bytes that the other relay did not encrypt. Other
    /// connections continue.
    Closed,
    /// The other relay encrypted a message that violates the protocol.
    Violation,
}

impl From<io::Error> for ReadEnd {
    fn from(_: io::Error) -> ReadEnd {
        ReadEnd::Closed
    }
}

async fn read(
    pool: &Rc<Pool>,
    wire: &Wire,
    id: LinkId,
    mut direction: Direction,
) -> Result<(), ReadEnd> {
    let mut part = Vec::new();
    loop {
        wire.socket.readable().await?;
        SCRATCH
            .with_borrow_mut(|scratch| take(pool, wire, id, &mut direction, &mut part, scratch))?;
        pool.dispatch();
    }
}

fn take(
    pool: &Rc<Pool>,
    wire: &Wire,
    id: LinkId,
    direction: &mut Direction,
    part: &mut Vec<u8>,
    scratch: &mut Scratch,
) -> Result<(), ReadEnd> {
    let Scratch { come, message } = scratch;
    come.clear();
    come.reserve(READ_BYTES);
    come.append(part);
    match wire.socket.try_read_buf(come) {
        Ok(0) => return Err(ReadEnd::Closed),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
        Err(error) => return Err(error.into()),
    }
    let mut rest = come.as_slice();
    let now = pool.now();
    let mut session = pool.session.borrow_mut();
    while let Some(used) = direction.open(rest, message).map_err(|_| ReadEnd::Closed)? {
        rest = &rest[used..];
        let heard = session.receive(id, message, now);
        heard.map_err(|_| ReadEnd::Violation)?;
    }
    *part = rest.to_vec();
    Ok(())
}
