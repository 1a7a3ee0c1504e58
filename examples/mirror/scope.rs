//! Which part of which cluster, on the command line.

use std::{path::PathBuf, time::Duration};

/// What is asked of whom.
#[derive(Clone, Debug, clap::Args)]
pub struct Scope {
    /// Mirror a real cluster, that of the kubeconfig's current context, not the server in this process
    #[arg(long)]
    cluster: bool,
    /// Mirror the cluster of this context
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// Mirror the cluster of this kubeconfig file
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Only this namespace [default: the context's; all of the server in this process]
    #[arg(short, long, value_name = "NAME", conflicts_with = "all_namespaces")]
    pub namespace: Option<String>,
    /// All namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Only objects with these labels, such as `app=cart,tier!=test`
    #[arg(short = 'l', long, value_name = "LABELS")]
    pub selector: Option<String>,
    /// Only objects with these fields, such as `spec.nodeName=node-1`
    #[arg(long, value_name = "FIELDS")]
    pub field_selector: Option<String>,
    /// How long to wait for the server, and for a mirror that is printed once
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub timeout: Duration,
    /// How many objects to list at a time [default: 500; 40 of the server in this process]
    #[arg(long, value_name = "NUMBER")]
    pub page_size: Option<u32>,
}

impl Scope {
    /// Whether a real cluster is asked for.
    pub fn is_cluster(&self) -> bool {
        self.cluster || self.context.is_some() || self.kubeconfig.is_some()
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix('s').unwrap_or(text);
    let parsed = number.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    parsed.filter(|wait| !wait.is_zero()).ok_or_else(|| "a number of seconds above 0 is needed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_seconds() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(seconds("5s"), Ok(Duration::from_secs(5)));
        assert!(["0", "-1", "soon", "nan", "inf"].iter().all(|text| seconds(text).is_err()));
    }
}
