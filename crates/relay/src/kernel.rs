//! Linux socket options and statistics of a TCP connection.

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

/// The first fields of `struct tcp_info` (linux/tcp.h), in the layout of Linux 5.5 and later.
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

/// State of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Info {
    /// Smoothed round-trip time.
    pub(crate) rtt: Duration,
    /// Maximum segment size. [bytes]
    pub(crate) mss: u32,
    /// Congestion window. [packets]
    pub(crate) cwnd: u32,
    /// Number of packets in flight.
    pub(crate) in_flight: u32,
    /// Data that the kernel has accepted and not yet sent. [bytes]
    pub(crate) unsent: u32,
    /// Number of packets retransmitted since the connection began.
    pub(crate) retransmissions: u32,
    /// Whether any data are unsent or unacknowledged.
    pub(crate) waits: bool,
    /// Number of delivered packets, and how many of these packets were marked.
    pub(crate) delivered: u32,
    pub(crate) marked: u32,
}

/// Returns the state of a connection.
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

/// Maximum amount of data that the kernel is given beyond its window. [segments], [bytes]
const AHEAD: (u32, u32) = (8, 131_072);

/// Returns the maximum amount of unsent data that the kernel may hold for a connection. It is never
/// more than the window, because data behind a small window arrive much later than data on other
/// connections. [bytes]
fn ahead_bytes(info: &Info) -> u32 {
    (AHEAD.0.min(info.cwnd.max(1)) * info.mss).min(AHEAD.1)
}

/// Number of unanswered keepalive probes after which an idle connection ends.
const PROBES: u32 = 3;
/// Longest interval between two keepalive probes that Linux accepts.
const MOST_BETWEEN: Duration = Duration::from_secs(32_767);

/// Sets the options of a connection between relays after it is established. If the other end
/// vanishes silently, the connection ends some time after `timeout`, even without a stream that
/// makes the relays ping each other.
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

/// Waits until the kernel holds little unsent data of a connection. Returns how much data the
/// kernel accepts then. [bytes]
///
/// tokio considers a socket writable until a write fails. Here no write fails, since the relay
/// never writes more than fits. Therefore this function asks the kernel for its state, and for a
/// notification.
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
            // a reset does not change the count of unsent bytes, so there would never be room
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        if events.is_empty() {
            let later = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
            let _ = socket.try_io(Interest::WRITABLE, later);
        }
    }
}

/// Returns the room for data: the window plus the data that may wait behind it, in whole segments
/// if more than one fits.
fn room_of(info: &Info, ahead: u32) -> usize {
    let bytes = |count: u32| count as usize;
    let mss = bytes(info.mss);
    let window = bytes(info.cwnd.saturating_sub(info.in_flight)) * mss;
    let room = window + bytes(ahead - info.unsent);
    if room > mss { room - room % mss } else { room }
}

/// Lets a socket accept connections to foreign addresses, which TPROXY redirects to it.
pub(crate) fn be_transparent(socket: &socket2::Socket, is_ipv4: bool) -> io::Result<()> {
    match is_ipv4 {
        true => socket.set_ip_transparent_v4(true),
        false => socket.set_ip_transparent_v6(true),
    }
}

/// Makes Linux acknowledge received data as if no data were sent in reply.
///
/// Linux delays ACKs on connections with interactive replies. Here replies are few and not
/// interactive. A sender that gets an ACK only for every second segment sends two segments
/// together, and a full queue drops more of them.
pub(crate) fn be_no_dialogue(socket: &TcpStream) -> io::Result<()> {
    SockRef::from(socket).set_tcp_quickack(true)
}

/// Lets one address have many connections: Linux chooses the local port when both ends are known.
pub(crate) fn choose_port_late(socket: &TcpSocket) -> io::Result<()> {
    Ok(setsockopt(socket, IpBindAddressNoPort, &true)?)
}

/// Sets the congestion control of a connection.
pub(crate) fn choose(socket: SockRef, congestion: &str) -> io::Result<()> {
    socket.set_tcp_congestion(congestion.as_bytes())
}

/// Makes a socket send a reset to its other end when it is closed.
pub(crate) fn break_off(socket: &TcpStream) {
    let _ = SockRef::from(socket).set_linger(Some(Duration::ZERO));
}

/// Makes a socket send its remaining data when it is closed, and then end normally.
pub(crate) fn end_well(socket: &TcpStream) {
    let _ = SockRef::from(socket).set_linger(None);
}

/// Tells the other end of a socket that no more data will come.
pub(crate) fn end(socket: &TcpStream) -> io::Result<()> {
    SockRef::from(socket).shutdown(std::net::Shutdown::Write)
}

/// Maximum amount of unsent data in a program's socket. [bytes]
const PROGRAM_AHEAD: u32 = 65_536;
/// Receive buffer for data of a program on this machine. Loopback delivers up to 64 KiB in one
/// packet, which the kernel counts in full until its last byte is read. A second such packet would
/// not fit into the default buffer of 128 KiB. The kernel would drop it, and the sender would
/// repeat it after a timeout. [bytes]
const LOOPBACK_BUFFER: usize = 262_144;

/// Sets the options of a program's or a target's socket. If this process dies, the other end gets a
/// reset.
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

    /// The runtime has one thread, so an endless loop would also block the timeout. Therefore the
    /// test runs in a separate thread.
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
