//! The emulation loop: it reads packets from the nodes, writes packets to the nodes, and sleeps until the next event.

use std::fs::File;
use std::io::{self, IoSlice};
use std::iter::from_fn;
use std::os::fd::{AsFd, OwnedFd};

use lasthop_engine::EngineError;
use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::live::{Place, open};
use lasthop_engine::scenario::Scenario;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, writev};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use serde_json::Value;
use thiserror::Error;

use crate::Network;
use crate::capture::Writer;
use crate::clock::{Clock, Timing};
use crate::lateness::Lateness;
use crate::merging::Batch;
use crate::offload::{MOST, each_packet};
use crate::pace::Pace;
use crate::report::report;

/// Largest number of packets that are read from a node, or delivered, before other nodes are served. With this limit, a
/// host can acknowledge the first packets of an aggregate before the last packets are delivered. [packets]
const AT_ONCE: usize = 32;

/// Longest sleep of the loop.
const LONGEST_SLEEP: Span = Span(50_000_000);

/// Non-blocking file descriptors of an emulation. One write transfers one packet, and one read transfers one packet or
/// several TCP segments. A `virtio_net_hdr` precedes the packet or the segments.
#[derive(Debug)]
pub struct Descriptors {
    /// Descriptors of the nodes, in the order of their numbers: servers, stations, sources and sinks between wired
    /// nodes, hosts of programs, outside.
    nodes: Vec<OwnedFd>,
    /// Descriptor that becomes readable when the run must stop. If a byte can be read from the descriptor after the
    /// warm-up, the run returns a result. In all other cases it returns [`EmulatorError::Stopped`].
    stop: OwnedFd,
    /// File for a capture of the frames on the air, if requested.
    capture: Option<OwnedFd>,
}

