//! Where lines go: plain text into a pipe or file, or a terminal with a bar below them.

use super::tone::Tone;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use listwatch::source::Stats;
use std::{
    env,
    io::{self, IsTerminal, Write, stdout},
    time::Duration,
};

/// Standard output. A pipe that was closed (`mirror | head`) is an error here, which ends the program quietly.
#[derive(Debug)]
pub enum Screen {
    /// No bars, no colours, nothing is moved or overwritten.
    Plain,
    /// Lines scroll above one line that changes.
    Terminal(ProgressBar),
}

impl Screen {
    /// A terminal if standard output is one, unless plain text is asked for.
    pub fn new(plain: bool) -> Self {
        if plain || !stdout().is_terminal() {
            return Screen::Plain;
        }
        Screen::Terminal(ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout()))
    }

    /// Whether lines stay where they are, as in a file.
    pub fn is_plain(&self) -> bool {
        matches!(self, Screen::Plain)
    }

    /// Prints lines.
    ///
    /// # Errors
    ///
    /// Nobody reads any more.
    pub fn print<L: AsRef<str>>(&self, lines: impl IntoIterator<Item = L>) -> io::Result<()> {
        match self {
            Screen::Plain => {
                let mut out = io::BufWriter::new(stdout().lock());
                for line in lines {
                    writeln!(out, "{}", line.as_ref())?;
                }
                out.flush()
            }
            Screen::Terminal(bar) => {
                bar.suspend(|| lines.into_iter().try_for_each(|line| writeln!(stdout(), "{}", line.as_ref())))
            }
        }
    }

    /// Shows how far the first snapshot is.
    pub fn syncing(&self, stats: &Stats) {
        let Screen::Terminal(bar) = self else { return };
        // During a page the rest of it is in neither figure, so the total would shrink for a moment.
        let known = stats.remaining.map(|remaining| remaining + stats.listed).max(bar.length());
        match known {
            Some(total) => {
                bar.set_length(total);
                bar.set_style(style("{prefix} {bar:60.green/dim} {pos}/{len} objects, {elapsed}"));
            }
            None => bar.set_style(style("{prefix} {spinner} {pos} objects, {elapsed}")),
        }
        bar.set_prefix("First sync");
        bar.set_position(stats.listed.max(bar.position()));
        bar.tick();
    }

    /// Shows the line below the others.
    pub fn status(&self, text: &str) {
        let Screen::Terminal(bar) = self else { return };
        bar.set_style(style("{wide_msg:.dim}"));
        bar.set_message(text.to_owned());
        bar.tick();
    }

    /// Takes away the line below the others.
    pub fn close(&self) {
        if let Screen::Terminal(bar) = self {
            bar.finish_and_clear();
        }
    }

    /// The text in a colour, where colours are shown.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => 32,
            Tone::Changed => 33,
            Tone::Bad => 31,
            Tone::Quiet => 2,
        };
        let plain = self.is_plain() || env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty());
        if plain { text.to_owned() } else { format!("\x1b[{code}m{text}\x1b[0m") }
    }
}

/// How often what changes by itself is drawn again.
pub const FRAME: Duration = Duration::from_millis(100);

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─")
}
