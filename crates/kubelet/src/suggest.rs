//! Did you mean: the nearest known name to one that is not known.

/// The nearest of `candidates`, if it is near enough to be what was meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(name);
    // A third of the letters wrong is a typo; more is another word.
    let limit = (wanted.len() / 3).clamp(1, 4);
    candidates
        .filter_map(|candidate| {
            let known = folded(candidate);
            // Names of other lengths differ by that much at least, and an unknown name may be of any length.
            let near = known.len().abs_diff(wanted.len()) <= limit;
            near.then(|| (distance(&wanted, &known), candidate))
        })
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, candidate)| (*distance, *candidate))
        .map(|(_, candidate)| candidate)
}

/// Case and separators are what people get wrong first: they cost nothing.
pub(crate) fn folded(name: &str) -> Vec<char> {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// Edit distance with transposition of neighbours (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut previous = None;
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        let mut left = None;
        for (j, &y) in b.iter().enumerate() {
            let get = |cells: &[usize], at: usize| cells.get(at).copied().unwrap_or(usize::MAX / 2);
            let mut cost =
                (get(&last, j) + usize::from(x != y)).min(get(&last, j + 1) + 1).min(get(&row, j) + 1);
            if j > 0 && previous == Some(y) && left == Some(x) {
                cost = cost.min(get(&before, j - 1) + 1);
            }
            row.push(cost);
            left = Some(y);
        }
        before = std::mem::replace(&mut last, row);
        previous = Some(x);
    }
    last.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(a: &str, b: &str) -> usize {
        distance(&folded(a), &folded(b))
    }

    #[test]
    fn distances_count_edits_and_swaps() {
        assert_eq!(edits("", ""), 0);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", ""), 3);
        assert_eq!(edits("maxPods", "maxpods"), 0);
        assert_eq!(edits("max-pods", "maxPods"), 0);
        assert_eq!(edits("maxPosd", "maxPods"), 1);
        assert_eq!(edits("maxPod", "maxPods"), 1);
        assert_eq!(edits("kitten", "sitting"), 3);
    }

    #[test]
    fn a_far_name_is_not_suggested() {
        let known = ["maxPods", "podPidsLimit"];
        assert_eq!(nearest("maxPosd", known.into_iter()), Some("maxPods"));
        assert_eq!(nearest("hostNetwork", known.into_iter()), None);
        assert_eq!(nearest("", known.into_iter()), None);
    }

    #[test]
    fn a_name_of_megabytes_is_near_to_nothing_and_costs_nothing() {
        assert_eq!(nearest(&"x".repeat(1 << 20), (0..1000).map(|_| "maxPods")), None);
    }
}
