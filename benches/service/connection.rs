//! A keep-alive HTTP connection of minimal cost, because client and server share the machine. It reads the status and
//! the length, and then that many bytes. The answer of a tool comes in chunks instead.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
};

use crate::Measured;

/// A connection and the request that it repeats.
pub struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects; every [`Self::ask`] asks for `path` with `token`.
    pub fn open(address: SocketAddr, path: &str, token: &str) -> Measured<Self> {
        Self::repeating(
            address,
            format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n"),
        )
    }

    /// Connects; every [`Self::ask`] sends `message` to the tool endpoint with `token` and `headers`.
    pub fn to_tools(address: SocketAddr, headers: &[(&str, &str)], message: &str, token: &str) -> Measured<Self> {
        let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let headers = headers.concat();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\naccept: application/json, text/event-stream\r\n\
             {headers}content-type: application/json\r\ncontent-length: {}\r\n\r\n{message}",
            message.len()
        );
        Self::repeating(address, request)
    }

    fn repeating(address: SocketAddr, request: String) -> Measured<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, request: request.into_bytes(), buffer: vec![0; 256 * 1024] })
    }

    /// Sends the request once and reads the whole answer, which must be a 200. Returns the length of its body in bytes.
    pub fn ask(&mut self) -> Measured<usize> {
        self.stream.write_all(&self.request)?;
        self.answer(200)
    }

    /// Creates a record with a key and reads the whole answer, which must be a 201.
    pub fn create(&mut self, path: &str, token: &str, key: &str, body: &str) -> Measured<usize> {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nidempotency-key: {key}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes())?;
        self.answer(201)
    }

    /// Reads a whole answer, which must have this status. Returns the length of its body in bytes.
    fn answer(&mut self, status: u16) -> Measured<usize> {
        let mut held = 0;
        let (body_start, length) = loop {
            self.more(&mut held)?;
            if let Some(found) = head(&self.buffer[..held], status)? {
                break found;
            }
        };
        let Some(length) = length else {
            loop {
                if let Some(length) = in_chunks(&self.buffer[body_start..held])? {
                    return Ok(length);
                }
                self.more(&mut held)?;
            }
        };
        let mut missing = length - (held - body_start);
        while missing > 0 {
            let piece = missing.min(self.buffer.len());
            self.stream.read_exact(&mut self.buffer[..piece])?;
            missing -= piece;
        }
        Ok(length)
    }

    /// Reads what has come behind the `held` bytes of the buffer.
    fn more(&mut self, held: &mut usize) -> Measured<()> {
        let read = self.stream.read(&mut self.buffer[*held..])?;
        *held += read;
        if read == 0 { Err("no answer, or too long a one".into()) } else { Ok(()) }
    }
}

/// Start and length of the body in bytes; `None` until the whole head has been read. A body in chunks has no length.
fn head(bytes: &[u8], status: u16) -> Measured<Option<(usize, Option<usize>)>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..end])?.to_ascii_lowercase();
    if !head.starts_with(&format!("http/1.1 {status}")) {
        return Err(format!("not a {status}: {head}").into());
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    if length.is_none() && !head.contains("transfer-encoding: chunked") {
        return Err("no length".into());
    }
    Ok(Some((end + 4, length.map(|length| length.trim().parse()).transpose()?)))
}

/// Length of a body in chunks; `None` until its last chunk has been read.
fn in_chunks(mut bytes: &[u8]) -> Measured<Option<usize>> {
    let mut length = 0;
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..end])?, 16)?;
        let Some(rest) = bytes.get(end + 2 + size + 2..) else { return Ok(None) };
        if size == 0 {
            return Ok(Some(length));
        }
        length += size;
        bytes = rest;
    }
    Ok(None)
}
