//! kubelet's command line.

use std::collections::BTreeMap;
use std::net::IpAddr;

use bringup_diag::Finding;
use bringup_kubelet::{Lookup, Minor, OLDEST, flag, obsolete_flag_value};
use bringup_spec::{Fact, ImageProgram, JoinMethod, NodeNamePolicy, RuntimeName, Segment, Text};

use super::config::{WITH_PROVIDER_ID, provider_id};
use super::reserved::flag_instead;
use crate::context::Context;
use crate::decisions::{Decisions, EXTERNAL_CLOUD_PROVIDER};
use crate::{Origin, codes, labels, software};

/// Flags by name, without dashes.
pub(crate) type Flags = BTreeMap<String, Text>;

/// What the operator and the platform decide, whoever starts kubelet.
pub(crate) fn common(context: &mut Context<'_>) -> Flags {
    let mut flags = Flags::new();
    let minor = context.minor;
    let all = context.labels();
    if !all.is_empty() {
        flags.insert("node-labels".to_owned(), labels::labels_flag(&all));
    }
    for (label, value) in &all {
        let origin = if context.group.labels.contains_key(label) {
            Origin::Document(context.at(["labels"]).key(label.as_str()))
        } else {
            let why = "eksctl's script adds it, and people select nodes by it".to_owned();
            Origin::Derived(Context::spec_path(["flavour"]), why)
        };
        context.origin(format!("label {label}"), value.to_string(), origin);
    }
    if context.on_aws() {
        let provider = if minor < EXTERNAL_CLOUD_PROVIDER { "aws" } else { "external" };
        flags.insert("cloud-provider".to_owned(), Text::literal(provider));
        flags.insert("node-ip".to_owned(), Text::fact(Fact::Address));
        if minor < WITH_PROVIDER_ID {
            flags.insert("provider-id".to_owned(), provider_id());
        }
        context.origin(
            "kubelet flag node-ip",
            "@{address}",
            Origin::Node("the primary address, from the metadata service".to_owned()),
        );
    }
    flags
}

/// All flags of a kubelet that we start ourselves.
pub(crate) fn whole(context: &mut Context<'_>, decisions: &Decisions, sandbox_image: Option<&str>) -> Flags {
    let mut flags = common(context);
    let minor = context.minor;
    let layout = &decisions.layout;
    let mut set = |name: &str, value: Text| {
        flags.insert(name.to_owned(), value);
    };
    set("config", Text::literal(layout.config));
    set("kubeconfig", Text::literal(layout.kubeconfig));
    let outpost = context.spec.api.as_ref().is_some_and(|api| api.cluster_id.is_some());
    if decisions.join == JoinMethod::BootstrapToken || (decisions.join == JoinMethod::EksToken && outpost) {
        set("bootstrap-kubeconfig", Text::literal(layout.bootstrap_kubeconfig));
    }
    let named = match decisions.node_name {
        NodeNamePolicy::Hostname => false,
        NodeNamePolicy::Address => true,
        NodeNamePolicy::PrivateDns | NodeNamePolicy::InstanceId => minor >= EXTERNAL_CLOUD_PROVIDER,
    };
    if named {
        set("hostname-override", Text::fact(Fact::NodeName));
    }
    if minor < Minor(23) {
        set("v", Text::literal("2"));
        if !context.group.taints.is_empty() {
            set("register-with-taints", Text::literal(labels::taints_flag(&context.group.taints)));
        }
    }
    match decisions.runtime {
        RuntimeName::Containerd if minor < Minor(27) => {
            if minor < Minor(24) {
                set("container-runtime", Text::literal("remote"));
            }
            set("container-runtime-endpoint", Text::literal(decisions.socket.as_str()));
        }
        RuntimeName::Docker if minor < Minor(24) => {
            set("network-plugin", Text::literal("cni"));
            set("cni-bin-dir", Text::literal(software::cni_directory(context)));
            set("cni-conf-dir", Text::literal("/etc/cni/net.d"));
        }
        RuntimeName::Containerd | RuntimeName::Docker => {}
    }
    if let Some(image) = sandbox_image
        && minor < Minor(27)
    {
        set("pod-infra-container-image", Text::literal(image));
    }
    if decisions.eks_image && decisions.runtime == RuntimeName::Containerd {
        set("runtime-cgroups", Text::literal("/runtime.slice/containerd.service"));
    }
    if let Some(directory) = super::credential_provider::directory(context, decisions) {
        set("image-credential-provider-bin-dir", Text::literal(directory));
        set("image-credential-provider-config", Text::literal(layout.credential_provider));
    }
    overlay(context, &mut flags);
    flags
}

