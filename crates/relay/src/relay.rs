//! A relay on a separate thread, and the methods that control it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use thiserror::Error;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::mpsc as tokio_mpsc;
use tokio::task::{LocalSet, spawn_local};

use crate::budget::Budget;
use crate::client::{Client, Leads};
use crate::frame::MAX_HOST;
use crate::kernel;
use crate::metrics::{Metrics, of_client, of_server};
use crate::noise::Key;
use crate::probe;
use crate::server::Server;
use crate::session::Memory;
use crate::settings::{ClientSettings, MemorySettings, Settings};

/// Divisor of a relay's memory: the quotient is the memory budget for data that were sent and not
/// acknowledged yet.
const KEPT_PART: usize = 3;
/// Maximum number of unread notes. Later notes are dropped.
const MAX_NOTES: usize = 256;
/// Maximum number of TCP connections that the kernel queues until the relay accepts them.
const BACKLOG: u32 = 1024;

/// Reason why a relay cannot start.
#[derive(Debug, Error)]
pub enum RelayError {
    /// The settings are invalid.
    #[error("{0}")]
    Settings(String),
    /// The relay cannot listen at an address.
    #[error("{0}: {why}", why = words(.1))]
    Listen(SocketAddr, io::Error),
    /// The operating system refused a call.
    #[error(transparent)]
    System(#[from] io::Error),
}

enum Asked {
    Metrics(mpsc::Sender<String>),
    Stop,
}

/// A running relay.
#[derive(Debug)]
pub struct Relay {
    ask: tokio_mpsc::UnboundedSender<Asked>,
    notes: mpsc::Receiver<String>,
    thread: Option<JoinHandle<()>>,
    addresses: Vec<SocketAddr>,
}

impl Relay {
    /// Starts a relay, which runs until it is stopped.
    ///
    /// # Errors
    ///
    /// If the settings are invalid, or the relay cannot listen at an address.
    pub fn start(settings: &str) -> Result<Relay, RelayError> {
        let settings: Settings = serde_json::from_str(settings)
            .map_err(|error| RelayError::Settings(error.to_string()))?;
        let (key, listeners) = check(&settings)?;
        let addresses = listeners.iter().map(|(each, _)| each.local_addr());
        let addresses = addresses.collect::<io::Result<Vec<_>>>()?;
        let (ask, asked) = tokio_mpsc::unbounded_channel();
        let (tell, notes) = mpsc::sync_channel(MAX_NOTES);
        let thread = std::thread::Builder::new().name("relay".into());
        let probes = match settings {
            Settings::Server(_) => addresses.first().map(|&at| (at, probe::listen(at))),
            Settings::Client(_) => None,
        };
        let thread = thread.spawn(move || run(settings, key, listeners, probes, asked, tell))?;
        Ok(Relay {
            ask,
            notes,
            thread: Some(thread),
            addresses,
        })
    }

    /// Returns the addresses at which the relay listens: the address of a server, or the SOCKS,
    /// forward and TPROXY addresses of a client.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns the metrics of the relay as JSON, or `None` after the relay has ended.
    pub fn metrics(&self) -> Option<String> {
        let (tell, reply) = mpsc::channel();
        self.ask.send(Asked::Metrics(tell)).ok()?;
        reply.recv().ok()
    }

    /// Waits at most `wait` for the next note of the relay, and returns it.
    pub fn note(&self, wait: Duration) -> Option<String> {
        self.notes.recv_timeout(wait).ok()
    }

    /// Returns whether the relay still runs.
    pub fn is_running(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
    }

