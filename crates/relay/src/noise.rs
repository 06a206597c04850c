//! Authentication and encryption: the Noise protocol (revision 34) with a pre-shared key.

use std::fmt;
use std::io;
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use snow::params::HashChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::Hash;
use snow::{Builder, HandshakeState, StatelessTransportState};
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
/// Number of bytes that encryption adds to a message, including the length field. [bytes]
pub(crate) const OVERHEAD: usize = LENGTH + TAG;
const LENGTH: usize = 2;
const TAG: usize = 16;
/// Length of a handshake message without its payload and tag. [bytes]
const EPHEMERAL: usize = 32;
/// Longest payload of a handshake message. [bytes]
pub(crate) const MAX_PAYLOAD: usize = 4096;
/// Message with which a client confirms that it could decrypt the server's reply.
const CONFIRMATION: &[u8] = b"understood";

/// Secret key that both relays share.
#[derive(Clone, PartialEq)]
pub struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str("Key(..)")
    }
}

impl Key {
    /// Parses a key from a base-64 text of 44 characters.
    pub fn read(text: &str) -> Option<Key> {
        let bytes = STANDARD.decode(text.trim()).ok()?;
        Some(Key(bytes.try_into().ok()?))
    }
}

/// HMAC-BLAKE2s (RFC 2104) with a fixed key, as the Noise protocol uses it.
pub(crate) struct Mac {
    hash: Box<dyn Hash>,
    key: [u8; 32],
}

impl Mac {
    /// Returns an HMAC that uses `key`.
    pub(crate) fn new(key: [u8; 32]) -> Result<Mac, NoiseError> {
        let hash = DefaultResolver.resolve_hash(&HashChoice::Blake2s);
        let hash = hash.ok_or(NoiseError::Cipher(snow::Error::Input))?;
        Ok(Mac { hash, key })
    }

    /// Returns an HMAC that uses the pre-shared key. Other keys are derived with this HMAC.
    pub(crate) fn of(key: &Key) -> Result<Mac, NoiseError> {
        Mac::new(key.0)
    }

    /// Returns the authentication tag of `bytes`.
    pub(crate) fn tag(&mut self, bytes: &[u8]) -> [u8; 32] {
        let mut tag = [0; 32];
        self.hash.hmac(&self.key, bytes, &mut tag);
        tag
    }
}

/// Returns a new random pre-shared key as text.
pub fn new_key() -> Result<String, NoiseError> {
    // the private key of a new key pair consists of 32 random bytes
    let pair = Builder::new(PATTERN.parse()?).generate_keypair()?;
    Ok(STANDARD.encode(pair.private))
}

/// Reason why a connection could not be established, or has ended.
#[derive(Debug, Error)]
pub enum NoiseError {
    /// The connection was closed or reset.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The peer has another key, or is not a relay.
    #[error("the other end has another key, or is no relay")]
    Stranger,
    /// The cipher rejected a message.
    #[error("cipher: {0}")]
    Cipher(snow::Error),
    /// The connection or the handshake was not completed within the time limit.
    #[error("no answer")]
    TimedOut,
}

impl From<snow::Error> for NoiseError {
    fn from(error: snow::Error) -> NoiseError {
        match error {
            snow::Error::Decrypt | snow::Error::Dh => NoiseError::Stranger,
            other => NoiseError::Cipher(other),
        }
    }
}

fn builder(key: &Key) -> Result<Builder<'_>, NoiseError> {
    Ok(Builder::new(PATTERN.parse()?).psk(0, &key.0)?)
}

/// Returns the state of a new handshake at the client.
pub(crate) fn initiator(key: &Key) -> Result<HandshakeState, NoiseError> {
    Ok(builder(key)?.build_initiator()?)
}

/// Returns the state of a new handshake at the server.
pub(crate) fn responder(key: &Key) -> Result<HandshakeState, NoiseError> {
    Ok(builder(key)?.build_responder()?)
}

