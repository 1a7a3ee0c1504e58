//! A folder for the files of one test.

use std::path::{Path, PathBuf};

/// Removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("listwatch-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A kubeconfig with one context, `x`, of a cluster and a user in YAML's flow style.
    pub fn kubeconfig(&self, cluster: &str, user: &str) -> PathBuf {
        self.write("config", &kubeconfig(cluster, user))
    }
}

pub fn kubeconfig(cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: x\n\
         clusters: [{{name: c, cluster: {{{cluster}}}}}]\n\
         contexts: [{{name: x, context: {{cluster: c, user: u, namespace: shop}}}}]\n\
         users: [{{name: u, user: {{{user}}}}}]\n"
    )
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
