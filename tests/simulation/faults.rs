//! Faults: of a request, of its headers, of each place of a body, of the server as a whole.

use super::{
    script::{On, Step, secs},
    seed::Draw,
};
use listwatch::testing::{At, Ending, Fault, Refusal};
use std::time::Duration;

/// Something goes wrong, now or with the next request.
pub fn step(draw: &mut Draw, rewinds: bool) -> Vec<Step> {
    match draw.0.u32(0..100) {
        0..55 => request(draw),
        55..67 => vec![Step::EndConnections(draw.of(&[Ending::Close, Ending::Reset, Ending::HalfOpen]))],
        67..75 => vec![Step::Compact { storage_only: draw.percent(30) }],
        75..82 => vec![Step::Restart],
        82..88 => vec![Step::Down(true), Step::Wait(draw.time(secs(300))), Step::Down(false)],
        88..92 => vec![Step::HoldCache(true)],
        92..96 => vec![Step::HoldCache(false)],
        _ if rewinds => vec![Step::Rewind(draw.0.u64(1..10))],
        _ => request(draw),
    }
}

/// A fault of the requests to come, and mostly a reason for them to come.
fn request(draw: &mut Draw) -> Vec<Step> {
    let on = draw.of(&[On::Any, On::Any, On::Lists, On::Pages, On::Watches, On::Watches, On::WatchLists]);
    let skip = draw.of(&[0, 0, 0, 1, 2]);
    let times = draw.of(&[1, 1, 1, 2, 3, 12]);
    let mut steps = vec![Step::Fault { on, skip, times, fault: fault(draw) }];
    if draw.percent(70) {
        steps.push(Step::EndConnections(draw.of(&[Ending::Close, Ending::Reset])));
    }
    steps
}

fn fault(draw: &mut Draw) -> Fault {
    let one = match draw.0.u32(0..20) {
        0..3 => Fault::status(draw.of(&CODES)),
        3 => Fault::too_many_requests(secs(draw.0.u64(1..60))),
        4 => draw.of(&[Fault::html(), empty()]),
        5 => Fault::Before(draw.of(&[Ending::Eof, Ending::Reset, Ending::Stall, Ending::HalfOpen])),
        6 => Fault::Delay(draw.time(secs(100))),
        7..11 => Fault::End(place(draw), draw.of(&ENDINGS)),
        11 => Fault::Insert(place(draw), draw.of(&INSERTIONS).as_bytes().into()),
        12 => Fault::wrong_json(draw.0.usize(0..6)),
        13 => Fault::unknown_event_type(draw.0.usize(0..6)),
        14 | 15 => Fault::error_event(draw.0.usize(0..6), &refusal(draw)),
        16 => Fault::SwallowBookmarks,
        17 => Fault::GzipEachEvent,
        18 => Fault::SlowWrite(draw.0.usize(16..300), draw.time(Duration::from_millis(500))),
        _ => Fault::Restart,
    };
    if draw.percent(10) { one.and(fault(draw)) } else { one }
}

const CODES: [u16; 21] =
    [204, 302, 400, 401, 403, 404, 405, 406, 408, 409, 410, 415, 422, 429, 500, 500, 501, 502, 503, 503, 504];

const ENDINGS: [Ending; 5] = [Ending::Eof, Ending::Close, Ending::Reset, Ending::Stall, Ending::HalfOpen];

/// What a proxy or a buggy server puts in between.
const INSERTIONS: [&str; 5] = [
    "\n\n",
    "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{}}}\n",
    "{\"type\":\"ERROR\",\"object\":{\"message\":\"no status\"}}\n",
    "{\"type\":\"ADDED\"}\n",
    "\u{0}\u{1}",
];

fn empty() -> Fault {
    Fault::Answer { code: 200, content_type: "application/json", retry_after: None, body: "".into() }
}

fn place(draw: &mut Draw) -> At {
    match draw.0.u32(0..7) {
        0..3 => At::Byte(draw.0.usize(0..3000)),
        3 | 4 => At::Event(draw.0.usize(0..6)),
        5 => At::InsideEvent(draw.0.usize(0..6)),
        _ => At::InsideCharacter,
    }
}

fn refusal(draw: &mut Draw) -> Refusal {
    match draw.0.u32(0..6) {
        0 | 1 => Refusal::watch_expired(),
        2 => Refusal::internal_error("etcdserver: no leader"),
        3 => Refusal::too_large(1_000_000, 7),
        _ => Refusal::new(draw.of(&CODES[2..])),
    }
}
