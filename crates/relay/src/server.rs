//! The server relay, which is near the targets.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;

use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::task::{spawn_local, yield_now};
use tokio::time::{sleep, timeout};

use crate::allow::{Allowed, is_allowed};
use crate::callers::{Callers, Limits};
use crate::frame;
use crate::hello::{Answer, Hello, VERSION, Welcome};
use crate::kernel;
use crate::links;
use crate::metrics::Handshakes;
use crate::noise::{self, Key, NoiseError};
use crate::pool::Pool;
use crate::probe::answerer::Answerer;
use crate::probe::packet::ProbeKey;
use crate::session::{Counted, Memory};
use crate::settings::ServerSettings;

/// Maximum time to connect to a target.
const TARGET_PATIENCE: Duration = Duration::from_secs(10);
/// Maximum time until the first message of a handshake. A client sends this message as soon as the
/// connection is established.
const FIRST_MESSAGE_PATIENCE: Duration = Duration::from_secs(2);
/// Limits of simultaneous handshakes. A client sends its first message immediately, so that a connection without data
/// may be closed at any age. A connection with data may be closed after 2 s, because the rest of the handshake takes
/// one more round trip.
const HANDSHAKES: Limits = Limits {
    all: 64,
    of_one: 16,
    silent_age: Duration::ZERO,
    spoken_age: Duration::from_secs(2),
};
/// Number of connections that the server accepts in a session, as a multiple of the maximum in the terms of the
/// session. Connections above the maximum in the terms are resting or are being closed.
const MAX_OVER: usize = 4;
/// Pause after a failure to accept a connection, for example for lack of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// State of the server: sessions, and connections during their handshake.
pub(crate) struct Server {
    key: Key,
    allowed: Rc<[Allowed]>,
    settings: ServerSettings,
    pub(crate) memory: Memory,
    pub(crate) pools: RefCell<HashMap<String, Rc<Pool>>>,
    /// Connections during their handshake.
    callers: RefCell<Callers>,
    pub(crate) handshakes: Cell<Handshakes>,
    /// Sum of the counters of ended sessions.
    pub(crate) gone: Cell<Counted>,
    notes: mpsc::SyncSender<String>,
    /// Sessions whose probes the server answers.
    pub(crate) answerer: RefCell<Answerer<Rc<Pool>>>,
}

impl Server {
    pub(crate) fn new(
        settings: ServerSettings,
        key: Key,
        memory: Memory,
        notes: mpsc::SyncSender<String>,
    ) -> Rc<Server> {
        Rc::new(Server {
            key,
            allowed: settings.allow.as_slice().into(),
            settings,
            memory,
            pools: RefCell::default(),
            callers: RefCell::new(Callers::new(HANDSHAKES)),
            handshakes: Cell::default(),
            gone: Cell::default(),
            notes,
            answerer: RefCell::new(Answerer::new()),
        })
    }

