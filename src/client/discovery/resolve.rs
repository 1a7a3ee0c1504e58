use super::Discovered;

/// How a word may name a resource, the strongest first.
const WAYS: [fn(&Discovered, &str) -> bool; 4] = [
    |found, word| found.resource.plural.eq_ignore_ascii_case(word),
    |found, word| found.singular.eq_ignore_ascii_case(word),
    |found, word| found.resource.kind.eq_ignore_ascii_case(word),
    |found, word| found.short_names.iter().any(|name| name.eq_ignore_ascii_case(word)),
];
/// So many close names are told.
const TOLD: usize = 5;

/// The resource that a word means, or those whose names are close to it.
pub(super) fn resolve(resources: &[Discovered], word: &str) -> Result<Discovered, Vec<String>> {
    let (name, place) = match word.split_once('.') {
        Some((name, place)) => (name, Some(place)),
        None => (word, None),
    };
    let placed = || resources.iter().filter(|found| place.is_none_or(|place| is_at(found, place)));
    let named = WAYS.iter().find_map(|is_named| placed().find(|found| is_named(found, name)));
    named.cloned().ok_or_else(|| close_to(resources, name))
}

/// Whether the resource is of this `group`, `version.group`, or `version` of the core group.
fn is_at(found: &Discovered, place: &str) -> bool {
    let (group, version) = (&found.resource.group, &found.resource.version);
    let with_version = place.strip_prefix(&**version).is_some_and(|rest| match rest.strip_prefix('.') {
        Some(rest) => rest == group,
        None => rest.is_empty() && group.is_empty(),
    });
    place == group || with_version
}

fn close_to(resources: &[Discovered], name: &str) -> Vec<String> {
    let name = name.to_ascii_lowercase();
    let distance = |found: &Discovered| {
        let kind = found.resource.kind.to_ascii_lowercase();
        let names = [&*found.resource.plural, &*found.singular, &*kind];
        let names = names.into_iter().chain(found.short_names.iter().map(|short| &**short));
        names.filter(|other| !other.is_empty()).map(|other| edits(&name, other)).min().unwrap_or(usize::MAX)
    };
    let mut close: Vec<_> = resources.iter().map(|found| (distance(found), found.full_name())).collect();
    // Of short words nearly everything is two edits away.
    close.retain(|(edits, _)| *edits <= (name.chars().count() / 3).clamp(1, 3));
    close.sort();
    close.dedup_by(|a, b| a.1 == b.1);
    close.into_iter().map(|(_, name)| name).take(TOLD).collect()
}

/// How many characters are to be put in, left out, replaced or swapped with their neighbour.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_core::ApiResource;

    fn found(group: &str, version: &str, kind: &str, plural: &str, short_names: &[&str]) -> Discovered {
        let api_version = format!("{group}/{version}");
        let [group, version, kind, plural] = [group, version, kind, plural].map(str::to_owned);
        Discovered {
            singular: kind.to_lowercase(),
            resource: ApiResource { group, version, api_version, kind, plural },
            namespaced: true,
            short_names: short_names.iter().map(|name| (*name).to_owned()).collect(),
            verbs: Vec::new(),
        }
    }

    fn resolved(word: &str) -> Result<String, Vec<String>> {
        let resources = [
            found("", "v1", "Pod", "pods", &["po"]),
            found("", "v1", "Event", "events", &["ev"]),
            found("apps", "v1", "Deployment", "deployments", &["deploy"]),
            found("events.k8s.io", "v1", "Event", "events", &["ev"]),
            found("shop.example", "v1", "Cart", "carts", &[]),
            found("shop.example", "v1beta1", "Cart", "carts", &[]),
            found("shop.example", "v1", "Po", "pox", &[]),
        ];
        resolve(&resources, word).map(|found| format!("{} {}", found.resource.version, found.full_name()))
    }

    #[test]
    fn a_word_is_a_plural_a_singular_a_kind_or_a_short_name() {
        for word in ["deployments", "deployment", "Deployment", "DEPLOY", "deploy.apps", "deployments.v1.apps"] {
            assert_eq!(resolved(word).unwrap(), "v1 deployments.apps", "{word}");
        }
        assert_eq!(resolved("po").unwrap(), "v1 pox.shop.example", "a singular before a short name");
    }

    #[test]
    fn the_first_group_and_version_hold_unless_one_is_named() {
        assert_eq!(resolved("events").unwrap(), "v1 events");
        assert_eq!(resolved("events.events.k8s.io").unwrap(), "v1 events.events.k8s.io");
        assert_eq!(resolved("cart").unwrap(), "v1 carts.shop.example");
        assert_eq!(resolved("cart.v1beta1.shop.example").unwrap(), "v1beta1 carts.shop.example");
        assert_eq!(resolved("pods.v1").unwrap(), "v1 pods");
        assert_eq!(resolved("pods.v1.").unwrap(), "v1 pods", "as kubectl writes it");
    }

    #[test]
    fn a_version_alone_is_the_core_groups_and_whole() {
        for word in ["carts.v1", "pods.v1beta1", "cart.v1beta1x.shop.example", "pods.v1.apps"] {
            assert!(resolved(word).is_err(), "{word}");
        }
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is_close() {
        let close = |word: &str| resolved(word).unwrap_err();
        assert_eq!(close("pdos"), ["pods"]);
        assert_eq!(close("deploymnet"), ["deployments.apps"]);
        assert!(close("zebra").is_empty());
        assert_eq!(close("deployments.nope"), ["deployments.apps"]);
        for odd in ["", ".", "..", "é", "a.b.c.d"] {
            close(odd);
        }
    }
}
