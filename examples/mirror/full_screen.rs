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
use listwatch::Change;
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
    let synced = run(&mut screen.0, &mut mirror, what, columns).await;
    drop(screen);
    if synced? { Ok(writeln!(stdout(), "{}", summary(&mirror.store))?) } else { Err(Failure::Interrupted) }
}

/// Whether the mirror was complete once.
async fn run(
    terminal: &mut DefaultTerminal,
    mirror: &mut Mirror,
    what: &str,
    columns: Columns,
) -> Result<bool, Failure> {
    let (mut model, mut keys, mut synced) = (Model::new(what, columns), EventStream::new(), false);
    let mut frames = tokio::time::interval(FRAME);
    loop {
        tokio::select! {
            change = mirror.changes.next() => match change {
                Some(Err(error)) if !synced && pipeline::is_final(&error) => {
                    return Err(pipeline::failed(what, &error));
                }
                Some(item) => {
                    synced |= matches!(item, Ok(Change::Synced { .. }));
                    model.note(&item, Instant::now());
                }
                None => return Ok(synced),
            },
            event = keys.next() => match event.transpose()? {
                Some(event) => match Action::of(&event) {
                    Some(Action::End) => return Ok(synced),
                    Some(Action::Relist) => mirror.relist.relist(),
                    Some(action) => model.act(action),
                    None => {}
                },
                // The terminal was closed.
                None => return Ok(synced),
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
