//! Why the program ends before it should: one line for people, and a status for scripts.

use std::{error::Error, io, process::ExitCode};

/// The end of the program that is not its success.
#[derive(Debug)]
pub enum Failure {
    /// Nobody reads the output any more, as after `mirror | head`: an ordinary end.
    Unread,
    /// Ctrl-C before there was anything to show.
    Interrupted,
    /// What went wrong.
    Said(String),
}

impl Failure {
    /// Prints the line, if there is one, and gives the status.
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::Unread => ExitCode::SUCCESS,
            Failure::Interrupted => ExitCode::from(130),
            Failure::Said(line) => {
                eprintln!("error: {line}");
                ExitCode::FAILURE
            }
        }
    }

    /// The same, saying what was attempted.
    pub fn of(attempt: impl std::fmt::Display, error: &dyn Error) -> Self {
        Failure::Said(format!("{attempt}: {}", line(error)))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Unread,
            _ => Failure::of("writing the output", &error),
        }
    }
}

/// An error and its causes in one line, without what an outer one repeats of an inner one.
pub fn line(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = inner.source();
    }
    text.split(|c: char| c.is_control() || c.is_whitespace())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_stand_in_one_line_once() {
        let refused = io::Error::other("connection\n refused");
        assert_eq!(line(&io::Error::other(refused)), "connection refused");
        #[derive(Debug, thiserror::Error)]
        #[error("no answer")]
        struct NoAnswer(#[source] io::Error);
        assert_eq!(line(&NoAnswer(io::Error::other("refused"))), "no answer: refused");
    }
}
