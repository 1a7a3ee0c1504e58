use tokio::time::Instant;

/// The peak of the process's memory so far, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").trim().parse().ok()).unwrap_or(0)
}

/// User and system time of the process, in milliseconds (100 ticks a second).
pub(crate) fn cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    (ticks(11) + ticks(12)) * 10 // after the name: the state, then utime as the 12th and stime as the 13th
}

pub(crate) fn report(phase: &str, start: Instant, extra: &str) {
    let t_ms = start.elapsed().as_secs_f64() * 1e3;
    println!("phase={phase} t_ms={t_ms:.1} cpu_ms={} hwm_kib={} {extra}", cpu_ms(), peak_kib());
}
