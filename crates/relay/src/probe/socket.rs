//! UDP sockets for probes. A server with several addresses answers from the destination address of
//! the request.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use nix::cmsg_space;
use nix::libc;
use nix::sys::socket::sockopt::{Ipv4PacketInfo, Ipv6RecvPacketInfo, RcvBuf};
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt,
};
use tokio::io::Interest;
use tokio::net::UdpSocket;

use super::RECEIVE_BUFFER;
use super::packet::{Datagram, LENGTH};

/// Opens the socket at which a server receives probes.
pub(crate) fn listen(at: SocketAddr) -> io::Result<std::net::UdpSocket> {
    let socket = std::net::UdpSocket::bind(at)?;
    socket.set_nonblocking(true)?;
    setsockopt(&socket, RcvBuf, &RECEIVE_BUFFER)?;
    match at.is_ipv4() {
        true => setsockopt(&socket, Ipv4PacketInfo, &true)?,
        false => setsockopt(&socket, Ipv6RecvPacketInfo, &true)?,
    }
    Ok(socket)
}

/// Opens the socket from which a client sends probes to its server.
pub(crate) fn open(from: Option<IpAddr>, to: SocketAddr) -> io::Result<UdpSocket> {
    let any: IpAddr = match to.is_ipv4() {
        true => std::net::Ipv4Addr::UNSPECIFIED.into(),
        false => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = std::net::UdpSocket::bind((from.unwrap_or(any), 0))?;
    socket.connect(to)?;
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket)
}

/// Destination address of a received datagram.
enum Destination {
    V4(libc::in_pktinfo),
    V6(libc::in6_pktinfo),
    Unknown,
}

/// A received datagram, with its source and destination addresses.
pub(crate) struct Received {
    bytes: [u8; LENGTH + 1],
    length: usize,
    from: SockaddrStorage,
    destination: Destination,
}

impl Received {
    /// Returns the received bytes. Of a datagram that is longer than a probe, only one byte more
    /// than the length of a probe is returned.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns the IP address of the sender, if its address is an IP address.
    pub(crate) fn from(&self) -> Option<IpAddr> {
        let v4 = self.from.as_sockaddr_in().map(|from| from.ip().into());
        v4.or_else(|| self.from.as_sockaddr_in6().map(|from| from.ip().into()))
    }
}

/// Receives a datagram if one has arrived.
pub(crate) fn receive(socket: &UdpSocket) -> io::Result<Received> {
    socket.try_io(Interest::READABLE, || {
        let mut bytes = [0; LENGTH + 1];
        let mut control = cmsg_space!(libc::in_pktinfo, libc::in6_pktinfo);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let message = recvmsg::<SockaddrStorage>(
            socket.as_raw_fd(),
            &mut parts,
            Some(&mut control),
            MsgFlags::MSG_DONTWAIT,
        )?;
        let (length, from) = (message.bytes, message.address);
        let mut destination = Destination::Unknown;
        for control in message.cmsgs()? {
            match control {
                ControlMessageOwned::Ipv4PacketInfo(info) => destination = Destination::V4(info),
                ControlMessageOwned::Ipv6PacketInfo(info) => destination = Destination::V6(info),
                _ => {}
            }
        }
        let from = from.ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Received {
            bytes,
            length,
            from,
            destination,
        })
    })
}

/// Sends an answer from the destination address of the received datagram. The answer is lost if the
/// send buffer is full.
pub(crate) fn answer(socket: &UdpSocket, received: &Received, answer: &Datagram) -> io::Result<()> {
    let (mut v4, mut v6);
    let control = match received.destination {
        Destination::V4(info) => {
            v4 = info;
            v4.ipi_ifindex = 0; // the answer may leave through another interface
            Some(ControlMessage::Ipv4PacketInfo(&v4))
        }
        Destination::V6(info) => {
            v6 = info;
            // the interface is kept for a link-local address, which is valid only there; any other
            // answer may leave through another interface
            if v6.ipi6_addr.s6_addr[0] != 0xfe {
                v6.ipi6_ifindex = 0;
            }
            Some(ControlMessage::Ipv6PacketInfo(&v6))
        }
        Destination::Unknown => None,
    };
    sendmsg(
        socket.as_raw_fd(),
        &[IoSlice::new(answer)],
        control.as_slice(),
        MsgFlags::MSG_DONTWAIT,
        Some(&received.from),
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::getsockopt;

    #[test]
    fn a_server_buffers_about_a_batch_of_datagrams() {
        let socket = listen((std::net::Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        // Linux doubles the requested size
        assert_eq!(getsockopt(&socket, RcvBuf).unwrap(), 2 * RECEIVE_BUFFER);
    }
}
