//! Messages on stdin and stdout, as the protocol frames them. What comes in is bounded before it is kept, and no length that
//! a client claims is believed: memory grows with what has come. A message that can't be read is passed over and told of in
//! the editor's log; where it is not known how one ends, the session ends.

use std::io::{self, BufRead, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use lsp_server::{Connection, Message, Notification};
use lsp_types::notification::{LogMessage, Notification as _};
use lsp_types::{LogMessageParams, MessageType};

/// Most bytes of the header of a message.
const HEADER_MAX: u64 = 8 << 10;
/// Most bytes of a message that is read; a longer one is passed over.
const MESSAGE_MAX: u64 = 256 << 20;

/// The threads behind a connection.
pub(super) struct Wire {
    reader: JoinHandle<()>,
    writer: JoinHandle<io::Result<()>>,
    /// What ended the reader.
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Wire {
    /// A connection on stdin and stdout.
    ///
    /// # Errors
    /// No threads are to be had.
    pub(super) fn open() -> io::Result<(Connection, Wire)> {
        let (ours, far) = Connection::memory();
        let Connection { sender: take, receiver: given } = far;
        let writer = thread::Builder::new().name("lsp-writer".to_owned()).spawn(move || {
            let mut out = io::stdout().lock();
            given.into_iter().try_for_each(|message| message.write(&mut out))
        })?;
        let (tell, failure) = (ours.sender.clone(), Arc::new(Mutex::new(None)));
        let failed = Arc::clone(&failure);
        let reader = thread::Builder::new().name("lsp-reader".to_owned()).spawn(move || {
            // A server that has gone takes nothing, and hears of nothing.
            let read = read(
                &mut io::stdin().lock(),
                |message| take.send(message).is_ok(),
                |log| drop(tell.send(log)),
            );
            // Said before the channels close, so that who finds them closed finds the reason.
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = read.err();
        })?;
        Ok((ours, Wire { reader, writer, failure }))
    }

    /// Ends after the server has: gives what became of it, or what ended the stream under it. The connection is dropped.
    ///
    /// # Errors
    /// Those of the server and of the streams.
    pub(super) fn close(self, served: io::Result<()>) -> io::Result<()> {
        let ended = |_| io::Error::other("a thread of the language server ended early");
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Where the server alone went wrong, the reader waits for a client that may say nothing more.
        if failure.is_none() {
            served?;
        }
        self.reader.join().map_err(ended)?;
        self.writer.join().map_err(ended)??;
        failure.map_or(Ok(()), Err)
    }
}

/// Reads messages until the stream ends, the client says `exit`, or nobody takes them.
fn read(
    from: &mut impl BufRead,
    mut take: impl FnMut(Message) -> bool,
    mut tell: impl FnMut(Message),
) -> io::Result<()> {
    while let Some(length) = header(from)? {
        let message = match length {
            0..=MESSAGE_MAX => {
                serde_json::from_slice(&body(from, length)?).map_err(|error| error.to_string())
            }
            _ => {
                tell(log(format!("a message of {length} bytes is passed over: {MESSAGE_MAX} are the most")));
                skip(from, length)?;
                continue;
            }
        };
        match message {
            Ok(message) => {
                let is_exit = matches!(&message, Message::Notification(last) if last.method == "exit");
                if !take(message) || is_exit {
                    break;
                }
            }
            Err(why) => tell(log(format!("a message is passed over, it can't be read: {why}"))),
        }
    }
    Ok(())
}

fn log(message: String) -> Message {
    let params = LogMessageParams { typ: MessageType::ERROR, message };
    Message::Notification(Notification::new(LogMessage::METHOD.to_owned(), params))
}

/// Reads a header: the length of the message behind it. None at the end of the stream.
fn header(from: &mut impl BufRead) -> io::Result<Option<u64>> {
    let wrong = |what: String| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let mut left = from.take(HEADER_MAX);
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if left.read_until(b'\n', &mut line)? == 0 && left.limit() == HEADER_MAX {
            return Ok(None);
        }
        if !line.ends_with(b"\n") {
            return match left.limit() {
                0 => wrong(format!("the header of a message is longer than {HEADER_MAX} bytes")),
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            };
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return wrong(format!("`{line}` is no line of a header"));
        };
        if name.eq_ignore_ascii_case("content-length") {
            match value.trim().parse() {
                Ok(number) => length = Some(number),
                Err(_) => return wrong(format!("`{line}` is no length")),
            }
        }
    }
    match length {
        Some(length) => Ok(Some(length)),
        None => wrong("the header of a message has no Content-Length".to_owned()),
    }
}

fn body(from: &mut impl BufRead, length: u64) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    let read = from.take(length).read_to_end(&mut body)? as u64;
    if read < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(body) }
}

