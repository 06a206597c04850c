//! A session with its sockets: the TCP connections to the other relay, and the sockets of programs
//! or targets.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;

use bytes::BufMut;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::{Instant, sleep};

use crate::allow::Allowed;
use crate::frame::{self, StreamId};
use crate::hello::Terms;
use crate::kernel;
use crate::links::Wire;
use crate::number::{Asked, Number};
use crate::server::connect;
use crate::session::{Event, Limits, LinkId, Memory, Read, Session, Side};

/// Time between two readings of the connections' kernel statistics.
const LOOK: Duration = Duration::from_millis(100);
/// Shortest time between two checks for due acknowledgements.
const BREATH: Duration = Duration::from_millis(5);
/// Time for which an unneeded connection is kept open, in case it is needed again.
const KEPT_RESTING: Duration = Duration::from_secs(60);
/// Time between two reports about refused streams.
const BETWEEN_REPORTS: Duration = Duration::from_secs(10);
/// Time without an open stream after which the pool has the minimum number of connections.
const REST: Duration = Duration::from_secs(10);

/// Socket of a stream's program or target.
struct Plug {
    socket: TcpStream,
    /// Notification that the last read from the socket found no data.
    empty: Notify,
    /// Notification that the last write to the socket found its buffer full.
    full: Notify,
    tasks: RefCell<Vec<AbortHandle>>,
    /// Whether the program was notified that no more data will come.
    ended: Cell<bool>,
}

/// State that all tasks of a pool share.
pub(crate) struct Pool {
    pub(crate) session: RefCell<Session>,
    pub(crate) terms: Terms,
    wires: RefCell<BTreeMap<LinkId, Rc<Wire>>>,
    plugs: RefCell<HashMap<StreamId, Rc<Plug>>>,
    /// Streams whose request the server has not answered yet.
    opening: RefCell<HashMap<StreamId, oneshot::Sender<u8>>>,
    /// Streams for which a server is establishing the connection to the target.
    connecting: RefCell<HashMap<StreamId, AbortHandle>>,
    number: RefCell<Number>,
    /// Number of connections that the rule of this relay requests, and number that the rule of the
    /// other relay requests.
    wishes: Cell<(u32, u32)>,
    began: Instant,
    /// Rules for the targets to which a server lets its client connect; `None` at a client.
    allowed: Option<Rc<[Allowed]>>,
    /// Notification that data have arrived and must be acknowledged.
    came: Notify,
    /// Notification that the number of connections may have to change.
    pub(crate) changed: Notify,
    dead: Cell<bool>,
    notes: mpsc::SyncSender<String>,
    /// Number of refused streams in the reports so far.
    reported: Cell<u64>,
    /// Earliest time of the next report about refused streams.
    report_at: Cell<Duration>,
    /// Whether no stream was open for some time, so that the minimum number of connections is
    /// enough.
    is_idle: Cell<bool>,
}

impl Pool {
    /// Returns a pool without connections. `allowed` are the rules for targets at a server.
    pub(crate) fn begin(
        terms: Terms,
        limits: (usize, u64),
        memory: Memory,
        allowed: Option<Rc<[Allowed]>>,
        notes: mpsc::SyncSender<String>,
    ) -> Rc<Pool> {
        let side = if allowed.is_some() {
            Side::Server
        } else {
            Side::Client
        };
        let limits = Limits {
            streams: limits.0,
            window: limits.1,
            timeout: Duration::from_secs_f64(terms.timeout_s),
        };
        let number = Number::new(&terms.rule, terms.connections, Duration::ZERO);
        let pool = Rc::new(Pool {
            session: RefCell::new(Session::new(side, limits, memory, Duration::ZERO)),
            number: RefCell::new(number),
            wishes: Cell::new((terms.connections.0, terms.connections.0)),
            terms,
            wires: RefCell::default(),
            plugs: RefCell::default(),
            opening: RefCell::default(),
            connecting: RefCell::default(),
            began: Instant::now(),
            allowed,
            came: Notify::new(),
            changed: Notify::new(),
            dead: Cell::new(false),
            notes,
            reported: Cell::new(0),
            report_at: Cell::default(),
            is_idle: Cell::new(false),
        });
        spawn_local(Pool::keep_time(pool.clone()));
        spawn_local(Pool::acknowledge(pool.clone()));
        pool
    }

