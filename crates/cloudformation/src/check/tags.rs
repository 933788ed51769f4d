//! Tags that AWS refuses.

use bringup_spec::Fact;

use super::Report;
use crate::codes;

/// AWS' limit on the tags of one resource.
const MOST: usize = 50;

pub(super) fn check(report: &mut Report<'_>) {
    let request = report.request;
    let shown = request.launch.metadata.instance_tags;
    for (holder, tags) in [("launch", &request.launch.tags), ("scaling", &request.scaling.tags)] {
        for (key, value) in tags {
            let path = report.at(&[holder, "tags", key]);
            one(report, &path, key, value);
            let reaches_nodes = holder == "launch" || !key.starts_with("k8s.io/cluster-autoscaler/");
            if shown && reaches_nodes && !fits_metadata(key) {
                report.error(
                    codes::TAG_IN_METADATA,
                    &path,
                    format!("EC2 does not launch an instance that may read its tags and has a tag `{key}`"),
                    "use letters, digits and `+-=.,_:@` in the key, or write `instanceTags: false`",
                );
            }
        }
    }
    // An instance has both, and ours: its name and its cluster.
    let mut keys: std::collections::BTreeSet<&str> = request.launch.tags.keys().map(String::as_str).collect();
    keys.extend(request.scaling.tags.keys().map(String::as_str));
    keys.extend(["Name", "kubernetes.io/cluster/"]);
    if keys.len() > MOST {
        let path = report.at(&["launch", "tags"]);
        let message = format!("an instance can have {MOST} tags; with ours these are {}", keys.len());
        report.error(codes::TAG, &path, message, "take some away");
    }
    if shown {
        let path = report.at(&["launch", "metadata", "instanceTags"]);
        report.warning(
            codes::TAG_IN_METADATA,
            &path,
            format!("instances that may read their tags cannot have the tag `kubernetes.io/cluster/{}`: only the group gets it", request.cluster_name()),
            "write `instanceTags: false` if load balancers or EKS must find the instances by that tag",
        );
        return;
    }
    let read =
        request.plan.facts.iter().find_map(|fact| if let Fact::Tag(name) = fact { Some(name) } else { None });
    if let Some(name) = read {
        let path = report.at(&["launch", "metadata"]);
        let message =
            format!("the plan reads the instance's tag `{name}`, which the metadata service does not show");
        report.error(
            codes::TAGS_HIDDEN,
            &path,
            message,
            "write `metadata: {instanceTags: true}` in `launch`",
        );
    }
}

fn one(report: &mut Report<'_>, path: &bringup_yaml::Path, key: &str, value: &str) {
    let letters = |text: &str| text.chars().count();
    if key.to_ascii_lowercase().starts_with("aws:") {
        let message = format!("the tag `{key}` is AWS' own: keys may not begin with `aws:`");
        report.error(codes::TAG, path, message, "choose another key");
    } else if key.is_empty() || letters(key) > 128 {
        report.error(codes::TAG, path, "the key of a tag has 1 to 128 letters", "choose another key");
    } else if key.starts_with("kubernetes.io/cluster/") {
        let message = "the template sets the tag of the cluster itself";
        report.error(codes::TAG, path, message, "take it away");
    }
    if letters(value) > 256 {
        report.error(codes::TAG, path, "the value of a tag has at most 256 letters", "write a shorter one");
    }
}

/// Whether an instance may have such a tag while it can read its tags.
fn fits_metadata(key: &str) -> bool {
    !matches!(key, "." | ".." | "_index")
        && key.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-=.,_:@".contains(letter))
}
