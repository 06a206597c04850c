//! The client relay, which is near the programs.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};

use crate::callers::{Callers, Limits};
use crate::frame;
use crate::hello::{Answer, Hello, VERSION, Welcome};
use crate::kernel;
use crate::links;
use crate::noise::{self, Key, NoiseError};
use crate::pool::Pool;
use crate::probe::client::ClientProbeCounters;
use crate::session::{Counted, LinkId, Memory};
use crate::settings::ClientSettings;
use crate::socks;

/// First and longest pause between two failed attempts to connect to the server.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// Maximum time for a program to name its target.
const PROGRAM_PATIENCE: Duration = Duration::from_secs(10);
/// Limits of the connections on which a program has not yet named its target. If a limit is reached, the next program
/// waits until the oldest of these connections may be closed. A connection is not closed in its first second, because a
/// busy machine may delay the program.
const UNDECIDED: Limits = Limits {
    all: 512,
    of_one: usize::MAX,
    silent_age: Duration::from_secs(1),
    spoken_age: Duration::MAX,
};
const PAUSE: Duration = Duration::from_millis(50);

/// State of the client: connections of programs, and connections to the server.
pub(crate) struct Client {
    pub(crate) key: Key,
    pub(crate) settings: ClientSettings,
    pub(crate) memory: Memory,
    pub(crate) pool: RefCell<Rc<Pool>>,
    /// Name of the session, which identifies the client at the server.
    pub(crate) session: RefCell<String>,
    /// Identifier of the next connection to the server.
    next_link: Cell<LinkId>,
    /// Number of connections to the server that are being established.
    dialing: Cell<u32>,
    /// Pause before the next attempt to connect, or `None` if the last attempt did not fail. After a failure, only one
    /// attempt is made at a time.
    pause: Cell<Option<Duration>>,
    undecided: RefCell<Callers>,
    notes: mpsc::SyncSender<String>,
    /// Targets of forwards that could not be reached, each with the code of the failure. Each
    /// failure is reported once.
    noted: RefCell<HashSet<(String, u16, u8)>>,
    /// Maximum number of streams that the server allows.
    streams: Cell<usize>,
    /// Sum of the counters of ended sessions.
    pub(crate) gone: Cell<Counted>,
    pub(crate) probes: Cell<ClientProbeCounters>,
}

/// Source from which the client learns the target of a program's connection.
#[derive(Clone)]
pub(crate) enum Leads {
    /// Target that the program sends in a SOCKS request.
    Socks,
    /// Original destination of a connection that TPROXY has redirected to the client.
    There,
    /// Fixed target of a forward: host and port.
    To(String, u16),
}

/// Reason why a connection to the server was not established.
enum Failed {
    /// Failure after which the client tries again.
    Now(String),
    /// The server does not know the session of the client.
    Unknown,
}

impl From<NoiseError> for Failed {
    fn from(error: NoiseError) -> Failed {
        // a server does not reply to a client with another key; it closes the connection
        let is_silent = match &error {
            NoiseError::Io(error) => error.kind() == io::ErrorKind::UnexpectedEof,
            other => matches!(other, NoiseError::Stranger),
        };
        match is_silent {
            true => Failed::Now("it does not answer: another key, or no relay".into()),
            false => Failed::Now(error.to_string()),
        }
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::Now(error.to_string())
    }
}

impl Client {
    pub(crate) fn new(
        settings: ClientSettings,
        key: Key,
        memory: Memory,
        notes: mpsc::SyncSender<String>,
    ) -> Rc<Client> {
        let streams = settings.memory.streams;
        let pool = begin(&settings, streams, &memory, &notes);
        Rc::new(Client {
            key,
            settings,
            memory,
            pool: RefCell::new(pool),
            session: RefCell::new(new_session()),
            next_link: Cell::new(0),
            dialing: Cell::new(0),
            pause: Cell::new(None),
            undecided: RefCell::new(Callers::new(UNDECIDED)),
            notes,
            noted: RefCell::default(),
            streams: Cell::new(streams),
            gone: Cell::default(),
            probes: Cell::default(),
        })
    }

    pub(crate) fn note(&self, text: String) {
        let _ = self.notes.try_send(text); // the note is dropped if the queue of notes is full
    }

    // -- the server ----------------------------------------------------------------------------

