use std::time::{Duration, SystemTime};

/// How long to wait by a `Retry-After` header: seconds, or a date (IMF-fixdate, the only form still in use).
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds)).filter(|wait| !wait.is_zero());
    }
    date(value)?.duration_since(now).ok()
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`
fn date(value: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, rest) = value.split_once(", ")?;
    let mut parts = rest.strip_suffix(" GMT")?.split([' ', ':']);
    let day: u64 = number(parts.next()?, 1..=31)?;
    let month = parts.next()?;
    let month = 1 + MONTHS.iter().position(|name| *name == month)? as u64;
    let year = number(parts.next()?, 1970..=9999)?;
    let seconds =
        number(parts.next()?, 0..=23)? * 3600 + number(parts.next()?, 0..=59)? * 60 + number(parts.next()?, 0..=60)?;
    if parts.next().is_some() {
        return None;
    }
    // Days since 1970-03-01 of a calendar whose years begin in March, so that leap days come last.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = |y: u64| y * 365 + y / 4 - y / 100 + y / 400;
    // That March is 59 days after 1970-01-01.
    let since_epoch = (days(y) + (153 * m + 2) / 5 + day - 1 + 59).checked_sub(days(1970))?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since_epoch * 86_400 + seconds))
}

fn number(text: &str, within: std::ops::RangeInclusive<u64>) -> Option<u64> {
    text.parse().ok().filter(|n| within.contains(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn seconds_are_seconds() {
        assert_eq!(retry_after(" 17 ", at(0)), Some(Duration::from_secs(17)));
        for none in ["0", "", "-1", "1.5", "soon"] {
            assert_eq!(retry_after(none, at(0)), None, "{none}");
        }
    }

    #[test]
    fn dates_are_counted_from_now() {
        let cases = [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
            ("Sat, 01 Jan 2000 00:00:00 GMT", 946_684_800),
            ("Sun, 29 Nov 2026 12:00:00 GMT", 1_795_953_600),
            ("Thu, 01 Jan 1970 00:00:10 GMT", 10),
        ];
        for (text, seconds) in cases {
            assert_eq!(retry_after(text, at(seconds - 5)), Some(Duration::from_secs(5)), "{text}");
            assert_eq!(retry_after(text, at(seconds + 5)), None, "{text} is over");
        }
        for none in
            ["Sun, 06 Nov 1994 08:49:37", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", ", GMT"]
        {
            assert_eq!(retry_after(none, at(0)), None, "{none}");
        }
    }
}
