//! What the command line says.

use super::scope::Scope;
use clap::{ArgAction, Parser, ValueEnum};

/// A live mirror of one resource of a Kubernetes API server.
///
/// Without a cluster it starts an API server in this process, fills it and keeps changing it.
#[derive(Clone, Debug, Parser)]
#[command(name = "mirror", max_term_width = 100)]
pub struct Args {
    /// What to mirror: plural, short name or kind, if need be with its group, such as `deployments.apps`
    #[arg(default_value = "pods")]
    pub resource: String,
    #[command(flatten)]
    pub scope: Scope,
    /// How to print
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
    /// Print what is mirrored once it is complete, and end
    #[arg(long)]
    pub once: bool,
    /// How to show what changes [default: the full screen on a terminal, unless --output json or -v]
    #[arg(long, value_enum, value_name = "HOW", conflicts_with = "once")]
    pub view: Option<Shown>,
    /// Show traces on standard error: -v debug, -vv all
    #[arg(short, action = ArgAction::Count)]
    pub verbose: u8,
}

/// How objects are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One line for each object or change
    Table,
    /// With --once a list, else one JSON document per line for each change
    Json,
}

/// How what changes is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shown {
    /// Objects, rate, state and errors on the whole terminal, to be filtered as you type
    Full,
    /// One line after the other
    Lines,
}

impl Args {
    /// Whether the full screen is to be shown; `interactive` is whether input and output are a terminal.
    ///
    /// # Errors
    ///
    /// It is asked for where it cannot be.
    pub fn full_screen(&self, interactive: bool) -> Result<bool, &'static str> {
        match self.view {
            Some(Shown::Full) if self.output == Format::Json => Err("--view full shows no JSON"),
            Some(Shown::Full) if self.verbose > 0 => Err("traces would tear the full screen: -v needs --view lines"),
            Some(Shown::Full) if !interactive => Err("--view full needs a terminal"),
            Some(shown) => Ok(shown == Shown::Full),
            None => Ok(interactive && !self.once && self.output == Format::Table && self.verbose == 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_and_kubeconfigs_mean_a_cluster() {
        let cluster = |line: &str| Args::parse_from(line.split(' ')).scope.is_cluster();
        assert!(!cluster("mirror pods --once"));
        assert!(cluster("mirror --cluster pods -A"));
        assert!(cluster("mirror --context prod"));
        assert!(cluster("mirror --kubeconfig some/file po -n shop"));
    }

    #[test]
    fn the_full_screen_is_for_terminals() {
        let full = |line: &str, interactive| Args::parse_from(line.split(' ')).full_screen(interactive);
        assert_eq!(full("mirror", true), Ok(true));
        assert_eq!(full("mirror", false), Ok(false));
        assert_eq!(full("mirror --view lines", true), Ok(false));
        for line in ["mirror --once", "mirror -v", "mirror -o json"] {
            assert_eq!(full(line, true), Ok(false), "{line}");
        }
        assert!(full("mirror --view full", false).is_err());
        assert!(full("mirror --view full -o json", true).is_err());
        assert!(full("mirror --view full -v", true).is_err());
        assert!(Args::try_parse_from("mirror --once --view full".split(' ')).is_err());
    }
}
