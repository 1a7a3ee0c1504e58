//! Plays the answer of one step on a connection.

use super::{
    format::{Chunk, Fault, Respond, Step, StepDo},
    generated,
    http::Request,
    record::Sent,
    server::Shared,
    wire::Wire,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::{io, ops::ControlFlow};
use tokio::time::Instant;

/// What becomes of the connection.
pub enum After {
    KeepAlive(Wire),
    HalfOpen(Wire),
    Closed,
}

/// How the end of a body is told.
#[derive(Clone, Copy, PartialEq)]
enum Framing {
    Chunked,
    /// By a length that the case gives; a body that ends short of it is cut.
    Length,
}

/// Counts an answer as unsent for as long as it lives.
struct Unsent<'a>(&'a Shared);

impl<'a> Unsent<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.record.log().unsent += 1;
        Unsent(shared)
    }
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        self.0.record.log().unsent -= 1;
    }
}

pub async fn play(mut wire: Wire, request: &Request, index: usize, shared: &Shared) -> After {
    let step = &shared.case.conversation[index];
    let respond = match &step.respond_plain {
        Some(plain) if !request.allows_gzip() => plain,
        _ => &step.respond,
    };
    let unsent = Unsent::new(shared);
    let flow = match &respond.chunks {
        Some(chunks) => in_chunks(&mut wire, step, respond, chunks, index, shared).await,
        None => at_once(&mut wire, step, respond, index, shared).await,
    };
    drop(unsent);
    let after = match flow {
        // The stream stays open until the client closes it.
        Ok(ControlFlow::Continue(())) => {
            wire.closed().await;
            After::Closed
        }
        Ok(ControlFlow::Break(Ending::Whole)) if respond.closes() => {
            wire.finish().await;
            return After::Closed;
        }
        Ok(ControlFlow::Break(Ending::Whole)) => return After::KeepAlive(wire),
        Ok(ControlFlow::Break(Ending::Fin)) => {
            shared.script().answered(index, Instant::now());
            wire.finish().await;
            return After::Closed;
        }
        Ok(ControlFlow::Break(Ending::HalfOpen)) => return After::HalfOpen(wire),
        Ok(ControlFlow::Break(Ending::Reset)) => {
            wire.reset();
            After::Closed
        }
        Err(_) => After::Closed,
    };
    shared.script().answered(index, Instant::now());
    after
}

enum Ending {
    Whole,
    Fin,
    Reset,
    HalfOpen,
}

type Flow = io::Result<ControlFlow<Ending>>;

/// A body that is given as a whole.
async fn at_once(wire: &mut Wire, step: &Step, respond: &Respond, index: usize, shared: &Shared) -> Flow {
    if !wire.stays_open_for(respond.header_delay_ms).await {
        return Ok(ControlFlow::Break(Ending::Fin));
    }
    act(step, shared);
    let Some(status) = respond.status else { return Ok(ControlFlow::Continue(())) };
    if let Some(data) = &respond.body_gen {
        wire.write(head(status, respond, Some(Framing::Chunked), None).as_bytes()).await?;
        let begun = Instant::now();
        for piece in generated::pieces(data, respond.split_bytes) {
            chunk(wire, Framing::Chunked, &piece, index, shared).await?;
        }
        shared.record.log().sent.push(Sent { step: index, chunk: 0, begun, done: Instant::now() });
        shared.script().answered(index, Instant::now());
        wire.write(b"0\r\n\r\n").await?;
        return Ok(ControlFlow::Break(Ending::Whole));
    }
    let body = match &respond.body {
        None => String::new(),
        Some(raw) if raw.get().starts_with('"') => serde_json::from_str(raw.get()).expect("JSON, once read already"),
        Some(raw) => compact(raw.get()),
    };
    shared.script().answered(index, Instant::now());
    wire.write(head(status, respond, None, Some(body.len())).as_bytes()).await?;
    let begun = Instant::now();
    wire.write(body.as_bytes()).await?;
    shared.record.log().sent.push(Sent { step: index, chunk: 0, begun, done: Instant::now() });
    Ok(ControlFlow::Break(Ending::Whole))
}

