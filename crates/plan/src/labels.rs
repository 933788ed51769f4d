//! Labels and taints, by the rules of Kubernetes and by what kubelet may say of itself.

use std::collections::BTreeMap;

use bringup_kubelet::{LabelRefusal, label_refusal};
use bringup_spec::{Fact, Segment, Taint, Text};
use bringup_yaml::Path;
use serde_json::{Value, json};

use crate::context::Context;
use crate::{codes, network};

/// What is wrong with a qualified name such as `example.com/role`, if anything.
fn name_fault(name: &str) -> Option<String> {
    let (prefix, last) = match name.split_once('/') {
        Some((prefix, last)) => (Some(prefix), last),
        None => (None, name),
    };
    if let Some(prefix) = prefix
        && !is_subdomain(prefix)
    {
        return Some(format!(
            "its prefix `{prefix}` is no DNS name: lower-case letters, digits, `-` and `.`, at most 253"
        ));
    }
    if last.contains('/') {
        return Some("it has more than one `/`".to_owned());
    }
    if last.is_empty() {
        return Some("nothing follows its prefix".to_owned());
    }
    word_fault(last)
}

/// The rule for the last part of a name and for a value that is not empty.
fn word_fault(word: &str) -> Option<String> {
    let edge = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    if word.chars().count() > 63 {
        return Some("it is longer than 63 characters".to_owned());
    }
    let inner = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if let Some(wrong) = word.chars().find(|letter| !inner(*letter)) {
        return Some(format!("`{wrong}` is not allowed: letters, digits, `-`, `_` and `.`"));
    }
    if !edge(word.chars().next()) || !edge(word.chars().last()) {
        return Some("it must begin and end with a letter or a digit".to_owned());
    }
    None
}

fn is_subdomain(text: &str) -> bool {
    let inner = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    text.len() <= 253
        && text.split('.').all(|part| {
            part.starts_with(inner)
                && part.ends_with(inner)
                && part.chars().all(|letter| inner(letter) || letter == '-')
        })
}

/// What is wrong with the value of a label, if anything; most facts are known to fit, of the rest only the literal parts
/// can be judged.
fn value_fault(value: &Text, ipv6: bool) -> Option<String> {
    if let Some(value) = value.as_literal() {
        return if value.is_empty() { None } else { word_fault(value) };
    }
    let segments = value.segments();
    segments.iter().enumerate().find_map(|(index, segment)| match segment {
        // A fact beside it is at least one letter.
        Segment::Literal(text) => {
            let before = if index > 0 { "a" } else { "" };
            let behind = if index + 1 < segments.len() { "a" } else { "" };
            word_fault(&format!("{before}{text}{behind}"))
        }
        Segment::Fact { fact: Fact::ProviderId, .. } => {
            Some("what the node puts in for `@{providerId}` has `:` and `/` in it".to_owned())
        }
        Segment::Fact { fact: Fact::Address, .. } if ipv6 => Some(
            "what the node puts in for `@{address}` has `:` in it, as the cluster is one of IPv6".to_owned(),
        ),
        Segment::Fact { .. } => None,
    })
}

/// How a fact is written, if the value has a placeholder of a shell, of CloudFormation or of a template in it.
fn fact_meant(value: &Text) -> Option<String> {
    let texts = value.segments().iter().filter_map(|segment| match segment {
        Segment::Literal(text) => Some(text.as_str()),
        Segment::Fact { .. } => None,
    });
    let forms = [("${", "}"), ("$(", ")"), ("{{", "}}")];
    let inside = texts.into_iter().find_map(|text| {
        forms.into_iter().find_map(|(open, close)| Some(text.split_once(open)?.1.split_once(close)?.0.trim()))
    })?;
    let fact = Fact::parse(inside).map_or_else(|_| "zone".to_owned(), |fact| fact.to_string());
    Some(format!("what only the node knows is written as a fact, such as `@{{{fact}}}`"))
}

