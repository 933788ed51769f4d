//! Scripts put together from constructs, the same ones for the same seed.

use crate::constructs::{CALLS, CONSTRUCTS, HEADS};

/// A small generator of numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        // The constants are Knuth's; the upper bits are the better ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// The names of a head, some constructs and a call.
pub(crate) fn chosen(seed: u64) -> Vec<&'static str> {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    numbers.below(2);
    let mut names = vec![HEADS[numbers.below(HEADS.len())].0];
    for _ in 0..=numbers.below(5) {
        // Each comes first in some script.
        let index =
            if names.len() == 1 { usize::try_from(seed).unwrap() } else { numbers.below(CONSTRUCTS.len()) };
        let name = CONSTRUCTS[index % CONSTRUCTS.len()].0;
        // A log that is begun twice has two writers.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.push(CALLS[numbers.below(CALLS.len())].0);
    names
}

/// The script that names stand for: all that comes before the call, the call, and all that comes behind it.
pub(crate) fn script(names: &[&str]) -> String {
    let found = |name: &&str| CONSTRUCTS.iter().find(|construct| construct.0 == *name);
    let head = names
        .iter()
        .find_map(|name| HEADS.iter().find(|head| head.0 == *name))
        .map_or("#!/bin/bash", |head| head.1);
    let call = names.iter().find_map(|name| CALLS.iter().find(|call| call.0 == *name)).unwrap_or(&CALLS[0]);
    let mut lines = vec![head];
    lines.extend(names.iter().filter_map(found).map(|construct| construct.1));
    lines.push(call.1);
    lines.extend(names.iter().filter_map(found).map(|construct| construct.2));
    lines.retain(|line| !line.is_empty());
    format!("{}\n", lines.join("\n"))
}

/// The fewest of the names with which something still holds.
pub(crate) fn shrunk(mut names: Vec<&'static str>, holds: impl Fn(&[&str]) -> bool) -> Vec<&'static str> {
    'again: loop {
        for index in 0..names.len() {
            let mut fewer = names.clone();
            fewer.remove(index);
            if holds(&fewer) {
                names = fewer;
                continue 'again;
            }
        }
        return names;
    }
}