    /// Keeps the number of connections to the server at the number that the rules of both relays request. Never
    /// returns.
    pub(crate) async fn keep(self: Rc<Self>) {
        loop {
            let pool = self.living();
            let carrying = pool.carrying();
            let present = carrying.len() as u32 + self.dialing.get();
            let asked = pool.asked();
            let has_server = pool.session.borrow().has_heard() && self.pause.get().is_none();
            if present < asked && pool.rouse() {
                continue;
            } else if present < asked && (has_server || self.dialing.get() == 0) {
                self.dial(&pool);
                continue;
            } else if carrying.len() as u32 > asked
                && let Some(idlest) = pool.idlest(&carrying)
            {
                pool.rest(idlest);
                continue;
            }
            pool.changed.notified().await;
        }
    }

    /// Returns the pool of connections. Creates a new pool if the present pool was abandoned.
    fn living(&self) -> Rc<Pool> {
        if self.pool.borrow().is_dead() {
            self.begin_anew();
        }
        self.pool.borrow().clone()
    }

    fn begin_anew(&self) {
        let counted = self.pool.borrow().session.borrow().counted();
        self.gone.set(self.gone.get() + counted);
        *self.session.borrow_mut() = new_session();
        let (streams, memory) = (self.streams.get(), &self.memory);
        *self.pool.borrow_mut() = begin(&self.settings, streams, memory, &self.notes);
    }

    fn dial(self: &Rc<Self>, pool: &Rc<Pool>) {
        let (client, pool) = (self.clone(), pool.clone());
        client.dialing.set(client.dialing.get() + 1);
        spawn_local(async move {
            let paused = client.pause.get().unwrap_or_default();
            sleep(paused).await;
            let (was_connected, was_heard) =
                (pool.is_connected(), pool.session.borrow().has_heard());
            match client.connect(&pool).await {
                Ok(()) => {
                    client.pause.set(None);
                    match (was_connected, was_heard) {
                        (true, _) => {}
                        (false, false) => client.note("connected".into()),
                        (false, true) => client.note("connected again".into()),
                    }
                }
                Err(Failed::Unknown) => {
                    client.note("the server has restarted: all streams end".into());
                    pool.abandon();
                }
                Err(Failed::Now(why)) => {
                    if client.pause.get().is_none() && !was_connected {
                        client.note(format!("{}: {why}; trying again", client.name()));
                    }
                    let longer = (2 * paused).clamp(RETRY.0, RETRY.1);
                    client.pause.set(Some(longer));
                }
            }
            client.dialing.set(client.dialing.get() - 1);
            client.pool.borrow().changed.notify_one();
        });
    }

