//! How many pods a node takes: by what kubelet is told, by the document, or by the interfaces of the instance type.

use bringup_diag::Finding;
use bringup_spec::{ImageProgram, MaxPods, NodeGroup, PodNetworking};

use crate::context::Context;
use crate::nodeadm::expression;
use crate::{Origin, PodLimit, aws, codes, max_pods, reservations};

/// More pods on one node than anybody runs: Kubernetes itself is made for 110, and EC2 has addresses for 737.
const MANY_PODS: u32 = 1000;

/// What the number of pods that kubelet takes is called among the origins.
const TAKEN: &str = "max pods";

/// What the number of pods that memory is kept for is called, where it is another.
const KEPT_FOR: &str = "pods that memory is kept for";

const FLAG: &[&str] = &["kubelet", "flags", "max-pods"];
const FIELD: &[&str] = &["kubelet", "config", "maxPods"];

/// How many pods a node takes, which must be some and not too many.
pub(crate) fn checked_pod_limit(context: &mut Context<'_>) -> PodLimit {
    let limit = pod_limit(context);
    let (PodLimit::Fixed(found) | PodLimit::Interfaces { cap: Some(found), .. }) = limit else {
        return limit;
    };
    let pods = told_pods(context).unwrap_or(found);
    let kubelet = &context.group.kubelet;
    let path = if kubelet.flags.contains_key("max-pods") {
        context.at(["kubelet", "flags", "max-pods"])
    } else if kubelet.config.contains_key("maxPods") {
        context.at(["kubelet", "config", "maxPods"])
    } else if matches!(context.group.max_pods, Some(MaxPods::Interfaces(_))) {
        context.at(["maxPods", "cap"])
    } else {
        context.at(["maxPods"])
    };
    if pods == 0 {
        let message = "a node that takes no pods cannot run the DNS or CNI pods it needs";
        context.error(codes::MAX_PODS_ZERO, &path, message, "write 1 or more");
    } else if i32::try_from(pods).is_err() {
        let message = format!("kubelet cannot read a number as large as {pods}");
        context.error(codes::MAX_PODS_MANY, &path, message, "write 110, or what the nodes can bear");
    } else if pods > MANY_PODS {
        let reserved = reservations::memory_mib(pods) / 1024;
        let message = format!(
            "{pods} pods are more than a node can run: Kubernetes is made for 110, and {reserved} GiB of memory would be set aside for them"
        );
        context.warning(codes::MAX_PODS_MANY, &path, message, "write 110, or what the nodes can bear");
    }
    limit
}

/// How many pods the operator gives to each core; 0 is no bound.
pub(crate) fn pods_per_core(group: &NodeGroup) -> Option<u32> {
    let config = group.kubelet.config.get("podsPerCore").and_then(serde_json::Value::as_u64);
    let flag = group.kubelet.flags.get("pods-per-core").and_then(|text| text.as_literal()?.parse().ok());
    flag.or(config).filter(|pods| *pods > 0).map(|pods| u32::try_from(pods).unwrap_or(u32::MAX))
}

/// The number that kubelet is told where the image's program keeps memory for the pods of the instance type all the same.
pub(crate) fn told_pods(context: &Context<'_>) -> Option<u32> {
    told(context).map(|(pods, _)| pods)
}

