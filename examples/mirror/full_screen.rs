//! The mirror on the whole terminal, drawn ten times a second.

use crate::{
    failure::Failure,
    follow::summary,
    memory,
    pipeline::{self, Mirror},
    screen::FRAME,
    table::Columns,
    tui::{self, Action, Model},
};
use futures::StreamExt;
use k8s_openapi::jiff::Timestamp;
use ratatui::{DefaultTerminal, crossterm::event::EventStream};
use std::io::{self, Write, stdout};
use tokio::time::Instant;

/// The terminal in raw mode with a screen of its own, until this is dropped, or the program panics.
struct FullScreen(DefaultTerminal);

impl FullScreen {
    fn enter() -> io::Result<Self> {
        ratatui::try_init().map(FullScreen)
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Shows the mirror until it is stopped.
///
/// # Errors
///
/// The first snapshot will never come, or the terminal is gone.
pub async fn show(mut mirror: Mirror, what: &str, columns: Columns) -> Result<(), Failure> {
    let mut screen = FullScreen::enter()?;
    let ended = run(&mut screen.0, &mut mirror, what, columns).await;
    drop(screen);
    ended?;
    if was_complete(&mirror) {
        Ok(writeln!(stdout(), "{}", summary(&mirror.store))?)
    } else {
        Err(Failure::Interrupted)
    }
}

/// By the store, which is what is shown: it is ahead of what was told of it.
fn was_complete(mirror: &Mirror) -> bool {
    mirror.store.snapshot().is_ready()
}

async fn run(terminal: &mut DefaultTerminal, mirror: &mut Mirror, what: &str, columns: Columns) -> Result<(), Failure> {
    let (mut model, mut keys) = (Model::new(what, columns), EventStream::new());
    let mut frames = tokio::time::interval(FRAME);
    loop {
        tokio::select! {
            change = mirror.changes.next() => match change {
                Some(Err(error)) if !was_complete(mirror) && pipeline::is_final(&error) => {
                    return Err(pipeline::failed(what, &error));
                }
                Some(item) => model.note(&item, Instant::now()),
                None => return Ok(()),
            },
            event = keys.next() => match event.transpose()? {
                Some(event) => match Action::of(&event) {
                    Some(Action::End) => return Ok(()),
                    Some(Action::Relist) => mirror.relist.relist(),
                    Some(action) => model.act(action),
                    None => {}
                },
                // The terminal was closed.
                None => return Ok(()),
            },
            _ = frames.tick() => {
                let now = Instant::now();
                model.sample(mirror.stats.get(), now);
                (model.state, model.wait, model.memory) = (mirror.store.state(), mirror.waits.at(now), memory::resident());
                if model.is_stale() {
                    model.show(&mirror.store.snapshot());
                }
                terminal.draw(|frame| tui::draw(frame, &mut model, now, Timestamp::now()))?;
            }
        }
    }
}
