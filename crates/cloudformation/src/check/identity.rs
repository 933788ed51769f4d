//! Role, instance profile and access entry.

use super::Report;
use crate::codes;
use crate::write::statements;

pub(super) fn check(report: &mut Report<'_>) {
    let request = report.request;
    let role = &request.launch.role;
    let path = report.at(&["launch", "role"]);
    for (index, policy) in role.policies.iter().enumerate() {
        if !policy.starts_with("arn:") {
            let message = format!("`{policy}` is no ARN of a policy");
            let hint = "write one such as `arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore`";
            report.error(codes::MALFORMED, &path.key("policies").index(index), message, hint);
        }
    }
    if let Some(arn) = &role.arn
        && !(arn.starts_with("arn:") && arn.contains(":role/"))
    {
        let message = format!("`{arn}` is no ARN of a role");
        report.error(
            codes::MALFORMED,
            &path.key("arn"),
            message,
            "write one such as `arn:aws:iam::111122223333:role/nodes`",
        );
    }
    if request.makes_role() {
        if role.arn.is_some() {
            report.error(
                codes::ROLE,
                &path.key("arn"),
                "the template makes a role of its own: `arn` would name another one",
                "add the `instanceProfile` of that role, or take `arn` away",
            );
        }
        return;
    }
    if !role.policies.is_empty() {
        report.error(
            codes::ROLE,
            &path.key("policies"),
            "the template makes no role that could get these policies: the instance profile is there already",
            "attach them to the role of the instance profile, and take `policies` away",
        );
    }
    if request.is_eks() && role.access_entry && role.arn.is_none() {
        report.error(
            codes::ROLE,
            &path,
            "the access entry needs the ARN of the role of the instance profile",
            "add `arn: arn:aws:iam::ACCOUNT:role/NAME`, or `accessEntry: false` if the nodes may join already",
        );
    }
    let actions: Vec<&str> =
        statements(request).iter().flat_map(|statement| statement.actions.clone()).collect();
    if !actions.is_empty() {
        report.note(
            codes::PERMISSIONS,
            &path.key("instanceProfile"),
            format!("the role of this instance profile must allow {}", quoted(&actions)),
            "attach a policy that does; the template cannot",
        );
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