/// Returns a handshake message with `payload`, preceded by its length.
pub(crate) fn encrypt(state: &mut HandshakeState, payload: &[u8]) -> Result<Vec<u8>, NoiseError> {
    let mut message = vec![0; LENGTH + EPHEMERAL + TAG + payload.len()];
    let length = state.write_message(payload, &mut message[LENGTH..])?;
    message[..LENGTH].copy_from_slice(&(length as u16).to_be_bytes());
    message.truncate(LENGTH + length);
    Ok(message)
}

/// Decrypts a handshake message and returns its payload.
pub(crate) fn decrypt(state: &mut HandshakeState, message: &[u8]) -> Result<Vec<u8>, NoiseError> {
    let mut payload = vec![0; message.len()];
    let length = state.read_message(message, &mut payload)?;
    payload.truncate(length);
    Ok(payload)
}

/// Performs a handshake as the client. Returns the reply of the server and the ciphers of both
/// directions.
pub(crate) async fn handshake(
    socket: &mut TcpStream,
    key: &Key,
    payload: &[u8],
) -> Result<(Vec<u8>, Directions), NoiseError> {
    let mut state = initiator(key)?;
    socket.write_all(&encrypt(&mut state, payload)?).await?;
    let answer = decrypt(&mut state, &next(socket).await?)?;
    let mut directions = Directions::of(state)?;
    let mut confirmation = Vec::new();
    directions.out.seal(CONFIRMATION, &mut confirmation)?;
    socket.write_all(&confirmation).await?;
    Ok((answer, directions))
}

/// Reads the first message of a client. The server sends nothing before it has verified the
/// client's key.
pub(crate) async fn read_first(
    socket: &mut TcpStream,
    key: &Key,
) -> Result<(Vec<u8>, HandshakeState), NoiseError> {
    let mut state = responder(key)?;
    let asked = decrypt(&mut state, &next(socket).await?)?;
    Ok((asked, state))
}

/// Replies to a client and waits for the confirmation. A client that only replays recorded messages
/// cannot send the confirmation.
pub(crate) async fn answer(
    socket: &mut TcpStream,
    mut state: HandshakeState,
    payload: &[u8],
) -> Result<Directions, NoiseError> {
    socket.write_all(&encrypt(&mut state, payload)?).await?;
    let mut directions = Directions::of(state)?;
    let mut confirmation = [0; LENGTH + CONFIRMATION.len() + TAG];
    socket.read_exact(&mut confirmation).await?;
    let mut message = Vec::new();
    directions.come.open(&confirmation, &mut message)?;
    if message != CONFIRMATION {
        return Err(NoiseError::Stranger);
    }
    Ok(directions)
}

async fn next(socket: &mut TcpStream) -> Result<Vec<u8>, NoiseError> {
    let length = usize::from(socket.read_u16().await?);
    if !(EPHEMERAL + TAG..=EPHEMERAL + TAG + MAX_PAYLOAD).contains(&length) {
        return Err(NoiseError::Stranger);
    }
    let mut message = vec![0; length];
    socket.read_exact(&mut message).await?;
    Ok(message)
}

/// Ciphers of the two directions of a connection.
pub(crate) struct Directions {
    pub(crate) out: Direction,
    pub(crate) come: Direction,
}

impl Directions {
    fn of(state: HandshakeState) -> Result<Directions, NoiseError> {
        let sealed = Rc::new(state.into_stateless_transport_mode()?);
        let direction = |sealed| Direction { sealed, count: 0 };
        Ok(Directions {
            out: direction(sealed.clone()),
            come: direction(sealed),
        })
    }
}

/// Cipher of one direction of a connection, with the number of the next message.
pub(crate) struct Direction {
    sealed: Rc<StatelessTransportState>,
    count: u64,
}

impl Direction {
    /// Encrypts a message and appends it to `to`.
    pub(crate) fn seal(&mut self, message: &[u8], to: &mut Vec<u8>) -> Result<(), NoiseError> {
        let begin = to.len();
        let length = message.len() + TAG;
        to.resize(begin + LENGTH + length, 0);
        to[begin..begin + LENGTH].copy_from_slice(&(length as u16).to_be_bytes());
        let into = &mut to[begin + LENGTH..];
        self.sealed.write_message(self.count, message, into)?;
        self.count += 1;
        Ok(())
    }

