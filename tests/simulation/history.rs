//! Histories: several writers, each with objects of its own and one that they share, write one after another.

use super::{
    script::{Step, Value},
    seed::Draw,
};

const WRITERS: usize = 3;

/// What is there before the mirrors come.
pub fn first(draw: &mut Draw) -> Vec<Step> {
    (0..draw.0.usize(0..8)).map(|_| write(draw)).collect()
}

/// One writer's turn.
pub fn step(draw: &mut Draw) -> Vec<Step> {
    match draw.0.u32(0..100) {
        0..60 => vec![write(draw)],
        60..85 => {
            let (writer, name) = object(draw);
            vec![Step::Delete { writer, name }]
        }
        85..90 => (0..draw.0.usize(2..12)).map(|_| write(draw)).collect(),
        90..95 => {
            // Another object takes the name at once.
            let (writer, name) = object(draw);
            let value = value(draw);
            vec![Step::Delete { writer, name: name.clone() }, Step::Write { writer, name, value }]
        }
        _ => vec![Step::OtherWrite],
    }
}

fn write(draw: &mut Draw) -> Step {
    let (writer, name) = object(draw);
    Step::Write { writer, name, value: value(draw) }
}

fn object(draw: &mut Draw) -> (usize, String) {
    let writer = draw.0.usize(0..WRITERS);
    let name = match draw.0.u32(0..4) {
        0 => "ns/shared".to_owned(),
        n => format!("{}/w{writer}-{n}", draw.of(&["default", "ns"])),
    };
    (writer, name)
}

fn value(draw: &mut Draw) -> Value {
    let n = draw.0.u32(..);
    match draw.0.u32(0..100) {
        0..60 => Value::Kept(n),
        60..80 => Value::Dropped(n),
        _ => Value::Unreadable(n),
    }
}
