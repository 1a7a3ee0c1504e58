//! What a case finds around it: files, and for a process of its own the environment and the working directory.

use super::{
    exec_plugin,
    format::{Case, Setup},
    server::Listeners,
    tls,
};
use std::{
    env, fs, io,
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

/// A temporary root under which the case's paths are mapped. Removed when dropped.
pub struct Ground {
    root: PathBuf,
    /// Host and port.
    server: String,
    /// From `auth.token_file`, or the one of that name in the files.
    pub token_file: Option<PathBuf>,
    /// What the exec plugin prints, and counts its runs beside.
    pub plugin: Option<PathBuf>,
    /// The files of the setup that look like kubeconfigs, in order.
    kubeconfigs: Vec<PathBuf>,
    /// The CA of a service account.
    ca: Option<PathBuf>,
}

impl Setup {
    /// The environment and the working directory belong to a whole process.
    pub fn needs_process(&self) -> bool {
        !self.files.0.is_empty() || !self.env.0.is_empty() || self.cwd.is_some()
    }
}

impl Ground {
    /// Makes the files.
    pub fn lay(case: &Case, listeners: &Listeners) -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = env::temp_dir().join(format!("listwatch-cases-{}-{count}", std::process::id()));
        let mut ground = Ground {
            root,
            server: listeners.address(0).to_string(),
            token_file: None,
            plugin: None,
            kubeconfigs: Vec::new(),
            ca: None,
        };
        fs::create_dir_all(&ground.root)?;
        let setup = &case.setup;
        for (path, content) in &setup.files.0 {
            let is_kubeconfig = ["clusters", "contexts"].iter().all(|part| content.contains(part));
            let mapped = ground.map(path, setup);
            ground.write(&mapped, &ground.fill(content, listeners, setup))?;
            match mapped.file_name().and_then(|name| name.to_str()) {
                Some("token") => ground.token_file = Some(mapped.clone()),
                Some("ca.crt") => ground.ca = Some(mapped.clone()),
                _ => {}
            }
            if is_kubeconfig {
                ground.kubeconfigs.push(mapped);
            }
        }
        if let Some(token) = &setup.auth.token_file {
            let path = ground.root.join("token");
            ground.write(&path, token)?;
            ground.token_file = Some(path);
        }
        if let Some(credentials) = &setup.auth.exec_plugin {
            let path = ground.root.join("plugin/credentials");
            let lines = credentials.iter().map(|credential| {
                let expires = credential.expires_in_ms.map_or(String::new(), |wait| wait.as_millis().to_string());
                format!("{} {expires}\n", credential.token)
            });
            ground.write(&path, &lines.collect::<String>())?;
            ground.plugin = Some(path);
        }
        Ok(ground)
    }

    /// Sets the environment and the working directory of this process, which must be the case's own.
    pub fn enter(&self, case: &Case, listeners: &Listeners) -> io::Result<()> {
        let setup = &case.setup;
        for name in ["KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"] {
            set(name, None);
        }
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
            set(name, None);
            set(&name.to_lowercase(), None);
        }
        set("HOME", Some(self.map("/nobody", setup).as_os_str()));
        for (name, value) in &setup.env.0 {
            let value = self.fill(value, listeners, setup);
            set(name, Some(self.map_all(&value, setup).as_ref()));
        }
        // Where nothing points to the kubeconfig, it is the one in the files.
        if let Some(first) = self.kubeconfigs.first()
            && !setup.env.0.iter().any(|(name, _)| matches!(&**name, "KUBECONFIG" | "HOME"))
        {
            set("KUBECONFIG", Some(first.as_os_str()));
        }
        if let Some(cwd) = &setup.cwd {
            let cwd = self.map(cwd, setup);
            fs::create_dir_all(&cwd)?;
            env::set_current_dir(cwd)?;
        }
        Ok(())
    }

    /// Whether the case brings kubeconfigs of its own.
    pub fn has_kubeconfig(&self) -> bool {
        !self.kubeconfigs.is_empty()
    }

    /// A kubeconfig for a case that has none of its own. A service account's files have their place in a pod, which
    /// cannot be mapped, so they are named here.
    pub fn kubeconfig(&self, tls: bool, prefix: &str) -> io::Result<PathBuf> {
        let scheme = if tls { "https" } else { "http" };
        let mut cluster = serde_json::json!({ "server": format!("{scheme}://{}{prefix}", self.server) });
        match &self.ca {
            Some(path) if tls => cluster["certificate-authority"] = path.to_string_lossy().into(),
            None if tls => {
                self.write(&self.root.join("ca.pem"), tls::CA)?;
                cluster["certificate-authority"] = "ca.pem".into();
            }
            _ => {}
        }
        let mut user = serde_json::json!({});
        if let Some(path) = &self.token_file {
            user["tokenFile"] = path.to_string_lossy().into();
        }
        if let Some(file) = &self.plugin {
            user["exec"] = serde_json::json!({
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": env::current_exe()?.to_string_lossy(),
                "args": [exec_plugin::ARGUMENT, file.to_string_lossy()],
                "interactiveMode": "Never",
            });
        }
        let config = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": "c", "cluster": cluster }],
            "users": [{ "name": "u", "user": user }],
            "contexts": [{ "name": "x", "context": { "cluster": "c", "user": "u" } }],
            "current-context": "x",
        });
        let path = self.root.join("kubeconfig");
        self.write(&path, &config.to_string())?;
        Ok(path)
    }

    fn write(&self, path: &Path, content: &str) -> io::Result<()> {
        fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
        fs::write(path, content)?;
        #[cfg(unix)]
        if content.starts_with("#!") {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    }

    /// A path of the case under the temporary root; a relative one is one from its working directory.
    fn map(&self, path: &str, setup: &Setup) -> PathBuf {
        let whole = Path::new("/").join(setup.cwd.as_deref().unwrap_or_default()).join(path);
        let inside = whole.components().filter(|part| matches!(part, Component::Normal(_)));
        inside.fold(self.root.clone(), |path, part| path.join(part))
    }

    /// A list of paths, such as KUBECONFIG's; anything else is left alone.
    fn map_all(&self, value: &str, setup: &Setup) -> String {
        if !value.starts_with('/') {
            return value.to_owned();
        }
        let root = self.root.to_string_lossy();
        let paths = value.split(':').map(|path| match path {
            "" => String::new(),
            path if path.starts_with(&*root) => path.to_owned(),
            path => self.map(path, setup).to_string_lossy().into_owned(),
        });
        paths.collect::<Vec<_>>().join(":")
    }

    /// Fills in the servers, and maps the paths of the case's own files.
    fn fill(&self, text: &str, listeners: &Listeners, setup: &Setup) -> String {
        let mut text = text
            .replace("${SERVER}", &listeners.address(0).to_string())
            .replace("${SERVER_A}", &listeners.address(0).to_string())
            .replace("${SERVER_B}", &listeners.address(1).to_string())
            .replace("${SERVER_CA}", tls::CA);
        for (path, _) in setup.files.0.iter().filter(|(path, _)| path.starts_with('/')) {
            text = replace_path(&text, path, &self.map(path, setup).to_string_lossy());
        }
        text
    }
}

/// Replaces a path where it stands as a whole, not as a part of another one.
fn replace_path(text: &str, path: &str, by: &str) -> String {
    let goes_on = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let mut parts = text.split(path).peekable();
    let mut out = String::new();
    while let Some(part) = parts.next() {
        out.push_str(part);
        if let Some(next) = parts.peek() {
            let is_whole = !out.ends_with(goes_on) && !next.starts_with(goes_on);
            out.push_str(if is_whole { by } else { path });
        }
    }
    out
}

impl Drop for Ground {
    fn drop(&mut self) {
        // A left-over in the temporary folder is no failure of a case.
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn set(name: &str, value: Option<&std::ffi::OsStr>) {
    // SAFETY: called by the process of one case before it starts a thread.
    #[expect(unsafe_code, reason = "the environment of a process is set before its threads are")]
    match value {
        Some(value) => unsafe { env::set_var(name, value) },
        None => unsafe { env::remove_var(name) },
    }
}
