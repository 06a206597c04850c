//! Linux socket options and kernel statistics of TCP connections.

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

/// First fields of `struct tcp_info` (linux/tcp.h) as in Linux 5.5 and later.
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

/// Kernel statistics of a TCP connection.
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
    /// Data that the kernel has accepted from the relay but not sent. [bytes]
    pub(crate) unsent: u32,
    /// Number of retransmitted packets since the start of the connection.
    pub(crate) retransmissions: u32,
    /// Whether the kernel has unsent or unacknowledged data.
    pub(crate) waits: bool,
    /// Number of delivered packets, and number of delivered packets with an ECN mark.
    pub(crate) delivered: u32,
    pub(crate) marked: u32,
}

/// Returns the kernel statistics of a connection.
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

/// Maximum amount of data that the relay gives to the kernel in addition to the congestion window. The smaller of the
/// two limits applies. [segments], [bytes]
const AHEAD: (u32, u32) = (8, 131_072);

/// Returns the maximum amount of unsent data that the kernel may hold for a connection. The amount
/// is at most one congestion window, because data that wait for a small window arrive much later
/// than data on other connections. [bytes]
fn ahead_bytes(info: &Info) -> u32 {
    (AHEAD.0.min(info.cwnd.max(1)) * info.mss).min(AHEAD.1)
}

/// Number of keepalive probes without a reply after which an idle connection is closed.
const PROBES: u32 = 3;
/// Longest interval between two keepalive probes that Linux accepts.
const MAX_BETWEEN: Duration = Duration::from_secs(32_767);

/// Sets the socket options of an established connection between relays. If the other relay vanishes
/// without a reset, the kernel closes the connection after about twice `timeout`. Without streams
/// the relays send no pings, and only the kernel detects this case.
pub(crate) fn prepare(socket: &TcpStream, timeout: Duration) -> io::Result<()> {
    let between = timeout.min(MAX_BETWEEN);
    let asks = TcpKeepalive::new()
        .with_time(between)
        .with_interval((between / PROBES).max(Duration::from_secs(1)))
        .with_retries(PROBES);
    SockRef::from(socket).set_tcp_keepalive(&asks)?;
    SockRef::from(socket).set_tcp_user_timeout(Some(2 * timeout))?;
    socket.set_nodelay(true)
}

/// Waits until the kernel has little unsent data of a connection. Returns the number of bytes that
/// the relay may then write. [bytes]
///
/// tokio considers a socket writable until a write fails. The relay never writes more than the
/// kernel accepts, so that no write fails. Therefore this function reads the kernel's statistics
/// and waits for a notification of the kernel.
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
            // without this return, the function would wait indefinitely, because a reset does not
            // change the number of unsent bytes
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        if events.is_empty() {
            let later = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
            let _ = socket.try_io(Interest::WRITABLE, later);
        }
    }
}

/// Returns the number of bytes that the relay may write: the free part of the congestion window,
/// plus `ahead`, minus the unsent data. A number above one segment is rounded down to whole
/// segments.
fn room_of(info: &Info, ahead: u32) -> usize {
    let bytes = |count: u32| count as usize;
    let mss = bytes(info.mss);
    let window = bytes(info.cwnd.saturating_sub(info.in_flight)) * mss;
    let room = window + bytes(ahead - info.unsent);
    if room > mss { room - room % mss } else { room }
}

/// Sets the socket option with which TPROXY can redirect connections to foreign addresses to the
/// socket.
pub(crate) fn be_transparent(socket: &socket2::Socket, is_ipv4: bool) -> io::Result<()> {
    match is_ipv4 {
        true => socket.set_ip_transparent_v4(true),
        false => socket.set_ip_transparent_v6(true),
    }
}

/// Turns off the interactive mode of the kernel's delayed ACKs.
///
/// Linux delays ACKs on connections that look interactive, with data in both directions. Between
/// relays, data in the opposite direction are rare and not interactive. With delayed ACKs, a sender
/// gets one ACK per two segments and then sends two segments back to back, so that a full queue
/// drops more segments.
pub(crate) fn be_no_dialogue(socket: &TcpStream) -> io::Result<()> {
    SockRef::from(socket).set_tcp_quickack(true)
}

/// Sets the socket option with which Linux chooses the local port only when the destination is
/// known. This allows more connections from one address.
pub(crate) fn choose_port_late(socket: &TcpSocket) -> io::Result<()> {
    Ok(setsockopt(socket, IpBindAddressNoPort, &true)?)
}

/// Sets the congestion control of a connection.
pub(crate) fn choose(socket: SockRef, congestion: &str) -> io::Result<()> {
    socket.set_tcp_congestion(congestion.as_bytes())
}

/// Makes the kernel send a reset when the socket is closed.
pub(crate) fn break_off(socket: &TcpStream) {
    let _ = SockRef::from(socket).set_linger(Some(Duration::ZERO));
}

/// Makes the kernel send the remaining data when the socket is closed, and then close the
/// connection normally.
pub(crate) fn end_well(socket: &TcpStream) {
    let _ = SockRef::from(socket).set_linger(None);
}

/// Closes the sending direction of a socket (FIN).
pub(crate) fn end(socket: &TcpStream) -> io::Result<()> {
    SockRef::from(socket).shutdown(std::net::Shutdown::Write)
}

/// Maximum amount of unsent data in the socket of a program or target. [bytes]
const PROGRAM_AHEAD: u32 = 65_536;
/// Size of the receive buffer for a program on the same machine. Loopback delivers up to 64 KiB in
/// one packet, which occupies the buffer until its last byte is read. A second such packet would
/// not fit into the default buffer of 128 KiB. The kernel would drop the packet, and the sender
/// would retransmit it after a timeout. [bytes]
const LOOPBACK_BUFFER: usize = 262_144;

/// Sets the socket options of a connection with a program or target. If this process dies, the
/// program or target receives a reset.
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

    /// The runtime has only one thread. An endless loop would block this thread, and with it the time-out.
    /// Therefore the test uses a separate thread.
    #[test]
    fn waiting_for_room_ends_when_the_connection_is_reset() {
        let (tell, reply) = mpsc::channel();
        std::thread::spawn(move || {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let mut full = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut peer, _) = listener.accept().unwrap();
            full.set_nonblocking(true).unwrap();
            // writes until the receive window of the peer is full
            while full.write(&[0; 65_536]).is_ok() {}
            peer.read_exact(&mut [0]).unwrap();
            // the peer has unread data and therefore sends a reset, which does not change the
            // number of unsent bytes
            drop(peer);
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
