//! What the name of an instance type tells, and what else AWS' own names tell.

pub(crate) use bringup_aws::partition::{
    looks_like_region, partition_named, partition_names, partition_of, regions, registry_account,
};
use bringup_spec::Architecture;

/// The processor of an instance type, where its family's name tells: Graviton families have a `g` after their
/// generation, all other families but the Macs are x86.
pub(crate) fn architecture_of(instance_type: &str) -> Option<Architecture> {
    let (family, _) = instance_type.split_once('.')?;
    if family == "a1" {
        return Some(Architecture::Aarch64);
    }
    if family.starts_with("mac") {
        return None;
    }
    let letters = family.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let attributes = letters.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let attributes = attributes.split_once('-').map_or(attributes, |(attributes, _)| attributes);
    // `g4dn` is a family of graphics cards: the letter that counts stands after the number.
    Some(if attributes.contains('g') { Architecture::Aarch64 } else { Architecture::X86_64 })
}

/// Whether a text is an id of the kind that begins so.
pub(crate) fn is_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|id| {
        matches!(id.len(), 8 | 17) && id.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Whether a text is the ARN of a role.
pub(crate) fn is_role(text: &str) -> bool {
    let parts: Vec<&str> = text.splitn(6, ':').collect();
    matches!(parts.as_slice(), ["arn", partition, "iam", "", account, role]
        if partition_named(partition).is_some()
            && account.len() == 12
            && account.bytes().all(|digit| digit.is_ascii_digit())
            && role.strip_prefix("role/").is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graviton_is_seen_in_the_name() {
        for name in [
            "a1.large",
            "m6g.large",
            "c7gn.xlarge",
            "t4g.nano",
            "g5g.xlarge",
            "im4gn.large",
            "is4gen.large",
            "x2gd.large",
            "hpc7g.4xlarge",
            "r8gb.large",
            "i8ge.large",
        ] {
            assert_eq!(architecture_of(name), Some(Architecture::Aarch64), "{name}");
        }
        for name in [
            "m5.large",
            "g4dn.xlarge",
            "g5.xlarge",
            "gr6.4xlarge",
            "p4d.24xlarge",
            "c7i-flex.large",
            "u-6tb1.metal",
            "trn1.2xlarge",
            "inf2.xlarge",
            "dl2q.24xlarge",
            "x8aedz.large",
        ] {
            assert_eq!(architecture_of(name), Some(Architecture::X86_64), "{name}");
        }
        assert_eq!(architecture_of("mac2.metal"), None);
    }
}
