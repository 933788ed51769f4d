//! What a template says of the Auto Scaling group beyond its numbers: in which subnets it makes machines, how a new launch
//! template reaches them, how long the stack waits for the first.

use bringup_diag::Span;
use bringup_yaml::{Content, Entry, Node};

use crate::codes;
use crate::fields::{Field, Record, Use};
use crate::ids::is_real;
use crate::tell::Teller;
use crate::tree::{Branch, field, list, plain, text};

const GROUP: &str = "AWS::AutoScaling::AutoScalingGroup";

/// The tag of a value that only the stack knows.
const OPEN: &str = "!Open";

const UPDATE_POLICY: &[Field] = &[
    ("AutoScalingReplacingUpdate", Use::Taken),
    ("AutoScalingRollingUpdate", Use::Taken),
    ("AutoScalingScheduledAction", Use::Aside("scheduled changes of the number of nodes")),
];

const REPLACING: &[Field] = &[("WillReplace", Use::Taken)];

const ROLLING: &[Field] = &[
    ("MaxBatchSize", Use::Taken),
    (
        "MinActiveInstancesPercent",
        Use::Aside(
            "an update that replaces nodes: the new template counts whole nodes, `scaling: {rollingUpdate: {minInService: ...}}`",
        ),
    ),
    ("MinInstancesInService", Use::Taken),
    (
        "MinSuccessfulInstancesPercent",
        Use::Aside("an update of which some nodes may fail: with the new template all must signal"),
    ),
    ("PauseTime", Use::Taken),
    (
        "SuspendProcesses",
        Use::Aside(
            "an update: the new template suspends `HealthCheck`, `ReplaceUnhealthy`, `AZRebalance`, `AlarmNotification` and `ScheduledActions`",
        ),
    ),
    ("WaitOnResourceSignals", Use::Taken),
];

const CREATION_POLICY: &[Field] = &[
    (
        "AutoScalingCreationPolicy",
        Use::Aside("a stack of which some nodes may fail: with the new template all must signal"),
    ),
    ("ResourceSignal", Use::Taken),
];

const SIGNAL: &[Field] = &[("Count", Use::Taken), ("Timeout", Use::Taken)];

/// What the Auto Scaling group of a resource says.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    update: Option<Node>,
    creation: Option<Node>,
    subnets: Option<Node>,
}

impl Policies {
    /// Takes it out of what stands around user-data.
    pub(crate) fn taken_from(tree: &mut Node) -> Option<Self> {
        let launchers = field(field(tree, "around")?, "launchers")?;
        let Content::List(launchers) = &mut launchers.content else { return None };
        let kind = |launcher: &Node| launcher.get("type").and_then(Node::text).map(str::to_owned);
        // The first group is the one that is taken over.
        let makes_groups =
            |launcher: &&mut Node| matches!(kind(launcher).as_deref(), Some(GROUP | "AWS::EKS::Nodegroup"));
        let launcher = launchers.iter_mut().find(makes_groups)?;
        if kind(launcher).as_deref() != Some(GROUP) {
            return None;
        }
        let mut taken = Self::default();
        if let Some(outer) = field(launcher, "outer") {
            taken.update = without(outer, "UpdatePolicy", |node| node.entries().is_some());
            taken.creation = without(outer, "CreationPolicy", |node| node.entries().is_some());
        }
        if let Some(properties) = field(launcher, "properties") {
            taken.subnets = without(properties, "VPCZoneIdentifier", are_subnets);
        }
        Some(taken)
    }