fn skip(from: &mut impl BufRead, length: u64) -> io::Result<()> {
    let skipped = io::copy(&mut from.take(length), &mut io::sink())?;
    if skipped < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read};

    use lsp_server::Message;

    use super::{HEADER_MAX, MESSAGE_MAX, read};

    /// What becomes of a stream: methods that were taken, what was told, and what ended it.
    fn said(stream: impl Read) -> (Vec<String>, Vec<String>, Option<io::Error>) {
        let (mut taken, mut told) = (Vec::new(), Vec::new());
        let take = |message| {
            if let Message::Notification(heard) = message {
                taken.push(heard.method);
            }
            true
        };
        let tell = |message| {
            if let Message::Notification(log) = message {
                told.push(log.params["message"].as_str().unwrap_or_default().to_owned());
            }
        };
        let ended = read(&mut BufReader::new(stream), take, tell).err();
        (taken, told, ended)
    }

    fn why(ended: Option<io::Error>) -> String {
        ended.map_or_else(String::new, |error| error.to_string())
    }

    fn framed(body: &[u8]) -> Vec<u8> {
        [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
    }

    const HEARD: &[u8] = br#"{"jsonrpc":"2.0","method":"heard","params":{}}"#;

    #[test]
    fn what_can_not_be_read_is_passed_over() {
        let deep = "[".repeat(100_000);
        for bad in [&b"\xff\xfe"[..], b"{\"a\"", b"{}", b"", b"\"\\ud800\"", deep.as_bytes()] {
            let (taken, told, ended) = said(&*[framed(bad), framed(HEARD)].concat());
            assert_eq!((taken.as_slice(), told.len()), (&["heard".to_owned()][..], 1), "{told:?}");
            assert!(ended.is_none());
        }
    }

    #[test]
    fn a_message_that_is_too_long_is_passed_over() {
        let length = MESSAGE_MAX + 1;
        let header = format!("Content-Length: {length}\r\n\r\n");
        let stream = header.as_bytes().chain(io::repeat(b'x').take(length));
        let (taken, told, ended) = said(stream.chain(&*framed(HEARD)));
        assert_eq!(taken, ["heard"]);
        assert_eq!(told, ["a message of 268435457 bytes is passed over: 268435456 are the most"]);
        assert!(ended.is_none());
    }

    #[test]
    fn a_length_that_is_none_ends_the_session() {
        for length in ["-5", "1e3", "99999999999999999999", "", "0x10"] {
            let stream = format!("Content-Length: {length}\r\n\r\n{{}}");
            let (taken, told, ended) = said(stream.as_bytes());
            assert_eq!((taken.len(), told.len()), (0, 0));
            assert_eq!(why(ended), format!("`{}` is no length", format!("Content-Length: {length}").trim()));
        }
        let (.., ended) = said(&b"Content-Type: x\r\n\r\n{}"[..]);
        assert_eq!(why(ended), "the header of a message has no Content-Length");
        let (.., ended) = said(&b"hello\r\n\r\n"[..]);
        assert_eq!(why(ended), "`hello` is no line of a header");
    }

    #[test]
    fn a_header_without_end_is_not_kept() {
        let (.., ended) = said(io::repeat(b'A'));
        let longer = format!("the header of a message is longer than {HEADER_MAX} bytes");
        assert_eq!(why(ended), longer);
        let (.., ended) = said(&*b"X: y\r\n".repeat(10_000));
        assert_eq!(why(ended), longer);
    }

    #[test]
    fn a_length_that_is_claimed_is_not_allocated() {
        // The longest that is read at all, and the longest there is: nothing has come, so nothing is kept.
        for length in [MESSAGE_MAX, u64::MAX] {
            let (taken, _, ended) = said(format!("Content-Length: {length}\r\n\r\nabc").as_bytes());
            assert_eq!(taken.len(), 0);
            assert_eq!(ended.map(|error| error.kind()), Some(io::ErrorKind::UnexpectedEof));
        }
        let (.., ended) = said(&b"Content-Len"[..]);
        assert_eq!(ended.map(|error| error.kind()), Some(io::ErrorKind::UnexpectedEof));
        assert!(said(&b""[..]).2.is_none());
    }
}