/// Lays the operator's flags over ours, and says what is wrong with them.
pub(crate) fn overlay(context: &mut Context<'_>, flags: &mut Flags) {
    for (name, value) in &context.group.kubelet.flags {
        let path = context.at(["kubelet", "flags", name.as_str()]);
        let plain = name.trim_start_matches('-').replace('_', "-");
        if plain != *name {
            context.key_error(
                codes::FLAG_NAME,
                &path,
                format!("`{name}` is written without leading dashes, and with `-` inside"),
                format!("write `{plain}`"),
            );
        }
        check(context, &path, &plain, value);
        context.origin(format!("kubelet flag {plain}"), value.to_string(), Origin::Document(path));
        flags.insert(plain, value.clone());
    }
}

fn check(context: &mut Context<'_>, path: &bringup_yaml::Path, name: &str, value: &Text) {
    let minor = context.minor;
    if let Some(instead) = flag_instead(name, context.on_aws()) {
        context.key_error(codes::FLAG_RESERVED, path, format!("`--{name}` may not be set"), instead);
        return;
    }
    if has_line_end(value) {
        context.error(
            codes::FLAG_VALUE,
            path,
            format!("the value of `--{name}` has a line end, and flags travel on one line"),
            "write it on one line",
        );
    }
    if let Some(addresses) = value.as_literal().filter(|_| name == "cluster-dns") {
        for address in addresses.split(',') {
            super::values::check_dns(context, path, address.trim(), codes::FLAG_VALUE);
        }
    }
    if let Some(text) = value.as_literal() {
        super::choices::check_flag(context, path, name, text);
        if let Some((why, instead)) = super::reserved::flag_fault(context, name, text) {
            let message = format!("`--{name}` may not be set so: {why}");
            context.key_error(codes::FLAG_RESERVED, path, message, instead);
        }
        if name == "node-ip" && !text.split(',').all(|address| address.trim().parse::<IpAddr>().is_ok()) {
            let message = format!("`{text}` is no address of a node");
            context.error(
                codes::FLAG_VALUE,
                path,
                message,
                "write one IP address, or one of each family with a comma between",
            );
        }
    }
    match flag(name, minor) {
        Lookup::Known(known) => {
            if let Some(text) = value.as_literal() {
                let given = Some(text).filter(|text| !text.is_empty());
                if !known.kind.accepts_text(given) {
                    context.error(
                        codes::FLAG_VALUE,
                        path,
                        format!("`--{name}` takes {}, not `{text}`", known.kind),
                        format!("write {}", known.kind),
                    );
                }
                if let Some((since, instead)) = obsolete_flag_value(name, text, minor) {
                    context.error(
                        codes::FLAG_VALUE,
                        path,
                        format!("`--{name}={text}` has no meaning since {since}, and this is {minor}"),
                        instead,
                    );
                }
            }
            if let Some(field) = known.shadows {
                tell_shadow(context, path, name, field);
            } else if let Some(since) = known.deprecated {
                let hint = known.instead.unwrap_or("remove it when you can");
                context.key_warning(
                    codes::FLAG_DEPRECATED,
                    path,
                    format!("`--{name}` is deprecated since {since}"),
                    hint,
                );
            }
        }
        Lookup::NotYet { added } => context.key_error(
            codes::FLAG_NOT_YET,
            path,
            format!("`--{name}` came with {added}, and this is {minor}"),
            format!("remove it, or use Kubernetes {added} or newer"),
        ),
        Lookup::Removed { removed, instead } => context.key_error(
            codes::FLAG_REMOVED,
            path,
            format!("`--{name}` was removed in {removed}, and this is {minor}: kubelet would not start"),
            instead,
        ),
        // It may have been one of the flags that are older than the table.
        Lookup::Unknown { .. } if minor < OLDEST => context.key_warning(
            codes::FLAG_UNKNOWN,
            path,
            format!("whether kubelet {minor} has a flag `--{name}` is not known: the table begins with {OLDEST}, which has none"),
            format!("look into `kubelet --help` of {minor}"),
        ),
        Lookup::Unknown { suggestion } => {
            let hint = suggestion.map_or_else(
                || "remove it, or write the field under `kubelet.config`".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            context.key_error(
                codes::FLAG_UNKNOWN,
                path,
                format!("`--{name}` is no flag of kubelet {minor}"),
                hint,
            );
        }
    }
}

/// Whether a value cannot travel on one line.
pub(crate) fn has_line_end(value: &Text) -> bool {
    let breaks =
        |segment: &Segment| matches!(segment, Segment::Literal(text) if text.contains(['\n', '\r', '\0']));
    value.segments().iter().any(breaks)
}

/// That a flag stands above a field. Where it was another program's input, nothing changes by that, unless the field is
/// there as well.
fn tell_shadow(context: &mut Context<'_>, path: &bringup_yaml::Path, name: &str, field: &str) {
    let (message, hint) = match context.group.in_place_of.filter(|_| context.takes_as_given()) {
        None => (
            format!("`--{name}` overrides the field `{field}` of kubelet's configuration"),
            format!("write `{field}` under `kubelet.config` instead"),
        ),
        Some(program) => {
            let mut keys = field.split('.');
            let first = keys.next().and_then(|key| context.group.kubelet.config.get(key));
            let program = match program {
                ImageProgram::Bootstrap => "bootstrap.sh",
                ImageProgram::Nodeadm => "nodeadm",
            };
            if keys.try_fold(first, |value, key| Some(value?.get(key))).flatten().is_none() {
                let message = format!(
                    "kubelet goes by `--{name}`, as with `{program}`: flags win over `{field}` of its configuration"
                );
                let hint =
                    format!("nothing has to change; a Bringup document has `{field}` under `kubelet.config`");
                let place = context.document.key_place(path);
                context.findings.push(Finding::note(codes::FLAG_SHADOWS, message).at(place).hint(hint));
                return;
            }
            (
                format!(
                    "`{field}` of kubelet's configuration has no effect, as with `{program}`: kubelet goes by `--{name}`"
                ),
                "write it in one of the two places".to_owned(),
            )
        }
    };
    context.key_warning(codes::FLAG_SHADOWS, path, message, hint);
}

/// The flags as words of a command line, the way systemd splits a variable: at white space, outside quotes.
pub(crate) fn line(flags: &Flags) -> Text {
    let mut line = Text::default();
    for (name, value) in flags {
        if !line.segments().is_empty() {
            line.push_str(" ");
        }
        let quoted = value.segments().iter().any(|segment| {
            matches!(segment, Segment::Literal(text) if text.contains([' ', '\t', '"', '\'', '\\']))
        });
        if quoted {
            line.push_str("\"");
        }
        line.push_str("--");
        line.push_str(name);
        if value.as_literal() != Some("") {
            line.push_str("=");
        }
        for segment in value.segments() {
            match segment {
                Segment::Literal(text) if quoted => {
                    line.push_str(&text.replace('\\', "\\\\").replace('"', "\\\""));
                }
                Segment::Literal(text) => line.push_str(text),
                Segment::Fact { fact } => line.push(&Text::fact(fact.clone())),
            }
        }
        if quoted {
            line.push_str("\"");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_spaces_and_quotes_stay_one_word() {
        let flags = Flags::from([
            ("a".to_owned(), Text::literal("x y")),
            ("b".to_owned(), Text::literal("say \"hi\" \\")),
            ("c".to_owned(), Text::parse("z=@{zone}").unwrap()),
            ("d".to_owned(), Text::literal("")),
        ]);
        assert_eq!(line(&flags).to_string(), r#""--a=x y" "--b=say \"hi\" \\" --c=z=@{zone} --d"#);
    }
}