/// That number and where it stands in the group.
/// A flag stands above the configuration, and `bootstrap.sh` is given the document's number as one.
fn told(context: &Context<'_>) -> Option<(u32, &'static [&'static str])> {
    if !context.takes_as_given() {
        return None;
    }
    let kubelet = &context.group.kubelet;
    let flag = kubelet.flags.get("max-pods").and_then(|text| text.as_literal()?.parse().ok());
    let flag = flag.map(|pods| (pods, FLAG));
    let config = kubelet.config.get("maxPods").and_then(serde_json::Value::as_u64);
    let config = config.and_then(|pods| u32::try_from(pods).ok()).map(|pods| (pods, FIELD));
    let given = match context.group.max_pods {
        Some(MaxPods::Fixed(pods)) => Some((pods, ["maxPods"].as_slice())),
        _ => None,
    };
    match context.group.in_place_of {
        Some(ImageProgram::Bootstrap) => flag.or(given).or(config),
        _ => flag.or(config).or(given),
    }
}

/// Says what kubelet is told where memory is kept for other pods, and gives what the number of those is called.
fn tell_told(context: &mut Context<'_>) -> &'static str {
    let flag = context.group.kubelet.flags.get("max-pods").filter(|text| text.as_literal().is_none());
    let flag = flag.filter(|_| context.takes_as_given()).map(|text| (text.to_string(), FLAG));
    let told = flag.or_else(|| told(context).map(|(pods, keys)| (pods.to_string(), keys)));
    let Some((pods, keys)) = told else { return TAKEN };
    let path = context.at(keys.iter().copied());
    context.origin(TAKEN, pods, Origin::Document(path));
    KEPT_FOR
}

/// Says for how many pods memory is kept, or how many the node takes where nothing else tells kubelet.
fn tell_limit(context: &mut Context<'_>, subject: &'static str, pods: impl Into<String>, origin: Origin) {
    let pods = pods.into();
    let told = told_pods(context).map(|told| told.to_string());
    if subject == TAKEN || told.as_ref() != Some(&pods) && !keeps_memory_by_itself(context) {
        context.origin(subject, pods, origin);
    }
}

/// Whether the operator says how much memory is kept, which then goes by no number of pods.
fn keeps_memory_by_itself(context: &Context<'_>) -> bool {
    let kubelet = &context.group.kubelet;
    let reserved = kubelet.config.get("kubeReserved").and_then(|reserved| reserved.get("memory"));
    reserved.is_some() || kubelet.flags.contains_key("kube-reserved")
}

/// How many pods a node takes, and says where that came from.
fn pod_limit(context: &mut Context<'_>) -> PodLimit {
    let group = context.group;
    let config = group.kubelet.config.get("maxPods").and_then(serde_json::Value::as_u64);
    let flag = group.kubelet.flags.get("max-pods").and_then(|text| text.as_literal()?.parse::<u64>().ok());
    let by_fact = group.kubelet.flags.get("max-pods").is_some_and(|text| text.as_literal().is_none());
    if by_fact && !context.takes_as_given() {
        let path = context.at(["kubelet", "flags", "max-pods"]);
        context.error(
            codes::FLAG_RESERVED,
            &path,
            "the number of pods may not be a fact here: memory is set aside for each of them",
            "write a number, or leave it to `maxPods`, which knows the instance type",
        );
    }
    let given = flag.map(|pods| (pods, FLAG)).or(config.map(|pods| (pods, FIELD)));
    if let Some((pods, keys)) = given
        && !context.takes_as_given()
    {
        let path = context.at(keys.iter().copied());
        if let Some(MaxPods::Fixed(other)) = &group.max_pods
            && u64::from(*other) != pods
        {
            context.error(
                codes::FIELD_RESERVED,
                &path,
                format!("this says {pods} pods, and `maxPods` says {other}"),
                "keep `maxPods` and remove this",
            );
        }
        context.origin(TAKEN, pods.to_string(), Origin::Document(path));
        return PodLimit::Fixed(u32::try_from(pods).unwrap_or(u32::MAX));
    }
    let path = context.at(["maxPods"]);
    let subject = tell_told(context);
    let limit = match &group.max_pods {
        Some(MaxPods::Fixed(pods)) => {
            if !context.takes_as_given() {
                context.origin(TAKEN, pods.to_string(), Origin::Document(path));
                return PodLimit::Fixed(*pods);
            }
            PodLimit::Interfaces { prefix_delegation: false, custom_networking: false, cap: None }
        }
        Some(MaxPods::Interfaces(PodNetworking { expression: Some(cel), .. })) => {
            check_expression(context, cel);
            PodLimit::Expression { cel: cel.clone() }
        }
        Some(MaxPods::Interfaces(networking)) => PodLimit::Interfaces {
            prefix_delegation: networking.prefix_delegation,
            custom_networking: networking.custom_networking,
            cap: networking.cap,
        },
        None => PodLimit::Interfaces { prefix_delegation: false, custom_networking: false, cap: None },
    };
    if !context.on_aws() {
        if group.max_pods.is_some() {
            context.error(
                codes::MAX_PODS_PLATFORM,
                &path,
                "only EC2 instance types have a known number of interfaces",
                "write a number, or `platform: aws`",
            );
        }
        tell_limit(
            context,
            subject,
            max_pods::DEFAULT.to_string(),
            Origin::Default("Kubernetes' own default".to_owned()),
        );
        return PodLimit::Fixed(max_pods::DEFAULT);
    }
    check_instance_types(context);
    let mut values = group.instance_types.iter().map(|name| max_pods::literal(&limit, name));
    let first = values.next().flatten();
    if let Some(pods) = first.filter(|first| values.all(|value| value == Some(*first))) {
        let (keys, how) = if cap_decides(&limit, &group.instance_types, pods) {
            (["maxPods", "cap"].as_slice(), "the cap, below what the interfaces of the instance type allow")
        } else {
            (["instanceTypes"].as_slice(), "worked out from the interfaces of the instance type")
        };
        let path = context.at(keys.iter().copied());
        tell_of_kept_memory(context, pods);
        tell_limit(context, subject, pods.to_string(), Origin::Derived(path, how.to_owned()));
        return PodLimit::Fixed(pods);
    }
    let origin = Origin::Node("from the instance type and its interfaces".to_owned());
    tell_limit(context, subject, "@{maxPods}", origin);
    limit
}

/// What we would keep for the pods that kubelet is told, beside what the image's program keeps.
fn tell_of_kept_memory(context: &mut Context<'_>, pods: u32) {
    let Some(told) = told_pods(context).filter(|told| *told != pods) else { return };
    if keeps_memory_by_itself(context) {
        return;
    }
    let [kept, ours] = [pods, told].map(reservations::memory_mib);
    let message = format!(
        "kubelet takes {told} pods, and {kept}Mi of memory are kept for {pods}, as the program of the image does"
    );
    let hint = format!("for {told} pods we would keep {ours}Mi: set `kubeReserved` of kubelet to have that");
    let code = match context.group.in_place_of {
        Some(ImageProgram::Bootstrap) => codes::BOOTSTRAP_DIFFERS,
        _ => codes::NODEADM_DIFFERS,
    };
    let place = context.document.place(&context.at(["maxPods"]));
    context.findings.push(Finding::note(code, message).at(place).hint(hint));
}

/// What nodeadm passes over, and what is not understood.
fn check_expression(context: &mut Context<'_>, cel: &str) {
    let path = context.at(["maxPods", "expression"]);
    let place = context.document.place(&path);
    if let Err(fault) = expression::check(cel) {
        context.findings.push(expression::finding(fault).at(place));
    }
    let Some(MaxPods::Interfaces(given)) = &context.group.max_pods else { return };
    for (key, without) in [
        ("prefixDelegation", given.prefix_delegation),
        ("customNetworking", given.custom_networking),
        ("cap", given.cap.is_some()),
    ] {
        if without {
            let path = context.at(["maxPods", key]);
            let message = format!("`{key}` has no effect: `expression` says how many pods there are");
            context.key_warning(codes::WITHOUT_EFFECT, &path, message, "remove it, or `expression`");
        }
    }
}

/// Whether some type would take more pods without the operator's cap.
fn cap_decides(limit: &PodLimit, instance_types: &[String], pods: u32) -> bool {
    let PodLimit::Interfaces { prefix_delegation, custom_networking, cap: Some(_) } = *limit else {
        return false;
    };
    let free = PodLimit::Interfaces { prefix_delegation, custom_networking, cap: Some(u32::MAX) };
    instance_types.iter().any(|name| max_pods::literal(&free, name).is_some_and(|most| most > pods))
}

/// Unknown types, and types of another architecture.
fn check_instance_types(context: &mut Context<'_>) {
    let prefixes =
        matches!(&context.group.max_pods, Some(MaxPods::Interfaces(pods)) if pods.prefix_delegation);
    let wanted = context.group.architecture;
    for (index, name) in context.group.instance_types.iter().enumerate() {
        let path = context.at(["instanceTypes"]).index(index);
        if max_pods::interfaces(name).is_none() {
            let near = nearest_type(name).map_or_else(
                || "write one such as `m5.large`".to_owned(),
                |near| format!("did you mean `{near}`? A type that is newer than the table is fine: `maxPods` sets its number"),
            );
            let message = format!(
                "`{name}` is no EC2 instance type that is known; the node will take {} pods",
                max_pods::DEFAULT
            );
            context.warning(codes::INSTANCE_TYPE, &path, message, near);
        } else if let Some(found) = aws::architecture_of(name)
            && found != wanted
        {
            context.error(
                codes::ARCHITECTURE,
                &path,
                format!("`{name}` is an {found} machine, and the group is for {wanted}"),
                format!("write `architecture: {found}`, or choose another type"),
            );
        }
        if prefixes && !max_pods::takes_prefixes(name) {
            context.warning(
                codes::PREFIX_DELEGATION,
                &path,
                format!("`{name}` is no Nitro machine: its interfaces take single addresses, and its pods are counted so"),
                "choose a newer type, or remove `prefixDelegation`",
            );
        }
    }
}

fn nearest_type(name: &str) -> Option<String> {
    let candidates: Vec<String> = max_pods::instance_types().collect();
    bringup_diag::closest(name, candidates.iter().map(String::as_str)).map(ToOwned::to_owned)
}
