//! The table against compiled code, which shares nothing with the program that reads the table from source.
//!
//! `compiled/MINOR.fields` is `tools/strict-decode/run MINOR --fields`: reflection over the types of `k8s.io/kubelet`.
//! `compiled/MINOR.flags` is `tools/kubelet-flags/run MINOR.PATCH`: the flag set that kubelet's own options fill. Both are sorted.

use bringup_kubelet::{Minor, fields, flags};

#[test]
fn fields_are_those_that_reflection_finds() {
    for (minor, text, count) in [
        (20, include_str!("compiled/20.fields"), 109),
        (27, include_str!("compiled/27.fields"), 146),
        (37, include_str!("compiled/37.fields"), 165),
    ] {
        let ours: Vec<&str> = fields(Minor(minor)).map(|field| field.name).collect();
        assert_eq!(ours, text.lines().collect::<Vec<_>>(), "1.{minor}");
        assert_eq!(ours.len(), count, "1.{minor}");
    }
}

#[test]
fn flags_and_their_deprecation_are_those_of_the_compiled_set() {
    for (minor, text, count) in [
        (20, include_str!("compiled/20.flags"), 184),
        (24, include_str!("compiled/24.flags"), 164),
        (30, include_str!("compiled/30.flags"), 154),
        (37, include_str!("compiled/37.flags"), 131),
    ] {
        let ours: Vec<String> = flags(Minor(minor))
            .map(|flag| format!("{}\t{}", flag.name, flag.deprecated.map_or("-", |_| "deprecated")))
            .collect();
        assert_eq!(ours, text.lines().collect::<Vec<_>>(), "1.{minor}");
        assert_eq!(ours.len(), count, "1.{minor}");
    }
}