    /// The subnets, if these and all others are the same: a Bringup document has one list of them.
    pub(crate) fn shared_subnets<'a>(all: impl Iterator<Item = &'a Self>) -> Option<Node> {
        let mut lists = all.map(|policies| policies.subnets.as_ref());
        let first = lists.next()??;
        lists.all(|other| other.map(Node::to_value) == Some(first.to_value())).then(|| first.clone())
    }

    /// Lays it into the documents that the user-data has become.
    pub(crate) fn lay(&self, trees: &mut [Node], shared: Option<&Node>, tell: &mut Teller<'_>) {
        for tree in trees {
            let Some(spec) = field(tree, "spec") else { continue };
            if let Some(subnets) = shared {
                put_subnets(spec, subnets);
            }
            let Some(Content::List(groups)) = field(spec, "nodeGroups").map(|groups| &mut groups.content)
            else {
                continue;
            };
            let scales = |group: &Node| group.get("scaling").and_then(Node::entries).is_some();
            if !groups.iter().any(scales) {
                self.tell_lost(tell);
                continue;
            }
            let signals = groups.iter().any(|group| group.get("signals").is_some());
            let added = self.scaling(signals, tell);
            for group in groups {
                if let Some(Content::Map(scaling)) =
                    field(group, "scaling").map(|scaling| &mut scaling.content)
                {
                    scaling.extend(added.iter().cloned());
                }
            }
        }
        if let (Some(own), None) = (&self.subnets, shared) {
            let message = "`VPCZoneIdentifier` differs from that of another group, and a document has one list of subnets: who deploys the new template is asked for it";
            let names: Vec<&str> = own.items().unwrap_or_default().iter().filter_map(Node::text).collect();
            let hint = format!("answer with `{}` for this group", names.join(","));
            tell.note(codes::FIELD_ASIDE, own.span, message, hint);
        }
    }

    /// `rollingUpdate` and `creationTimeout` of `scaling`.
    fn scaling(&self, signals: bool, tell: &mut Teller<'_>) -> Vec<Entry> {
        let mut scaling = Branch::new(Span::default());
        if let Some(policy) = &self.update {
            scaling.put_full("rollingUpdate", rolling(policy, signals, tell));
        }
        if let Some(policy) = &self.creation {
            let fields = tell.record(policy, "`CreationPolicy` of the Auto Scaling group", CREATION_POLICY);
            if let Some(signal) = fields.get("ResourceSignal") {
                let signal = tell.record(signal, "`ResourceSignal`", SIGNAL);
                let at = signal.entry("Timeout").map_or(policy.span, |entry| entry.key_span);
                if signals {
                    let time = time(&signal, "Timeout", "creationTimeout", tell);
                    scaling.put_some("creationTimeout", time);
                } else {
                    let message = "the stack waits for signals of its first nodes, and no script sends any: the new template does not wait";
                    let hint = "write `signals: [{kind: cloudformation}]` of the group in additions to have the agent send them";
                    tell.warning(codes::FIELD_DIFFERS, at, message, hint);
                }
                if let Some(count) = signal.entry("Count") {
                    let message = "the new template waits for as many signals as there are nodes at first";
                    tell.note(codes::DIFFERENCE, count.key_span, message, "nothing has to be done");
                }
            }
        }
        scaling.into_node().entries().unwrap_or_default().to_vec()
    }

    /// Without numbers there is no `scaling` to add to.
    fn tell_lost(&self, tell: &mut Teller<'_>) {
        for (name, node) in [("UpdatePolicy", &self.update), ("CreationPolicy", &self.creation)] {
            if let Some(node) = node {
                let message = format!("`{name}` is left out: nothing says how many nodes there may be");
                let hint = "write `scaling: {max: ..., rollingUpdate: {...}, creationTimeout: ...}` of the group in additions";
                tell.warning(codes::FIELD_DIFFERS, node.span, message, hint);
            }
        }
    }
}

/// Takes a field out of a mapping, if its value is one that is understood.
fn without(node: &mut Node, name: &str, is_understood: impl Fn(&Node) -> bool) -> Option<Node> {
    let Content::Map(entries) = &mut node.content else { return None };
    let at = entries.iter().position(|entry| entry.key == name && is_understood(&entry.value))?;
    Some(entries.remove(at).value)
}

fn are_subnets(node: &Node) -> bool {
    let is_one = |item: &Node| item.tag.is_none() && is_real(item, "subnet-");
    node.items().is_some_and(|items| !items.is_empty() && items.iter().all(is_one))
}

fn put_subnets(spec: &mut Node, subnets: &Node) {
    let Content::Map(entries) = &mut spec.content else { return };
    let mut aws = Branch::new(subnets.span);
    aws.put("subnets", list(subnets.span, subnets.items().unwrap_or_default().to_vec()));
    let more = aws.into_node();
    let aws = entries.iter_mut().find(|entry| entry.key == "aws").map(|entry| &mut entry.value.content);
    if let Some(Content::Map(known)) = aws {
        if !known.iter().any(|entry| entry.key == "subnets") {
            known.extend(more.entries().unwrap_or_default().iter().cloned());
        }
    } else {
        let mut spec = Branch::new(subnets.span);
        spec.put("aws", more);
        entries.extend(spec.into_node().entries().unwrap_or_default().iter().cloned());
    }
}

