//! How much memory this process holds.

/// Bytes of it in RAM, where the system says so in `/proc`.
pub fn resident() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// As people read it.
pub fn human(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64)
}

fn parse(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_linux_says_it() {
        assert_eq!(parse("Name:\tmirror\nVmRSS:\t    2048 kB\nThreads:\t3\n"), Some(2 << 20));
        assert_eq!(parse("Name:\tmirror\n"), None);
        assert_eq!(human(2_621_440), "2.5 MiB");
    }
}