    /// Returns the address of the server, spelled as in the settings.
    pub(crate) fn name(&self) -> String {
        let (host, port) = &self.settings.server;
        match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        }
    }

    async fn connect(&self, pool: &Rc<Pool>) -> Result<(), Failed> {
        let patience = self.settings.patience;
        let reached = timeout(patience, self.reach()).await;
        let mut socket = reached.unwrap_or_else(|_| Err(NoiseError::TimedOut.into()))?;
        let link = self.next_link.get();
        self.next_link.set(link.wrapping_add(1));
        let hello = Hello {
            version: VERSION,
            session: self.session.borrow().clone(),
            link,
            resumes: pool.session.borrow().has_heard(),
            terms: self.settings.terms.clone(),
        };
        let hello = serde_json::to_vec(&hello).map_err(io::Error::from)?;
        let asked = timeout(patience, noise::handshake(&mut socket, &self.key, &hello)).await;
        let (answer, directions) = asked.unwrap_or(Err(NoiseError::TimedOut))?;
        let welcome: Welcome = serde_json::from_slice(&answer)
            .map_err(|_| Failed::Now("a relay of another version".into()))?;
        match welcome.answer {
            Answer::Yes if pool.is_dead() => Err(Failed::Now("too late".into())),
            Answer::Yes => {
                let streams = welcome.streams.min(self.settings.memory.streams);
                self.streams.set(streams);
                pool.session.borrow_mut().allow(streams);
                links::join(pool, link, socket, directions)?;
                Ok(())
            }
            Answer::Unknown => Err(Failed::Unknown),
            Answer::No(why) => Err(Failed::Now(format!("refused: {why}"))),
        }
    }

    async fn reach(&self) -> Result<TcpStream, Failed> {
        let (host, port) = &self.settings.server;
        let mut failed = Failed::Now("no address of that name".into());
        let from = self.settings.from.map(|from| SocketAddr::new(from, 0));
        for address in lookup_host((host.as_str(), *port)).await? {
            if from.is_some_and(|from| from.is_ipv4() != address.is_ipv4()) {
                continue;
            }
            let socket = match address.is_ipv4() {
                true => TcpSocket::new_v4()?,
                false => TcpSocket::new_v6()?,
            };
            let congestion = &self.settings.terms.congestion;
            kernel::choose(SockRef::from(&socket), congestion).map_err(|error| {
                Failed::Now(format!("congestion control {congestion}: {error}"))
            })?;
            if let Some(from) = from {
                kernel::choose_port_late(&socket)?;
                socket
                    .bind(from)
                    .map_err(|error| Failed::Now(format!("{}: {error}", from.ip())))?;
            }
            match socket.connect(address).await {
                Ok(socket) => return Ok(socket),
                Err(error) => failed = error.into(),
            }
        }
        Err(failed)
    }

    // -- programs ------------------------------------------------------------------------------

    /// Accepts connections of programs. Never returns.
    pub(crate) async fn take(self: Rc<Self>, listener: TcpListener, leads: Leads) {
        let decides = matches!(leads, Leads::Socks);
        loop {
            match listener.accept().await {
                Ok((socket, _)) => {
                    // only a program that speaks SOCKS must be admitted, because it names its target later; the targets
                    // of TPROXY and of forwards are known immediately
                    let caller = match decides {
                        true => Some(self.admit().await),
                        false => None,
                    };
                    let (client, leads) = (self.clone(), leads.clone());
                    let task = spawn_local(async move {
                        let _ = client.lead(socket, leads, caller).await;
                    });
                    if let Some(caller) = caller {
                        let mut undecided = self.undecided.borrow_mut();
                        undecided.serve(caller, task.abort_handle());
                    }
                }
                Err(_) => sleep(PAUSE).await,
            }
        }
    }

    /// Waits until a program that has not named its target can be admitted. Returns the program's
    /// identifier.
    async fn admit(&self) -> u64 {
        loop {
            // many programs may share one address behind a router, so that no limit per address applies: every program
            // is admitted with the same address
            let admitted = self
                .undecided
                .borrow_mut()
                .admit(Ipv4Addr::LOCALHOST.into());
            match admitted {
                Some(caller) => return caller,
                None => sleep(PAUSE).await,
            }
        }
    }

    /// Reports once why the target of a forward cannot be reached. The program sees only a reset.
    fn tell_of(&self, host: String, port: u16, code: u8) {
        let text = format!("{host}:{port}: {}", frame::why(code));
        if self.noted.borrow_mut().insert((host, port, code)) {
            self.note(text);
        }
    }

    async fn lead(
        &self,
        mut socket: TcpStream,
        leads: Leads,
        caller: Option<u64>,
    ) -> io::Result<()> {
        let is_socks = matches!(leads, Leads::Socks);
        let asked = match leads {
            Leads::To(ref host, port) => Ok(Ok(Some((host.clone(), port)))),
            Leads::There => Ok(socket.local_addr().map(|target| {
                let target = SocketAddr::new(target.ip().to_canonical(), target.port());
                Some((target.ip().to_string(), target.port()))
            })),
            Leads::Socks => timeout(PROGRAM_PATIENCE, socks::asked(&mut socket)).await,
        };
        if let Some(caller) = caller {
            self.undecided.borrow_mut().leave(caller);
        }
        let Some((host, port)) = asked.map_err(io::Error::from)?? else {
            return Ok(());
        };
        let pool = self.living();
        let opened = tokio::select! {
            opened = pool.open(&host, port) => opened,
            _ = gone(&socket, is_socks) => return Ok(()),
        };
        if is_socks {
            let code = opened.err().unwrap_or(frame::OK);
            socks::reply(&mut socket, code).await?;
        }
        match opened {
            Ok(stream) => pool.plug(stream, socket),
            Err(_) if is_socks => {}
            Err(code) => {
                if matches!(leads, Leads::To(..)) {
                    self.tell_of(host, port, code);
                }
                kernel::break_off(&socket);
            }
        }
        Ok(())
    }
}

/// Waits until a program resets its connection. `waits` says whether the program waits for a reply. If it does, the end
/// of the program's data also counts as a reset.
async fn gone(socket: &TcpStream, waits: bool) -> io::Result<()> {
    if waits && socket.peek(&mut [0]).await? == 0 {
        return Ok(());
    }
    socket.ready(Interest::ERROR).await?;
    Ok(())
}

fn begin(
    settings: &ClientSettings,
    streams: usize,
    memory: &Memory,
    notes: &mpsc::SyncSender<String>,
) -> Rc<Pool> {
    let limits = (streams, settings.memory.window_bytes);
    let terms = settings.terms.clone();
    Pool::begin(terms, limits, memory.clone(), None, notes.clone())
}

fn new_session() -> String {
    use std::hash::{BuildHasher, RandomState};
    // the name of a session is not secret, but must be unique
    let half = || RandomState::new().hash_one(std::time::SystemTime::now());
    format!("{:016x}{:016x}", half(), half())
}
