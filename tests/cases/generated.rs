//! Data of a template, made piece by piece: a list of many megabytes never stands in memory as a whole.

use super::format::Generated;

/// The bytes of generated data in pieces: of `split` bytes each, or in whole items of some 64 KiB together.
pub fn pieces(data: &Generated, split: Option<usize>) -> impl Iterator<Item = Vec<u8>> + use<> {
    let split = split.or(data.split_bytes).map(|size| size.max(1));
    let mut items = items(data);
    let mut buffer: Vec<u8> = Vec::new();
    let mut done = false;
    std::iter::from_fn(move || {
        let size = split.unwrap_or(64 << 10);
        while buffer.len() < size && !done {
            match items.next() {
                Some(item) => buffer.extend_from_slice(item.as_bytes()),
                None => done = true,
            }
        }
        let rest = match split {
            Some(size) if buffer.len() > size => buffer.split_off(size),
            _ => Vec::new(),
        };
        let piece = std::mem::replace(&mut buffer, rest);
        (!piece.is_empty()).then_some(piece)
    })
}

fn items(data: &Generated) -> impl Iterator<Item = String> + use<> {
    let Generated { template, from, to, separator, prefix, suffix, .. } = data.clone();
    let middle = (from..=to).map(move |i| {
        let separator = if i == from { "" } else { &*separator };
        format!("{separator}{}", fill(&template, i))
    });
    [prefix].into_iter().chain(middle).chain([suffix])
}

/// Replaces `${i}` by the number and `${pad:N}` by N times x.
fn fill(template: &str, i: i64) -> String {
    let mut text = template.replace("${i}", &i.to_string());
    while let Some(start) = text.find("${pad:") {
        let Some(end) = text[start..].find('}').map(|len| start + len) else { break };
        let Ok(count) = text[start + "${pad:".len()..end].parse::<usize>() else { break };
        text.replace_range(start..=end, &"x".repeat(count));
    }
    text
}