    /// Accepts connections of clients. Never returns.
    pub(crate) async fn run(self: Rc<Self>, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((socket, from)) => {
                    self.clone().welcome(socket, from);
                    // lets the task of this connection run before the next `accept`, because its first message may have
                    // arrived already
                    yield_now().await;
                }
                Err(_) => sleep(PAUSE).await,
            }
        }
    }

    /// Starts the handshake of a new connection, unless there are too many handshakes.
    fn welcome(self: Rc<Self>, socket: TcpStream, from: SocketAddr) {
        let mut callers = self.callers.borrow_mut();
        let before = callers.closed;
        let admitted = callers.admit(from.ip());
        let refused = callers.closed - before + u64::from(admitted.is_none());
        self.count(|counted| counted.too_many += refused);
        let Some(id) = admitted else {
            return;
        };
        let server = self.clone();
        let task = spawn_local(async move {
            let talked = timeout(server.settings.patience, server.talk(socket, id)).await;
            let talked = talked.unwrap_or(Err(NoiseError::TimedOut));
            server.count(|counted| match talked {
                Ok(()) => counted.good += 1,
                Err(NoiseError::Stranger) => counted.strangers += 1,
                Err(_) => counted.broken += 1,
            });
            server.callers.borrow_mut().leave(id);
        });
        callers.serve(id, task.abort_handle());
    }

    pub(crate) fn note(&self, text: String) {
        let _ = self.notes.try_send(text); // the note is dropped if the queue of notes is full
    }

    fn count(&self, add: impl FnOnce(&mut Handshakes)) {
        let mut handshakes = self.handshakes.get();
        add(&mut handshakes);
        self.handshakes.set(handshakes);
    }

    async fn talk(&self, mut socket: TcpStream, caller: u64) -> Result<(), NoiseError> {
        let first = noise::read_first(&mut socket, &self.key);
        let first = timeout(FIRST_MESSAGE_PATIENCE, first).await;
        let (asked, state) = first.unwrap_or(Err(NoiseError::TimedOut))?;
        self.callers.borrow_mut().spoke(caller);
        let hello: Option<Hello> = serde_json::from_slice(&asked).ok();
        let (answer, pool) = match &hello {
            Some(hello) => self.answer(hello, &socket),
            None => (Answer::No("a relay of another version".into()), None),
        };
        let welcome = Welcome {
            version: VERSION,
            answer,
            streams: self.settings.memory.streams,
        };
        let welcome = serde_json::to_vec(&welcome).map_err(io::Error::from)?;
        let directions = noise::answer(&mut socket, state, &welcome).await?;
        if let (Some(pool), Some(hello)) = (pool, hello)
            && let Some(pool) = self.admit(&hello, pool)
        {
            links::join(&pool, hello.link, socket, directions)?;
        }
        Ok(())
    }

    /// Returns whether a connection may join the requested session. If it may, also returns the session,
    /// or `Some(None)` if the session is new.
    fn answer(&self, hello: &Hello, socket: &TcpStream) -> (Answer, Option<Option<Rc<Pool>>>) {
        let refused = |why: String| (Answer::No(why), None);
        if hello.version != VERSION {
            return refused(format!("version {VERSION} is spoken here"));
        }
        if let Some(complaint) = hello.terms.complaint() {
            return refused(complaint);
        }
        let congestion = &hello.terms.congestion;
        if let Err(error) = kernel::choose(SockRef::from(socket), congestion) {
            return refused(format!("congestion control {congestion}: {error}"));
        }
        self.forget_the_dead();
        let pools = self.pools.borrow();
        let known = pools.get(&hello.session);
        match known {
            Some(pool) if pool.connections() >= MAX_OVER * pool.terms.connections.1 as usize => {
                refused("too many connections".into())
            }
            Some(pool) if pool.has(hello.link) => refused("a connection that is there".into()),
            Some(pool) => (Answer::Yes, Some(Some(pool.clone()))),
            None if hello.resumes => (Answer::Unknown, None),
            None if pools.len() >= self.settings.sessions => refused("too many clients".into()),
            None => (Answer::Yes, Some(None)),
        }
    }

    /// Returns the session that a connection joins, which is created if it is new. Returns `None` if
    /// the connection may not join any more.
    fn admit(&self, hello: &Hello, known: Option<Rc<Pool>>) -> Option<Rc<Pool>> {
        if let Some(pool) = known {
            return (!pool.is_dead() && !pool.has(hello.link)).then_some(pool);
        }
        let mut pools = self.pools.borrow_mut();
        if let Some(pool) = pools.get(&hello.session) {
            return (!pool.has(hello.link)).then(|| pool.clone());
        }
        if pools.len() >= self.settings.sessions {
            return None;
        }
        let memory = self.settings.memory;
        let limits = (memory.streams, memory.window_bytes);
        let allowed = Some(self.allowed.clone());
        let (terms, memory) = (hello.terms.clone(), self.memory.clone());
        let pool = Pool::begin(terms, limits, memory, allowed, self.notes.clone());
        if let Ok(key) = ProbeKey::new(&self.key, &hello.session) {
            self.answerer.borrow_mut().admit(key, pool.clone());
        }
        pools.insert(hello.session.clone(), pool.clone());
        Some(pool)
    }

    pub(crate) fn forget_the_dead(&self) {
        self.pools.borrow_mut().retain(|_, pool| {
            if pool.is_dead() {
                let counted = pool.session.borrow().counted();
                self.gone.set(self.gone.get() + counted);
            }
            !pool.is_dead()
        });
        self.answerer.borrow_mut().retain(|pool| !pool.is_dead());
    }
}

/// Connects to a target. Returns the socket, or the code of the failure.
pub(crate) async fn connect(allowed: &[Allowed], host: &str, port: u16) -> Result<TcpStream, u8> {
    let try_all = async {
        let addresses = lookup_host((host, port)).await;
        let addresses = addresses.map_err(|_| frame::HOST_UNREACHABLE)?;
        let mut code = frame::HOST_UNREACHABLE;
        for address in addresses {
            if !is_allowed(allowed, host, address.ip(), port) {
                code = frame::NOT_ALLOWED;
                continue;
            }
            match TcpStream::connect(address).await {
                Ok(socket) => return Ok(socket),
                Err(error) => code = code_of(&error),
            }
        }
        Err(code)
    };
    let tried = timeout(TARGET_PATIENCE, try_all).await;
    tried.unwrap_or(Err(frame::TIMED_OUT))
}

fn code_of(error: &io::Error) -> u8 {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => frame::REFUSED,
        io::ErrorKind::NetworkUnreachable => frame::NETWORK_UNREACHABLE,
        io::ErrorKind::HostUnreachable => frame::HOST_UNREACHABLE,
        io::ErrorKind::TimedOut => frame::TIMED_OUT,
        _ => frame::FAILED,
    }
}