    /// Decrypts the first message in the received bytes. Returns the number of bytes before the
    /// next message, or `None` if the message is incomplete.
    pub(crate) fn open(
        &mut self,
        come: &[u8],
        message: &mut Vec<u8>,
    ) -> Result<Option<usize>, NoiseError> {
        let Some((length, rest)) = come.split_first_chunk::<LENGTH>() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes(*length));
        if length <= TAG {
            return Err(NoiseError::Stranger);
        }
        let Some(sealed) = rest.get(..length) else {
            return Ok(None);
        };
        message.resize(length, 0);
        let read = self.sealed.read_message(self.count, sealed, message)?;
        message.truncate(read);
        self.count += 1;
        Ok(Some(LENGTH + length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_another_key_hears_nothing() {
        let [ours, theirs] = [new_key().unwrap(), new_key().unwrap()];
        assert_ne!(ours, theirs);
        let [ours, theirs] = [ours, theirs].map(|text| Key::read(&text).unwrap());
        let asked = encrypt(&mut initiator(&ours).unwrap(), b"hello").unwrap();
        let decrypted = decrypt(&mut responder(&theirs).unwrap(), &asked[LENGTH..]);
        assert!(matches!(decrypted, Err(NoiseError::Stranger)));
        let decrypted = decrypt(&mut responder(&ours).unwrap(), &asked[LENGTH..]);
        assert_eq!(decrypted.unwrap(), b"hello");
    }

    #[test]
    fn handshakes_by_who_has_no_key_are_strangers() {
        let [ours, theirs] = [new_key().unwrap(), new_key().unwrap()];
        let [ours, theirs] = [ours, theirs].map(|text| Key::read(&text).unwrap());
        let asked = encrypt(&mut initiator(&ours).unwrap(), b"hello").unwrap();
        let strange = encrypt(&mut initiator(&theirs).unwrap(), b"hello").unwrap();
        let mut bits = 0x2545_f491_4f6c_dd1d_u64;
        for count in 0..200_000 {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            // the message has one wrong byte (cases 0 and 1; in case 1 also another key), or is
            // incomplete, or consists of random bytes
            let mut message = match count % 4 {
                1 => strange[LENGTH..].to_vec(),
                3 => bits.to_be_bytes().repeat(8),
                _ => asked[LENGTH..].to_vec(),
            };
            let at = bits as usize % message.len();
            match count % 4 {
                2 => message.truncate(at),
                _ => message[at] ^= (bits >> 32) as u8 | 1,
            }
            let decrypted = decrypt(&mut responder(&ours).unwrap(), &message);
            assert!(decrypted.is_err(), "{count}");
        }
    }

    #[test]
    fn messages_come_as_they_were_sealed() {
        let key = Key::read(&new_key().unwrap()).unwrap();
        let (mut a, mut b) = (initiator(&key).unwrap(), responder(&key).unwrap());
        decrypt(&mut b, &encrypt(&mut a, b"").unwrap()[LENGTH..]).unwrap();
        decrypt(&mut a, &encrypt(&mut b, b"").unwrap()[LENGTH..]).unwrap();
        let [a, b] = [a, b].map(|state| Directions::of(state).unwrap());
        let (mut to, mut from) = (a.out, b.come);
        let mut wire = Vec::new();
        to.seal(b"one", &mut wire).unwrap();
        to.seal(&[7; 40_000], &mut wire).unwrap();
        let mut message = Vec::new();
        assert_eq!(from.open(&wire[..20], &mut message).unwrap(), None);
        let first = from.open(&wire, &mut message).unwrap().unwrap();
        assert_eq!(message, b"one");
        let mut broken = wire[first..].to_vec();
        *broken.last_mut().unwrap() ^= 1;
        assert!(from.open(&broken, &mut message).is_err());
        from.open(&wire[first..], &mut message).unwrap();
        assert_eq!(message, [7; 40_000]);
    }

    #[test]
    fn a_key_is_read_from_its_text() {
        assert!(Key::read(&format!(" {}\n", new_key().unwrap())).is_some());
        for wrong in ["", "abc", &"A".repeat(44), &STANDARD.encode([0; 31])] {
            assert!(Key::read(wrong).is_none(), "{wrong}");
        }
    }
}
