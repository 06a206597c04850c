//! What Linux lets a TCP socket choose, and tells of it.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::getsockopt_impl;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::{GetStruct, IpBindAddressNoPort};
use nix::sys::socket::{getsockopt, setsockopt};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::Interest;
use tokio::net::{TcpSocket, TcpStream};

/// The first fields of `struct tcp_info` (linux/tcp.h), as Linux 5.5 and later have them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Raw {
    bytes: [u8; 8],
    words: [u32; 24],
    pacing_and_acknowledged: [u64; 4],
    segments: [u32; 6],
    limited: [u64; 4],
    delivered: u32,
    delivered_ce: u32,
}

#[derive(Clone, Copy, Debug)]
struct TcpInfo;
getsockopt_impl!(
    TcpInfo,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    Raw,
    GetStruct<Raw>
);

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Info {
    /// Smoothed round-trip time.
    pub(crate) rtt: Duration,
    /// [bytes]
    pub(crate) mss: u32,
    /// [packets]
    pub(crate) cwnd: u32,
    /// Packets under way.
    pub(crate) in_flight: u32,
    /// What the kernel has taken and not sent. [bytes]
    pub(crate) unsent: u32,
    /// Packets sent again since the beginning.
    pub(crate) retransmissions: u32,
    /// Whether anything is unsent or unacknowledged.
    pub(crate) waits: bool,
    /// Packets that have arrived, and those of them that were marked.
    pub(crate) delivered: u32,
    pub(crate) marked: u32,
}

/// What the kernel says of a connection.
pub(crate) fn info(socket: &TcpStream) -> io::Result<Info> {
    let raw = getsockopt(socket, TcpInfo)?;
    let word = |number: usize| raw.words[number];
    let (unacked, sacked, lost, again) = (word(4), word(5), word(6), word(7));
    Ok(Info {
        rtt: Duration::from_micros(u64::from(word(15))),
        mss: word(2),
        cwnd: word(18),
        in_flight: (unacked + again).saturating_sub(sacked + lost),
        unsent: raw.segments[2],
        retransmissions: word(23),
        waits: unacked > 0 || raw.segments[2] > 0,
        delivered: raw.delivered,
        marked: raw.delivered_ce,
    })
}

/// Most that the kernel is given ahead of what it may send. [segments], [bytes]
const AHEAD: (u32, u32) = (8, 131_072);

/// What the kernel holds unsent at most of a connection: no more than its window, as what waits behind a small
/// one comes much later than what others carry. [bytes]
fn ahead_bytes(info: &Info) -> u32 {
    (AHEAD.0.min(info.cwnd.max(1)) * info.mss).min(AHEAD.1)
}

/// Questions of the kernel that stay unanswered before an idle connection ends.
const PROBES: u32 = 3;
/// Longest time between two of them that Linux takes.
const MOST_BETWEEN: Duration = Duration::from_secs(32_767);

/// Settings of a connection between relays, once it is connected. One whose other end has vanished without a word ends
/// some time after `timeout`, also where no stream makes the relays ask each other.
pub(crate) fn prepare(socket: &TcpStream, timeout: Duration) -> io::Result<()> {
    let between = timeout.min(MOST_BETWEEN);
    let asks = TcpKeepalive::new()
        .with_time(between)
        .with_interval((between / PROBES).max(Duration::from_secs(1)))
        .with_retries(PROBES);
    SockRef::from(socket).set_tcp_keepalive(&asks)?;
    SockRef::from(socket).set_tcp_user_timeout(Some(2 * timeout))?;
    socket.set_nodelay(true)
}