fn rolling(policy: &Node, signals: bool, tell: &mut Teller<'_>) -> Node {
    let fields = tell.record(policy, "`UpdatePolicy` of the Auto Scaling group", UPDATE_POLICY);
    let mut update = Branch::new(policy.span);
    if let Some(replacing) = fields.get("AutoScalingReplacingUpdate") {
        let replacing = tell.record(replacing, "`AutoScalingReplacingUpdate`", REPLACING);
        let may_replace =
            |entry: &&Entry| is_open(&entry.value) || replacing.flag("WillReplace") == Some(true);
        if let Some(entry) = replacing.entry("WillReplace").filter(may_replace) {
            let message = "an update could replace the whole group: with the new template its nodes are replaced batch by batch";
            let hint = "write `scaling: {rollingUpdate: {maxBatchSize: ...}}` of the group in additions for larger batches";
            tell.note(codes::DIFFERENCE, entry.key_span, message, hint);
        }
    }
    let Some(rolling) = fields.get("AutoScalingRollingUpdate") else { return update.into_node() };
    let rolling = tell.record(rolling, "`AutoScalingRollingUpdate`", ROLLING);
    for (theirs, ours) in [("MaxBatchSize", "maxBatchSize"), ("MinInstancesInService", "minInService")] {
        update.put_some(ours, number(&rolling, theirs, ours, tell));
    }
    update.put_some("pause", time(&rolling, "PauseTime", "pause", tell));
    let Some(entry) = rolling.entry("WaitOnResourceSignals") else { return update.into_node() };
    let waits = if is_open(&entry.value) { None } else { rolling.flag("WaitOnResourceSignals") };
    match (waits, signals) {
        // Where only the stack knows, it may.
        (None | Some(true), false) => {
            let message = "an update waits for signals of new nodes, and no script sends any: with the new template it waits for the pause only";
            let hint = "write `signals: [{kind: cloudformation}]` of the group in additions to have the agent send them";
            tell.warning(codes::FIELD_DIFFERS, entry.key_span, message, hint);
        }
        (None | Some(false), true) => {
            let message =
                "an update waits for the signals of new nodes, as they are sent, whatever the old one did";
            let hint = "nothing has to be done; `pause` is how long it waits at most";
            tell.note(codes::DIFFERENCE, entry.key_span, message, hint);
        }
        _ => {}
    }
    update.into_node()
}

/// Whether only the stack knows a value.
fn is_open(node: &Node) -> bool {
    node.tag.as_deref() == Some(OPEN)
}

/// A field's value, unless only the stack knows it.
fn known<'a>(fields: &Record<'a>, theirs: &str, ours: &str, tell: &mut Teller<'_>) -> Option<&'a Node> {
    let entry = fields.entry(theirs)?;
    if is_open(&entry.value) {
        tell_open(entry, ours, "only the stack knows", tell);
        return None;
    }
    Some(&entry.value)
}

fn tell_open(entry: &Entry, ours: &str, why: &str, tell: &mut Teller<'_>) {
    let path = match ours {
        "creationTimeout" => "creationTimeout: ...".to_owned(),
        other => format!("rollingUpdate: {{{other}: ...}}"),
    };
    let message = format!("{why} `{}`: the usual is taken", entry.key);
    let hint = format!(
        "give the parameter with `--parameter`, or write `scaling: {{{path}}}` of the group in additions"
    );
    tell.warning(codes::FIELD_DIFFERS, entry.key_span, message, hint);
}

fn number(fields: &Record<'_>, theirs: &str, ours: &str, tell: &mut Teller<'_>) -> Option<Node> {
    let node = known(fields, theirs, ours, tell)?;
    let Some(number) = node.text().and_then(|text| text.trim().parse::<u32>().ok()) else {
        let message = format!("`{theirs}` must be a whole number");
        tell.error(codes::WRONG_TYPE, node.span, message, "write one such as `1`");
        return None;
    };
    Some(plain(node.span, number))
}

fn time(fields: &Record<'_>, theirs: &str, ours: &str, tell: &mut Teller<'_>) -> Option<Node> {
    let node = known(fields, theirs, ours, tell)?;
    let Some(seconds) = node.text().and_then(seconds) else {
        let message = format!("`{theirs}` is no length of time: CloudFormation writes `PT1H30M`");
        tell.error(codes::WRONG_TYPE, node.span, message, "write one such as `PT15M`");
        return None;
    };
    Some(text(node.span, format!("{seconds}s")))
}

/// The seconds of `PT1H30M5S`.
fn seconds(text: &str) -> Option<u32> {
    let mut rest = text.trim().strip_prefix("PT").filter(|rest| !rest.is_empty())?;
    let mut total = 0_u32;
    for (unit, factor) in [('H', 3600), ('M', 60), ('S', 1)] {
        if let Some((digits, behind)) = rest.split_once(unit) {
            let number: u32 = digits.parse().ok()?;
            total = total.checked_add(number.checked_mul(factor)?)?;
            rest = behind;
        }
    }
    rest.is_empty().then_some(total)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn lengths_of_time_are_those_of_cloudformation() {
        for (text, expected) in [
            ("PT15M", Some(900)),
            ("PT1H30M5S", Some(5405)),
            ("PT0S", Some(0)),
            ("PT", None),
            ("15M", None),
            ("PT5", None),
            ("PT5M1H", None),
            ("PT99999999H", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }
}
