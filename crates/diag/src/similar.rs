//! "Did you mean": the nearest of the words that would have been right.

/// The candidate nearest to `word`, if one is near enough to be a slip of the fingers.
///
/// Case and dashes are forgiven first; then at most a third of the letters may differ (swaps of neighbours count once).
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = folded(word);
    let limit = (plain.len() / 3).max(1);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = folded(candidate);
            // Words of other lengths differ by that much at least; the word may be a whole line of somebody's data.
            let near = other.len().abs_diff(plain.len()) <= limit;
            near.then(|| (distance(&plain, &other), candidate))
        })
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

fn folded(word: &str) -> Vec<char> {
    word.chars().filter(|letter| !matches!(letter, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// Optimal string alignment distance.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, left) in one.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, right) in other.iter().enumerate() {
            let replaced = above[column] + usize::from(left != right);
            let mut best = replaced.min(above[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *left == other[column - 1] && one[row - 1] == *right {
                best = best.min(before[column - 1] + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut above, current);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_slip_is_recognised_and_a_different_word_is_not() {
        let words = ["nodeGroups", "network", "kubernetes", "kubelet"];
        assert_eq!(closest("nodegroup", words), Some("nodeGroups"));
        assert_eq!(closest("node-groups", words), Some("nodeGroups"));
        assert_eq!(closest("kubeelt", words), Some("kubelet"));
        assert_eq!(closest("banana", words), None);
    }

    #[test]
    fn a_word_of_megabytes_is_near_to_nothing_and_costs_nothing() {
        let candidates = (0..1000).map(|_| "kubelet");
        assert_eq!(closest(&"{\"ignition\":".repeat(100_000), candidates), None);
    }
}