/// Why kubelet would refuse to start with this label, or the API server to take it from kubelet.
fn refusal(key: &str) -> Option<&'static str> {
    label_refusal(key).map(|refusal| match refusal {
        LabelRefusal::Restricted => {
            "labels under `node-restriction.kubernetes.io` are there to be out of a node's own reach"
        }
        LabelRefusal::NotListed => {
            "kubelet does not start with a label of its own under `kubernetes.io` or `k8s.io` that is not on its list"
        }
    })
}

/// Checks the labels of the group.
pub(crate) fn check_labels(context: &mut Context<'_>) {
    let ipv6 = network::is_ipv6(&context.spec.network);
    for (key, value) in &context.group.labels {
        let path = || context.path.key("labels").key(key.as_str());
        if let Some(fault) = name_fault(key) {
            let path = path();
            context.key_error(
                codes::LABEL_NAME,
                &path,
                format!("`{key}` is no name of a label: {fault}"),
                "write one such as `example.com/role` or `role`",
            );
        } else if let Some(why) = refusal(key) {
            let path = path();
            let instead = if key.starts_with("node-role.kubernetes.io/") {
                "set it from outside once the node has joined, with `kubectl label node` or a controller; for scheduling use a label of your own, such as `example.com/role`"
            } else {
                "use a prefix of your own, such as `example.com/`, or `node.kubernetes.io/`, or set it from outside with `kubectl label node`"
            };
            context.key_error(
                codes::LABEL_REFUSED,
                &path,
                format!("a node cannot give itself the label `{key}`: {why}"),
                instead,
            );
        }
        if let Some(fault) = value_fault(value, ipv6) {
            let path = context.path.key("labels").key(key.as_str());
            context.error(
                codes::LABEL_VALUE,
                &path,
                format!("`{value}` is no value of a label: {fault}"),
                fact_meant(value).unwrap_or_else(|| {
                    "a value has at most 63 letters, digits, `-`, `_` and `.`, and may be empty".to_owned()
                }),
            );
        }
    }
}

/// Checks the taints of the group.
pub(crate) fn check_taints(context: &mut Context<'_>) {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (index, taint) in context.group.taints.iter().enumerate() {
        let path = context.path.key("taints").index(index);
        if let Some(fault) = name_fault(&taint.key) {
            context.error(
                codes::TAINT_NAME,
                &path.key("key"),
                format!("`{}` is no name of a taint: {fault}", taint.key),
                "write one such as `example.com/gpu` or `dedicated`",
            );
        }
        if let Some(fault) = word_fault(&taint.value).filter(|_| !taint.value.is_empty()) {
            context.error(
                codes::TAINT_VALUE,
                &path.key("value"),
                format!("`{}` is no value of a taint: {fault}", taint.value),
                "a value has at most 63 letters, digits, `-`, `_` and `.`, and may be empty",
            );
        }
        if let Some(first) = seen.insert((&taint.key, taint.effect.word()), index) {
            context.error(
                codes::TAINT_DUPLICATE,
                &path,
                format!(
                    "the taint `{}` with effect `{}` is there twice; kubelet takes neither",
                    taint.key, taint.effect
                ),
                format!("keep one: the other is `taints[{first}]`"),
            );
        }
    }
}

/// Checks taints that stand in kubelet's own field, at `path`.
pub(crate) fn check_field_taints(context: &mut Context<'_>, path: &Path) {
    let ipv6 = network::is_ipv6(&context.spec.network);
    let taints = context.group.kubelet.config.get("registerWithTaints").and_then(Value::as_array);
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (index, taint) in taints.into_iter().flatten().enumerate() {
        let text = |key: &str| taint.get(key).and_then(Value::as_str);
        let place = path.index(index);
        let (key, effect) = (text("key").unwrap_or_default(), text("effect").unwrap_or_default());
        if let Some(fault) = name_fault(key) {
            let place = if taint.get("key").is_some() { place.key("key") } else { place.clone() };
            let message = format!("`{key}` is no name of a taint: {fault}");
            let hint = "write one such as `example.com/gpu` or `dedicated`";
            context.error(codes::TAINT_NAME, &place, message, hint);
        }
        if let Some(value) = text("value")
            && let Some(fault) = Text::parse(value).ok().and_then(|text| value_fault(&text, ipv6))
        {
            let message = format!("`{value}` is no value of a taint: {fault}");
            let hint = "a value has at most 63 letters, digits, `-`, `_` and `.`, and may be empty";
            context.error(codes::TAINT_VALUE, &place.key("value"), message, hint);
        }
        if effect.is_empty() {
            let message = format!("the taint `{key}` has no effect: the API server would refuse the node");
            let hint = "write `effect: NoSchedule`, `PreferNoSchedule` or `NoExecute`";
            context.error(codes::TAINT_EFFECT, &place, message, hint);
            continue;
        }
        if let Some(first) = seen.insert((key, effect), index) {
            context.error(
                codes::TAINT_DUPLICATE,
                &place,
                format!("the taint `{key}` with effect `{effect}` is there twice; kubelet takes neither"),
                format!("keep one: the other is `registerWithTaints[{first}]`"),
            );
        }
    }
}