async fn in_chunks(
    wire: &mut Wire,
    step: &Step,
    respond: &Respond,
    chunks: &[Chunk],
    index: usize,
    shared: &Shared,
) -> Flow {
    if !wire.stays_open_for(respond.header_delay_ms).await {
        return Ok(ControlFlow::Break(Ending::Fin));
    }
    let has_length = respond.headers.0.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let framing = if has_length { Framing::Length } else { Framing::Chunked };
    if let Some(status) = respond.status {
        if !chunks.iter().any(|chunk| chunk.fault.is_some()) {
            act(step, shared);
        }
        shared.script().answered(index, Instant::now());
        wire.write(head(status, respond, Some(framing), None).as_bytes()).await?;
    }
    for (number, part) in chunks.iter().enumerate() {
        if !wire.stays_open_for(part.after_ms).await {
            return Ok(ControlFlow::Break(Ending::Fin));
        }
        let begun = Instant::now();
        for piece in pieces(part) {
            chunk(wire, framing, &piece, index, shared).await?;
        }
        shared.record.log().sent.push(Sent { step: index, chunk: number, begun, done: Instant::now() });
        if let Some(fault) = part.fault {
            act(step, shared);
            shared.script().answered(index, Instant::now());
            return Ok(ControlFlow::Break(match fault {
                Fault::Eof if respond.status.is_none() || framing == Framing::Length => Ending::Fin,
                Fault::Eof => {
                    wire.write(b"0\r\n\r\n").await?;
                    Ending::Whole
                }
                Fault::Reset => Ending::Reset,
                Fault::HalfOpen => Ending::HalfOpen,
            }));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// What the harness does before the fault or the answer.
fn act(step: &Step, shared: &Shared) {
    for action in &step.actions {
        match action.action {
            StepDo::ServerRevokes => shared.script().revoke(&action.value),
            StepDo::WriteTokenFile => {
                let Some(path) = &shared.token_file else {
                    shared.record.log().unexpected.push("write_token_file, but the setup has no token_file".into());
                    continue;
                };
                // As the kubelet does: a new file in the place of the old one, never a half-written one.
                let fresh = path.with_extension("new");
                let written = std::fs::write(&fresh, &action.value).and_then(|()| std::fs::rename(&fresh, path));
                if let Err(error) = written {
                    shared.record.log().unexpected.push(format!("write_token_file: {error}"));
                }
            }
        }
    }
}

async fn chunk(wire: &mut Wire, framing: Framing, data: &[u8], index: usize, shared: &Shared) -> io::Result<()> {
    if data.is_empty() {
        return Ok(());
    }
    shared.script().answered(index, Instant::now());
    if framing == Framing::Length {
        return wire.write(data).await;
    }
    let mut bytes = format!("{:x}\r\n", data.len()).into_bytes();
    bytes.extend_from_slice(data);
    bytes.extend_from_slice(b"\r\n");
    wire.write(&bytes).await
}

fn pieces(chunk: &Chunk) -> Box<dyn Iterator<Item = Vec<u8>> + Send> {
    if let Some(data) = &chunk.data_gen {
        return Box::new(generated::pieces(data, chunk.split_bytes));
    }
    let mut data = chunk.data.clone().unwrap_or_default().into_bytes();
    if let Some(encoded) = &chunk.data_b64 {
        data.extend(STANDARD.decode(encoded).expect("data_b64 is base64"));
    }
    let size = chunk.split_bytes.unwrap_or(data.len()).max(1);
    Box::new(data.chunks(size).map(<[u8]>::to_vec).collect::<Vec<_>>().into_iter())
}

fn head(status: u16, respond: &Respond, framing: Option<Framing>, length: Option<usize>) -> String {
    let reason = http::StatusCode::from_u16(status).ok().and_then(|code| code.canonical_reason()).unwrap_or("Status");
    let mut head = format!("HTTP/1.1 {status} {reason}\r\n");
    for (name, value) in &respond.headers.0 {
        // The framing is the server's own; a length may be given to be wrong.
        let is_framing = name.eq_ignore_ascii_case("transfer-encoding")
            || (length.is_some() && name.eq_ignore_ascii_case("content-length"));
        if !is_framing {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    match (framing, length) {
        (Some(Framing::Chunked), _) => head.push_str("Transfer-Encoding: chunked\r\n"),
        (_, Some(length)) => head.push_str(&format!("Content-Length: {length}\r\n")),
        _ => {}
    }
    head + "\r\n"
}

/// The same JSON without the blanks between its parts; the order of the keys stays.
fn compact(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    json.chars()
        .filter(|&c| {
            let keep = in_string || !c.is_ascii_whitespace();
            match c {
                '"' if !escaped => in_string = !in_string,
                _ => {}
            }
            escaped = in_string && c == '\\' && !escaped;
            keep
        })
        .collect()
}

/// An answer outside of the script.
pub async fn refuse(mut wire: Wire, status: u16, reason: &str) -> After {
    let body = format!(
        r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","reason":"{reason}","code":{status}}}"#
    );
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    match wire.write(head.as_bytes()).await {
        Ok(()) => After::KeepAlive(wire),
        Err(_) => After::Closed,
    }
}