/// Waits until the kernel holds little unsent of a connection: what it can take then. [bytes]
///
/// tokio remembers that a socket was writable until a write has failed. Here none fails, since no
/// more is written than there is room for: the kernel is asked, and asked to tell.
///
/// # Errors
///
/// If the connection was reset.
pub(crate) async fn room(socket: &TcpStream) -> io::Result<usize> {
    loop {
        socket.writable().await?;
        let info = info(socket)?;
        let ahead = ahead_bytes(&info);
        if 2 * info.unsent < ahead {
            return Ok(room_of(&info, ahead));
        }
        SockRef::from(socket).set_tcp_notsent_lowat(ahead)?;
        let mut asked = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
        poll(&mut asked, PollTimeout::ZERO)?;
        let events = asked[0].revents().unwrap_or(PollFlags::empty());
        if events.intersects(PollFlags::POLLERR | PollFlags::POLLHUP) {
            // a reset leaves the count of unsent bytes as it was: there will never be room
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        if events.is_empty() {
            let later = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
            let _ = socket.try_io(Interest::WRITABLE, later);
        }
    }
}

/// What fits into a window and what may wait behind it, in whole segments where there are several.
fn room_of(info: &Info, ahead: u32) -> usize {
    let bytes = |count: u32| count as usize;
    let mss = bytes(info.mss);
    let window = bytes(info.cwnd.saturating_sub(info.in_flight)) * mss;
    let room = window + bytes(ahead - info.unsent);
    if room > mss { room - room % mss } else { room }
}

/// Lets a socket take connections to addresses of others, which TPROXY hands it.
pub(crate) fn be_transparent(socket: &socket2::Socket, is_ipv4: bool) -> io::Result<()> {
    match is_ipv4 {
        true => socket.set_ip_transparent_v4(true),
        false => socket.set_ip_transparent_v6(true),
    }
}

/// Has Linux acknowledge what comes as it would if nothing had been answered.
///
/// It delays ACKs where an answer follows what comes, as in a dialogue. Here such answers are few and no part of it, and
/// a sender that hears of every second segment alone sends two at once, of which a full queue drops more.
pub(crate) fn be_no_dialogue(socket: &TcpStream) -> io::Result<()> {
    SockRef::from(socket).set_tcp_quickack(true)
}

/// Lets many connections come from one address: a port is chosen when both ends are known.
pub(crate) fn choose_port_late(socket: &TcpSocket) -> io::Result<()> {
    Ok(setsockopt(socket, IpBindAddressNoPort, &true)?)
}

/// Chooses the congestion control of a connection.
pub(crate) fn choose(socket: SockRef, congestion: &str) -> io::Result<()> {
    socket.set_tcp_congestion(congestion.as_bytes())
}

/// Has a socket tell its other end that it broke, instead of that it ended, when it is closed.
pub(crate) fn break_off(socket: &TcpStream) {
    let _ = SockRef::from(socket).set_linger(Some(Duration::ZERO));
}

/// Has a socket that is closed send what it has, and end.
pub(crate) fn end_well(socket: &TcpStream) {
    let _ = SockRef::from(socket).set_linger(None);
}

/// Tells the other end of a socket that nothing more comes.
pub(crate) fn end(socket: &TcpStream) -> io::Result<()> {
    SockRef::from(socket).shutdown(std::net::Shutdown::Write)
}

/// How many bytes a program's socket may hold unsent.
const PROGRAM_AHEAD: u32 = 65_536;
/// What a program of this machine may have sent that is not read. Loopback hands over up to 64 KiB at once, which the
/// kernel counts in full until its last byte is read: into the buffer that it begins with, 128 KiB, the next
/// would not go, and it would be dropped and sent again after a timeout. [bytes]
const LOOPBACK_BUFFER: usize = 262_144;

/// Settings of a program's or a target's socket. Should this process die, its other end is told of a break.
pub(crate) fn prepare_plug(socket: &TcpStream) -> io::Result<()> {
    break_off(socket);
    socket.set_nodelay(true)?;
    if socket.peer_addr()?.ip().to_canonical().is_loopback() {
        SockRef::from(socket).set_recv_buffer_size(LOOPBACK_BUFFER)?;
    }
    SockRef::from(socket).set_tcp_notsent_lowat(PROGRAM_AHEAD)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::sync::mpsc;

    use super::*;

    /// The runtime has one thread: a loop without an end would also stop the timeout, hence the thread of its own.
    #[test]
    fn waiting_for_room_ends_when_the_connection_is_reset() {
        let (tell, reply) = mpsc::channel();
        std::thread::spawn(move || {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let mut full = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut peer, _) = listener.accept().unwrap();
            full.set_nonblocking(true).unwrap();
            while full.write(&[0; 65_536]).is_ok() {} // until the peer's window is closed
            peer.read_exact(&mut [0]).unwrap();
            drop(peer); // with unread data: a reset, which does not clear the count of unsent bytes
            let mut builder = tokio::runtime::Builder::new_current_thread();
            let runtime = builder.enable_all().build().unwrap();
            let waited = runtime.block_on(async {
                let full = TcpStream::from_std(full).unwrap();
                tokio::time::timeout(Duration::from_secs(5), room(&full)).await
            });
            let _ = tell.send(waited.map(|room| room.is_err()));
        });
        let waited = reply.recv_timeout(Duration::from_secs(10));
        assert_eq!(waited, Ok(Ok(true)), "it neither hangs nor waits");
    }
}