    /// Returns the time since the creation of the pool.
    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.get()
    }

    // -- connections ---------------------------------------------------------------------------

    /// Adds a connection to the pool.
    pub(crate) fn join(&self, id: LinkId, wire: Rc<Wire>) {
        self.session.borrow_mut().join(id, self.now());
        self.wires.borrow_mut().insert(id, wire);
        self.changed.notify_one();
    }

    /// Returns whether the pool has a connection with this identifier.
    pub(crate) fn has(&self, id: LinkId) -> bool {
        self.wires.borrow().contains_key(&id)
    }

    /// Removes a connection that was closed.
    pub(crate) fn lose(self: &Rc<Self>, id: LinkId) {
        let wire = self.wires.borrow_mut().remove(&id);
        if let Some(wire) = wire {
            self.session.borrow_mut().lose(id);
            self.number.borrow_mut().forget(id);
            wire.stop();
            self.changed.notify_one();
            self.dispatch();
        }
    }

    /// Returns the connections that may carry data.
    pub(crate) fn carrying(&self) -> Vec<LinkId> {
        let session = self.session.borrow();
        let wires = self.wires.borrow();
        wires
            .keys()
            .copied()
            .filter(|&id| session.carries(id))
            .collect()
    }

    /// Returns the connection whose last delivery was the longest ago.
    pub(crate) fn idlest(&self, ids: &[LinkId]) -> Option<LinkId> {
        self.number.borrow().idlest(ids)
    }

    /// Stops sending data over a connection. The connection stays open and can be used again.
    pub(crate) fn rest(self: &Rc<Self>, id: LinkId) {
        self.session.borrow_mut().rest(id, self.now());
        self.dispatch();
    }

    /// Lets a resting connection carry data again. Returns whether there was a resting connection.
    pub(crate) fn rouse(self: &Rc<Self>) -> bool {
        let is_there = self.session.borrow_mut().rouse();
        self.dispatch();
        is_there
    }

    /// Returns the number of connections, including resting connections.
    pub(crate) fn connections(&self) -> usize {
        self.wires.borrow().len()
    }

    /// Returns the number of resting connections, which carry no data.
    pub(crate) fn resting(&self) -> usize {
        self.session
            .borrow()
            .rested(self.now(), Duration::ZERO)
            .len()
    }

    /// Returns the number of connections that the rules of both relays request.
    pub(crate) fn asked(&self) -> u32 {
        let (least, most) = self.terms.connections;
        let (own, peer) = self.wishes.get();
        own.max(peer).clamp(least, most)
    }

    /// Returns the smoothed round-trip times of the connections. [s]
    pub(crate) fn rtts_s(&self) -> Vec<f64> {
        let wires = self.wires.borrow();
        let infos = wires
            .values()
            .filter_map(|wire| kernel::info(&wire.socket).ok());
        infos.map(|info| info.rtt.as_secs_f64()).collect()
    }

    /// Returns the IP address of the other relay, taken from one of the connections.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        let wires = self.wires.borrow();
        wires.values().find_map(|wire| wire.socket.peer_addr().ok())
    }

    // -- probes --------------------------------------------------------------------------------

    /// Records a round-trip time measured by a UDP probe.
    pub(crate) fn probe(&self, rtt: Duration) {
        self.number.borrow_mut().probe(rtt, self.now());
    }

    /// Returns the round-trip time of the probes, or `None` if they are not answered.
    pub(crate) fn probed_rtt(&self) -> Option<Duration> {
        self.number.borrow().probed_rtt(self.now())
    }

    /// Returns whether no stream was open for some time.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_idle.get()
    }

    // -- programs ------------------------------------------------------------------------------

    /// Requests a connection to a target from the server. Returns the stream, or the code of the
    /// failure.
    pub(crate) async fn open(self: &Rc<Self>, host: &str, port: u16) -> Result<StreamId, u8> {
        if self.is_dead() || host.is_empty() || host.len() > frame::MAX_HOST {
            return Err(frame::FAILED);
        }
        let now = self.now();
        let opened = self.session.borrow_mut().open(host, port, now);
        let Some(id) = opened else {
            return Err(frame::FAILED);
        };
        let (report_opening, reply) = oneshot::channel();
        self.opening.borrow_mut().insert(id, report_opening);
        self.dispatch();
        // if this task is aborted before the reply, `waiting` is dropped and resets the stream
        let waiting = Opening { pool: self, id };
        let code = reply.await.unwrap_or(frame::FAILED);
        std::mem::forget(waiting);
        match code {
            frame::OK => Ok(id),
            code => Err(code),
        }
    }

    /// Connects a stream with the socket of a program or target.
    pub(crate) fn plug(self: &Rc<Self>, id: StreamId, socket: TcpStream) {
        if !self.session.borrow().has(id) || kernel::prepare_plug(&socket).is_err() {
            kernel::break_off(&socket);
            self.session.borrow_mut().reset(id, frame::FAILED);
            return self.dispatch();
        }
        let plug = Rc::new(Plug {
            socket,
            empty: Notify::new(),
            full: Notify::new(),
            tasks: RefCell::default(),
            ended: Cell::new(false),
        });
        self.plugs.borrow_mut().insert(id, plug.clone());
        let up = spawn_local(Pool::go_up(self.clone(), id, plug.clone()));
        let down = spawn_local(Pool::go_down(self.clone(), id, plug.clone()));
        plug.tasks
            .borrow_mut()
            .extend([up.abort_handle(), down.abort_handle()]);
        self.flush(id);
        self.dispatch();
    }

    async fn go_up(self: Rc<Self>, id: StreamId, plug: Rc<Plug>) {
        while plug.socket.readable().await.is_ok() {
            self.session.borrow_mut().readable(id);
            self.wake();
            tokio::select! {
                () = plug.empty.notified() => {}
                broken = plug.socket.ready(Interest::ERROR) => {
                    let _ = broken;
                    break;
                }
            }
        }
        self.session.borrow_mut().reset(id, frame::FAILED);
        self.dispatch();
    }

    async fn go_down(self: Rc<Self>, id: StreamId, plug: Rc<Plug>) {
        loop {
            plug.full.notified().await;
            if plug.socket.writable().await.is_err() {
                return;
            }
            self.flush(id);
            self.dispatch();
        }
    }

    /// Writes received data of a stream to its program until the socket buffer is full.
    fn flush(&self, id: StreamId) {
        let Some(plug) = self.plugs.borrow().get(&id).cloned() else {
            return;
        };
        let mut session = self.session.borrow_mut();
        while let Some(next) = session.next(id) {
            match plug.socket.try_write(next) {
                Ok(count) => session.take(id, count),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    return plug.full.notify_one();
                }
                Err(_) => return session.reset(id, frame::FAILED),
            }
        }
        if session.has(id) && session.is_over(id) && !plug.ended.replace(true) {
            match kernel::end(&plug.socket) {
                Ok(()) => session.ended(id),
                Err(_) => session.reset(id, frame::FAILED),
            }
        }
    }

    /// Reads at most `most` bytes from a program, and appends them to `to`.
    pub(crate) fn read(&self, id: StreamId, to: &mut Vec<u8>, most: usize) -> Read {
        let Some(plug) = self.plugs.borrow().get(&id).cloned() else {
            return Read::Nothing;
        };
        match plug.socket.try_read_buf(&mut to.limit(most)) {
            Ok(0) => Read::End,
            Ok(count) => Read::Some(count),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Read::Nothing,
            Err(_) => Read::Broken,
        }
    }

    fn unplug(&self, id: StreamId, is_broken: bool) {
        if let Some(plug) = self.plugs.borrow_mut().remove(&id) {
            if !is_broken {
                kernel::end_well(&plug.socket);
            }
            for task in plug.tasks.borrow().iter() {
                task.abort();
            }
        }
    }

    // -- events --------------------------------------------------------------------------------

    /// Processes the events of the session. Then wakes connections that may have messages to send.
    pub(crate) fn dispatch(self: &Rc<Self>) {
        loop {
            let event = self.session.borrow_mut().next_event();
            let Some(event) = event else {
                break;
            };
            self.act(event);
        }
        if self.session.borrow().deadline().is_some() {
            self.came.notify_one();
        }
        self.wake();
    }

    fn act(self: &Rc<Self>, event: Event) {
        match event {
            Event::Asked { stream, host, port } => {
                let task = spawn_local(Pool::connect(self.clone(), stream, host, port));
                let mut connecting = self.connecting.borrow_mut();
                connecting.insert(stream, task.abort_handle());
            }
            Event::Opened { stream, code } => self.report_opening(stream, code),
            Event::Data(stream) => self.flush(stream),
            Event::Empty(stream) => {
                if let Some(plug) = self.plugs.borrow().get(&stream) {
                    plug.empty.notify_one();
                }
            }
            Event::Reset { stream, code } => {
                if let Some(task) = self.connecting.borrow_mut().remove(&stream) {
                    task.abort();
                }
                self.unplug(stream, true);
                self.report_opening(stream, code);
            }
            Event::Over(stream) => self.unplug(stream, false),
            Event::Wish(peer) => {
                self.wishes.set((self.wishes.get().0, peer));
                self.changed.notify_one();
            }
        }
    }

    fn report_opening(&self, stream: StreamId, code: u8) {
        if let Some(opening) = self.opening.borrow_mut().remove(&stream) {
            let _ = opening.send(code);
        }
    }

    async fn connect(self: Rc<Self>, stream: StreamId, host: String, port: u16) {
        let allowed = self.allowed.clone().unwrap_or_default();
        let connected = connect(&allowed, &host, port).await;
        self.connecting.borrow_mut().remove(&stream);
        if !self.session.borrow().has(stream) {
            return; // the client has reset the stream
        }
        let code = connected.as_ref().err().copied().unwrap_or(frame::OK);
        self.session.borrow_mut().answer(stream, code);
        match connected {
            Ok(socket) => self.plug(stream, socket),
            Err(_) => self.dispatch(),
        }
    }

    /// Wakes connections that have messages to send: every connection with control messages of its
    /// own, and one connection for data. The connection for data is chosen from those that are not
    /// stuck, if there are any. It is the connection for which the kernel accepts the most bytes.
    pub(crate) fn wake(&self) {
        let session = self.session.borrow();
        let wires = self.wires.borrow();
        let now = self.now();
        let mut best: Option<((bool, usize), &Rc<Wire>)> = None;
        for (&id, wire) in wires.iter() {
            let Some(room) = wire.room.get() else {
                continue; // the task of the connection is already sending
            };
            let fit = (!session.is_stuck(id), room);
            if session.says(id) || session.is_empty(id) {
                wire.work.notify_one();
            } else if best.is_none_or(|(most, _)| fit > most)
                && (session.acknowledges(now) || session.may_carry(id))
            {
                best = Some((fit, wire));
            }
        }
        if let Some((_, wire)) = best {
            wire.work.notify_one();
        }
    }

    async fn acknowledge(self: Rc<Self>) {
        while !self.dead.get() {
            let due = self.session.borrow().deadline();
            match due {
                None => self.came.notified().await,
                Some(due) => {
                    sleep(due.saturating_sub(self.now()).max(BREATH)).await;
                    self.wake();
                }
            }
        }
    }

    async fn keep_time(self: Rc<Self>) {
        let interval = Duration::from_secs_f64(self.terms.rule.interval_s);
        let (mut stepped, mut busy) = (Duration::ZERO, Duration::ZERO);
        while !self.dead.get() {
            sleep(LOOK).await;
            let now = self.now();
            let all_wait = self.session.borrow().is_held_up().then_some(now);
            for (&id, wire) in self.wires.borrow().iter() {
                if let Ok(info) = kernel::info(&wire.socket) {
                    let mut number = self.number.borrow_mut();
                    number.look(id, info, now);
                    let is_stuck = number.is_stuck(id, all_wait);
                    self.session.borrow_mut().tell_stuck(id, is_stuck);
                }
            }
            if self.session.borrow().streams() > 0 {
                busy = now;
            }
            self.is_idle.set(now - busy >= REST);
            if now - stepped >= interval {
                stepped = now;
                self.step(now);
            }
            self.session.borrow_mut().tick(now);
            self.report(now);
            if self.allowed.is_none() {
                let rested = self.session.borrow().rested(now, KEPT_RESTING);
                for id in rested {
                    self.session.borrow_mut().drain(id);
                }
            }
            let silent = self.session.borrow().silent(now);
            for id in silent {
                self.lose(id);
            }
            if self.session.borrow().is_dead(now) {
                self.abandon();
            }
            self.dispatch();
        }
    }

    /// Reports streams that were refused for lack of memory or because of the maximum number of
    /// streams.
    fn report(&self, now: Duration) {
        let session = self.session.borrow();
        let refused = session.counted().refused;
        let new = refused - self.reported.get();
        if let Some(lack) = session.lack()
            && new > 0
            && now >= self.report_at.get()
        {
            self.reported.set(refused);
            self.report_at.set(now + BETWEEN_REPORTS);
            let streams = if new == 1 { "stream" } else { "streams" };
            let _ = self
                .notes
                .try_send(format!("{new} {streams} refused: {lack}"));
        }
    }

    fn step(&self, now: Duration) {
        let mut number = self.number.borrow_mut();
        if self.is_idle() || self.follows_client() && number.probed_rtt(now).is_some() {
            number.rest();
        } else {
            number.step(now);
        }
        let here = number.held();
        self.wishes.set((here, self.wishes.get().1));
        if self.allowed.is_some() {
            self.session.borrow_mut().wish(here);
        }
        self.changed.notify_one();
    }

    /// Returns whether this relay is a server whose rule depends only on the round-trip time T. While
    /// probes measure T, such a server requests only the minimum number of connections, because the
    /// client has applied the same rule to the same T. The server would request the same number one
    /// interval later, and the pool would therefore reduce its connections later.
    fn follows_client(&self) -> bool {
        self.allowed.is_some() && matches!(self.terms.rule.aim, Asked::Rtt { .. })
    }

    /// Ends the session and resets all streams.
    pub(crate) fn abandon(self: &Rc<Self>) {
        if self.dead.replace(true) {
            return;
        }
        self.session.borrow_mut().abandon();
        for wire in std::mem::take(&mut *self.wires.borrow_mut()).into_values() {
            wire.stop();
        }
        self.dispatch();
        self.came.notify_one();
        self.changed.notify_one();
    }

    /// Returns whether the pool has at least one connection.
    pub(crate) fn is_connected(&self) -> bool {
        !self.wires.borrow().is_empty()
    }
}

/// A stream whose request the server has not answered yet. If the task that waits for the answer
/// ends, it drops this object, which resets the stream.
struct Opening<'a> {
    pool: &'a Rc<Pool>,
    id: StreamId,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        self.pool.opening.borrow_mut().remove(&self.id);
        self.pool.session.borrow_mut().reset(self.id, frame::FAILED);
        self.pool.dispatch();
    }
}