/// The labels as `--node-labels` takes them.
pub(crate) fn labels_flag(labels: &BTreeMap<String, Text>) -> Text {
    let mut text = Text::default();
    for (key, value) in labels {
        if !text.segments().is_empty() {
            text.push_str(",");
        }
        text.push_str(key);
        text.push_str("=");
        text.push(value);
    }
    text
}

/// The taints as configurations of kubelet and kubeadm list them.
pub(crate) fn taints_as_objects(taints: &[Taint]) -> Value {
    let object =
        |taint: &Taint| json!({"key": taint.key, "value": taint.value, "effect": taint.effect.word()});
    taints.iter().map(object).collect()
}

/// The taints as `--register-with-taints` takes them.
pub(crate) fn taints_flag(taints: &[Taint]) -> String {
    let parts: Vec<String> =
        taints.iter().map(|taint| format!("{}={}:{}", taint.key, taint.value, taint.effect)).collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_kubernetes() {
        for name in ["role", "example.com/role", "a.b-c/X_y.z", "9", &"a".repeat(63)] {
            assert_eq!(name_fault(name), None, "{name}");
        }
        for name in [
            "",
            "-a",
            "a-",
            "Example.com/role",
            "example.com/",
            "/a",
            "a/b/c",
            "a b",
            "a..b/c",
            &"a".repeat(64),
        ] {
            assert!(name_fault(name).is_some(), "{name}");
        }
        assert!(name_fault(&format!("{}/a", "a.".repeat(127))).is_some());
    }

    #[test]
    fn values_may_be_empty_and_hold_facts() {
        let fault = |text: &str| value_fault(&Text::parse(text).unwrap(), false);
        assert!(fault("@{providerId}").is_some());
        assert_eq!(fault("@{address}"), None);
        assert!(value_fault(&Text::parse("@{address}").unwrap(), true).is_some());
        assert_eq!(fault(""), None);
        assert_eq!(fault("gpu-@{zone}"), None);
        assert_eq!(fault("@{instanceType}"), None);
        assert_eq!(fault(&format!("{}@{{zone}}", "a".repeat(62))), None);
        let long = fault(&format!("{}@{{zone}}", "b".repeat(63)));
        assert_eq!(long.as_deref(), Some("it is longer than 63 characters"));
        assert!(fault("-@{zone}").is_some() && fault("@{zone}-").is_some());
        assert!(fault("gpu @{zone}").is_some());
        assert!(fault("-gpu").is_some());
        assert!(fault(&"a".repeat(64)).is_some());
    }

    #[test]
    fn flags_are_sorted_and_keep_empty_values() {
        let labels = BTreeMap::from([
            ("b".to_owned(), Text::literal("2")),
            ("a".to_owned(), Text::parse("@{zone}").unwrap()),
        ]);
        assert_eq!(labels_flag(&labels).to_string(), "a=@{zone},b=2");
        let taint =
            Taint { key: "k".into(), value: String::new(), effect: bringup_spec::TaintEffect::NoExecute };
        assert_eq!(taints_flag(&[taint]), "k=:NoExecute");
    }
}
