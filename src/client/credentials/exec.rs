use super::{Credential, CredentialSource};
use crate::BoxError;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_client::config::{ExecConfig, ExecInteractiveMode};
use std::{
    io::IsTerminal,
    process::Stdio,
    time::{Duration, SystemTime},
};

/// An exec plugin of a kubeconfig, run again shortly before its credential expires and when the server refuses it.
///
/// kube-client parses its settings but is not left to run it: it runs the plugin anew for each request in the last
/// minute of a credential's life, twice at the start, and puts the plugin's output into its error.
pub(super) struct Exec(pub(super) ExecConfig);

#[derive(serde::Deserialize)]
struct Output {
    status: Option<Shown>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    expiration_timestamp: Option<Time>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

impl CredentialSource for Exec {
    async fn fetch(&self) -> Result<Credential, BoxError> {
        let name = self.0.command.as_deref().ok_or("the exec plugin has no command")?;
        let output = self.command(name)?.output().await.map_err(|error| format!("exec plugin {name}: {error}"))?;
        if !output.status.success() {
            return Err(format!("exec plugin {name} failed: {}", output.status).into());
        }
        let output: Output = serde_json::from_slice(&output.stdout)
            .map_err(|_| format!("exec plugin {name} printed no ExecCredential"))?;
        let shown = output.status.ok_or_else(|| format!("exec plugin {name} printed no status"))?;
        let credential = match (shown.token, shown.client_certificate_data, shown.client_key_data) {
            (token, Some(certificate), Some(key)) => Credential::certificate(certificate, key).and_bearer(token),
            (Some(token), ..) => Credential::bearer(token),
            _ => return Err(format!("exec plugin {name} printed neither a token nor a certificate").into()),
        };
        Ok(match shown.expiration_timestamp {
            Some(Time(at)) => credential.valid_for(until(SystemTime::from(at), SystemTime::now())),
            None => credential,
        })
    }
}

/// A tenth of what is left of a credential's life, at most a minute, is not used.
fn until(expiry: SystemTime, now: SystemTime) -> Duration {
    let left = expiry.duration_since(now).unwrap_or_default();
    left - (left / 10).min(Duration::from_secs(60))
}

impl Exec {
    fn command(&self, name: &str) -> Result<tokio::process::Command, BoxError> {
        let exec = &self.0;
        let terminal = std::io::stdin().is_terminal();
        let interactive = match exec.interactive_mode {
            Some(ExecInteractiveMode::Never) => false,
            Some(ExecInteractiveMode::Always) if !terminal => {
                return Err(format!("exec plugin {name} wants a terminal").into());
            }
            _ => terminal,
        };
        let info = serde_json::json!({
            "apiVersion": exec.api_version,
            "kind": "ExecCredential",
            "spec": { "interactive": interactive, "cluster": exec.cluster.as_ref().filter(|_| exec.provide_cluster_info) },
        });
        let mut command = tokio::process::Command::new(name);
        command.args(exec.args.iter().flatten()).kill_on_drop(true);
        for variable in exec.env.iter().flatten() {
            if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
                command.env(name, value);
            }
        }
        command.env("KUBERNETES_EXEC_INFO", info.to_string());
        for variable in exec.drop_env.iter().flatten() {
            command.env_remove(variable);
        }
        command.stdin(if interactive { Stdio::inherit() } else { Stdio::null() });
        command.stderr(Stdio::inherit()).stdout(Stdio::piped());
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_its_life_is_left_to_spare() {
        let now = SystemTime::now();
        for (left, used) in [(400, 360), (60_000, 54_000), (3_600_000, 3_540_000)] {
            assert_eq!(until(now + Duration::from_millis(left), now), Duration::from_millis(used));
        }
        assert_eq!(until(now - Duration::from_secs(1), now), Duration::ZERO);
    }
}