/// The reason why an emulation did not finish.
#[derive(Debug, Error)]
pub enum EmulatorError {
    /// The operating system refused a call.
    #[error("{what}: {error}")]
    System {
        /// The attempted operation.
        what: &'static str,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The engine returned an error, such as a violated conservation law.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The caller stopped the emulation.
    #[error("stopped before the end")]
    Stopped,
}

fn system(what: &'static str) -> impl FnOnce(Errno) -> EmulatorError {
    move |error| EmulatorError::System {
        what,
        error: error.into(),
    }
}

impl Descriptors {
    /// Duplicates file descriptors of this process, given by their numbers. `nodes` are the servers, the stations in
    /// order, and the further nodes. `stop` becomes readable when the run must stop. `capture` is the file of a
    /// capture.
    ///
    /// # Errors
    /// If a number is not a descriptor of this process.
    pub fn of_this_process(
        nodes: &[i32],
        stop: i32,
        capture: Option<i32>,
    ) -> Result<Descriptors, EmulatorError> {
        // the kernel checks that each number is a descriptor, and returns a duplicate
        let this: Pid = getpid();
        let handle = pidfd_open(this, PidfdFlags::empty()).map_err(system("pidfd_open"))?;
        let duplicate = |number: &i32| {
            let duplicate = pidfd_getfd(&handle, *number, PidfdGetfdFlags::empty());
            duplicate.map_err(system("descriptor of a node"))
        };
        Ok(Descriptors {
            nodes: nodes.iter().map(duplicate).collect::<Result<_, _>>()?,
            stop: duplicate(&stop)?,
            capture: capture.as_ref().map(duplicate).transpose()?,
        })
    }
}

/// Emulates `scenario` between `descriptors` for the scenario's duration.
///
/// Returns the measurements after the warm-up as lists of items, in the format of a result. Also returns the outcome of
/// a capture. The scenario limits the number of captured frames. With `neighbours`, the network has an outside
/// ([`Network::open_outside`]). With `merges`, segments that are due at a node at the same instant are merged into one
/// packet.
///
/// # Errors
/// If a descriptor fails or the run is stopped.
pub fn run(
    scenario: &Scenario,
    places: &[Place],
    neighbours: Option<&[u32]>,
    mut descriptors: Descriptors,
    merges: bool,
    timing: Timing,
) -> Result<Value, EmulatorError> {
    let opened = open(scenario, places);
    let mut network = Network::new(scenario, &opened, places)?;
    if let Some(neighbours) = neighbours {
        network.open_outside(neighbours);
    }
    let writer = match (scenario.record.frames, descriptors.capture.take()) {
        (Some(limit), Some(file)) => {
            network.record(limit);
            Some(Writer::begin(File::from(file)))
        }
        _ => None,
    };
    let mut clock = Clock::start(timing);
    // in simulated time, one packet is read per poll: a read that finds no data takes as much time as
    // a poll of all nodes
    let reads = match timing {
        Timing::Real => AT_ONCE,
        Timing::Simulated => 1,
    };
    let end = Time::ZERO + scenario.duration;
    let warmup = Time::ZERO + scenario.warmup;
    let mut is_warm = false;
    let mut lateness = Lateness::default();
    let mut pace = Pace::from(Time::ZERO, 0);
    let mut buffer = vec![0_u8; MOST];
    let mut batch = Batch::new(merges);
    let every = descriptors.nodes.iter().chain([&descriptors.stop]);
    let mut watched: Vec<PollFd<'_>> = every
        .map(|descriptor| PollFd::from_borrowed_fd(descriptor.as_fd(), PollFlags::IN))
        .collect();
    loop {
        let now = clock.woke.min(end);
        if !is_warm && now >= warmup {
            network.run_until(warmup)?;
            network.begin_to_measure();
            lateness = Lateness::default();
            pace = Pace::from(now, network.carried());
            is_warm = true;
        }
        network.run_until(now)?;
        let at_once = if now < end { AT_ONCE } else { usize::MAX };
        let mut hand_over = |batch: &mut Batch| {
            if batch.is_empty() {
                return Ok(());
            }
            let at = clock.now();
            batch.due().for_each(|due| lateness.add(due, at));
            batch.hand_over(|node, pieces| give(&descriptors.nodes[node as usize], pieces))
        };
        for delivery in from_fn(|| network.next_delivery(now)).take(at_once) {
            if let Some(next) = batch.join(delivery) {
                hand_over(&mut batch)?;
                batch.join(next);
            }
        }
        hand_over(&mut batch)?;
        if let (Some(writer), Some(pending)) = (&writer, network.captured()) {
            writer.take(pending);
        }
        if now >= end {
            break;
        }
        let before = clock.now();
        let until = network.due().min(end).min(before + LONGEST_SLEEP);
        let has_arrivals = wait(&mut watched, until.since(before))?;
        clock.wake((!has_arrivals).then_some(until.max(before)));
        pace.slept(clock.woke.since(before));
        if watched
            .last()
            .is_some_and(|stop| !stop.revents().is_empty())
        {
            match receive(&descriptors.stop, &mut buffer)? {
                Some(_) if is_warm => break,
                Some(_) | None => return Err(EmulatorError::Stopped),
            }
        }
        for ((node, descriptor), watched) in (0..).zip(&descriptors.nodes).zip(&watched) {
            if watched.revents().is_empty() {
                continue;
            }
            let mut count = 0;
            while count < reads
                && let Some(length) = receive(descriptor, &mut buffer)?
            {
                if count > 0 {
                    clock.woke = clock.now();
                }
                network.run_until(clock.woke.min(if is_warm { end } else { warmup }))?;
                let packets =
                    each_packet(&mut buffer[..length], |packet| network.send(node, packet));
                count += packets.max(1);
            }
        }
    }
    let mut measured = report(&network, &lateness, &pace, clock.now())?;
    let (frames, full) = (network.frames(), network.frames_full());
    if let (Some(writer), Some(pending)) = (writer, network.captured()) {
        measured["capture"] = writer.finish(pending, frames, full);
    }
    Ok(measured)
}

/// Sleeps for `time`. Returns true earlier if a node sent a packet or the run must stop.
fn wait(watched: &mut [PollFd<'_>], time: Span) -> Result<bool, EmulatorError> {
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: time.0 as i64,
    };
    match poll(watched, Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(true),
        Err(error) => Err(system("poll")(error)),
    }
}

/// Reads from a node. Returns the number of bytes, or `None` if there is no data.
fn receive(descriptor: &OwnedFd, buffer: &mut [u8]) -> Result<Option<usize>, EmulatorError> {
    match read(descriptor, buffer) {
        Ok(0) | Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Ok(length) => Ok(Some(length)),
        Err(error) => Err(system("reading from a node")(error)),
    }
}

/// Writes a packet, given in parts, to a node. The packet is lost if the node's queue is full, as on a real interface.
fn give(descriptor: &OwnedFd, pieces: &[IoSlice<'_>]) -> Result<(), EmulatorError> {
    match writev(descriptor, pieces) {
        Ok(_) | Err(Errno::AGAIN | Errno::NOBUFS | Errno::INVAL) => Ok(()),
        Err(error) => Err(system("writing to a node")(error)),
    }
}