    /// Stops the relay and resets all streams.
    pub fn stop(&mut self) {
        let _ = self.ask.send(Asked::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns the text of a system error without the error number.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

type Listener = (std::net::TcpListener, Option<Leads>);

fn check(settings: &Settings) -> Result<(Key, Vec<Listener>), RelayError> {
    let refuse = |why: &str| RelayError::Settings(why.into());
    let key = match settings {
        Settings::Client(client) => &client.key,
        Settings::Server(server) => &server.key,
    };
    let key = Key::read(key).ok_or_else(|| refuse("key: must be 32 bytes in base 64"))?;
    let mut listeners = Vec::new();
    match settings {
        Settings::Server(server) => listeners.push((listen(server.listen, false)?, None)),
        Settings::Client(client) => {
            if let Some(complaint) = client.terms.complaint() {
                return Err(RelayError::Settings(complaint));
            }
            try_out(client)?;
            for &at in &client.socks {
                listeners.push((listen(at, false)?, Some(Leads::Socks)));
            }
            for forward in &client.forwards {
                if forward.host.is_empty() || forward.host.len() > MAX_HOST {
                    return Err(refuse(&format!(
                        "a host has from 1 to {MAX_HOST} characters"
                    )));
                }
                let leads = Leads::To(forward.host.clone(), forward.port);
                listeners.push((listen(forward.listen, false)?, Some(leads)));
            }
            for &at in &client.transparent {
                listeners.push((listen(at, true)?, Some(Leads::There)));
            }
        }
    }
    Ok((key, listeners))
}

/// Checks that the system accepts the client's settings for connections, without connecting to the
/// server.
fn try_out(client: &ClientSettings) -> Result<(), RelayError> {
    let at = SocketAddr::new(client.from.unwrap_or(Ipv4Addr::LOCALHOST.into()), 0);
    let socket = socket2::Socket::new(
        socket2::Domain::for_address(at),
        socket2::Type::STREAM,
        None,
    )?;
    let congestion = &client.terms.congestion;
    kernel::choose((&socket).into(), congestion).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "this kernel has none of that name".into(),
            io::ErrorKind::PermissionDenied => "not allowed".into(),
            _ => words(&error),
        };
        RelayError::Settings(format!("congestion: {congestion}: {why}"))
    })?;
    let bound = socket.bind(&at.into());
    bound.map_err(|error| RelayError::Settings(format!("from: {}: {}", at.ip(), words(&error))))
}

fn listen(at: SocketAddr, is_transparent: bool) -> Result<std::net::TcpListener, RelayError> {
    let open = || {
        let socket = match at.is_ipv4() {
            true => socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?,
            false => socket2::Socket::new(socket2::Domain::IPV6, socket2::Type::STREAM, None)?,
        };
        if is_transparent {
            kernel::be_transparent(&socket, at.is_ipv4())?;
        }
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&at.into())?;
        socket.listen(BACKLOG as i32)?;
        Ok(socket.into())
    };
    open().map_err(|error| RelayError::Listen(at, error))
}

fn memory(settings: MemorySettings) -> Memory {
    let unacknowledged = settings.bytes / KEPT_PART;
    Memory {
        merging: Budget::new(settings.bytes - unacknowledged),
        unacknowledged: Budget::new(unacknowledged),
    }
}

fn run(
    settings: Settings,
    key: Key,
    listeners: Vec<Listener>,
    probes: Option<(SocketAddr, io::Result<UdpSocket>)>,
    mut asked: tokio_mpsc::UnboundedReceiver<Asked>,
    notes: mpsc::SyncSender<String>,
) {
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else {
        return;
    };
    let all = LocalSet::new();
    let work = async move {
        let metrics: Box<dyn Fn() -> Metrics> = match settings {
            Settings::Server(settings) => {
                let memory = memory(settings.memory);
                let server = Server::new(settings, key, memory, notes);
                for (listener, _) in tokio_listeners(listeners) {
                    spawn_local(server.clone().run(listener));
                }
                match probes {
                    Some((_, Ok(socket))) => {
                        if let Ok(socket) = tokio::net::UdpSocket::from_std(socket) {
                            spawn_local(probe::server::run(server.clone(), socket));
                        }
                    }
                    Some((at, Err(error))) => server.note(format!(
                        "{at}: UDP: {}: probes are not answered",
                        words(&error)
                    )),
                    None => {}
                }
                Box::new(move || of_server(&server))
            }
            Settings::Client(settings) => {
                let memory = memory(settings.memory);
                let client = Client::new(settings, key, memory, notes);
                for (listener, leads) in tokio_listeners(listeners) {
                    spawn_local(client.clone().take(listener, leads.unwrap_or(Leads::Socks)));
                }
                spawn_local(client.clone().keep());
                if client.settings.probe {
                    spawn_local(probe::client::run(client.clone()));
                }
                Box::new(move || of_client(&client))
            }
        };
        while let Some(Asked::Metrics(tell)) = asked.recv().await {
            let text = serde_json::to_string(&metrics()).unwrap_or_default();
            let _ = tell.send(text);
        }
    };
    runtime.block_on(all.run_until(work));
}

fn tokio_listeners(listeners: Vec<Listener>) -> impl Iterator<Item = (TcpListener, Option<Leads>)> {
    listeners
        .into_iter()
        .filter_map(|(listener, leads)| Some((TcpListener::from_std(listener).ok()?, leads)))
}
