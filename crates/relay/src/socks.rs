//! The part of SOCKS 5 (RFC 1928) that is needed to connect without authentication. Existing
//! libraries are not used, because they make the connections themselves or have an unsuitable
//! licence.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::frame;

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const NO_METHOD: u8 = 255;
const CONNECT: u8 = 1;
const COMMAND_UNKNOWN: u8 = 7;
const ADDRESS_UNKNOWN: u8 = 8;

/// Reads the SOCKS request of a program and returns its target. Returns `None` after refusing a
/// request of another type.
pub(crate) async fn asked(socket: &mut TcpStream) -> io::Result<Option<(String, u16)>> {
    let [version, count] = array(socket).await?;
    if version != VERSION {
        return Ok(None); // a program that does not speak SOCKS 5 would not understand a reply
    }
    let mut methods = vec![0; usize::from(count)];
    socket.read_exact(&mut methods).await?;
    if !methods.contains(&NO_AUTHENTICATION) {
        socket.write_all(&[VERSION, NO_METHOD]).await?;
        return Ok(None);
    }
    socket.write_all(&[VERSION, NO_AUTHENTICATION]).await?;
    let [version, command, _, kind] = array(socket).await?;
    if version != VERSION {
        return Ok(None);
    }
    let host = match kind {
        1 => Ipv4Addr::from(array::<4>(socket).await?).to_string(),
        4 => Ipv6Addr::from(array::<16>(socket).await?).to_string(),
        3 => {
            let [length] = array(socket).await?;
            let mut name = vec![0; usize::from(length)];
            socket.read_exact(&mut name).await?;
            String::from_utf8(name).unwrap_or_default()
        }
        _ => String::new(),
    };
    if host.is_empty() {
        reply(socket, ADDRESS_UNKNOWN).await?;
        return Ok(None);
    }
    let port = socket.read_u16().await?;
    if command != CONNECT {
        reply(socket, COMMAND_UNKNOWN).await?;
        return Ok(None);
    }
    Ok(Some((host, port)))
}

/// Sends the SOCKS reply to a program: success, or the code of the failure.
pub(crate) async fn reply(socket: &mut TcpStream, code: u8) -> io::Result<()> {
    let code = if code > ADDRESS_UNKNOWN {
        frame::FAILED
    } else {
        code
    };
    // the reply contains the address 0.0.0.0 and the port 0, in place of the address and port that
    // the target sees
    let head = [VERSION, code, 0, 1];
    socket.write_all(&[head.as_slice(), &[0; 6]].concat()).await
}

async fn array<const N: usize>(socket: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    socket.read_exact(&mut bytes).await?;
    Ok(bytes)
}
