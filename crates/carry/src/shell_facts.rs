//! Facts without an agent: a few lines of POSIX shell that learn them, and texts that they are filled into.
//!
//! The third seed's script, in short: the metadata service is asked with curl, version 2 only; pods come from a list of
//! the group's own instance types; nothing else is called.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bringup_plan::{PodLimit, max_pods};
use bringup_spec::{Fact, NodeNamePolicy, Platform, Segment, Text};

use crate::load::Load;

/// What asks the metadata service. An answer is taken only if no program could read anything into it.
const METADATA: &str = r#"metadata=http://169.254.169.254/latest
patiently='-sf --retry 20 --retry-delay 1 --retry-connrefused --max-time 5'
# shellcheck disable=SC2086 # words are wanted
token=$(curl $patiently -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' "$metadata/api/token")
ask() { # name
    # shellcheck disable=SC2086 # words are wanted
    answer=$(curl $patiently -H "X-aws-ec2-metadata-token: $token" "$metadata/meta-data/$1")
    case $answer in
    '' | *[!A-Za-z0-9._:/@+=-]*)
        echo "bringup: what the metadata service says of $1 cannot be used" >&2
        return 1
        ;;
    esac
    echo "$answer"
}
"#;

/// The machine's own address: the one that it would send from.
const ADDRESS: &str = r#"address=
# shellcheck disable=SC2046 # words are wanted
set -- $(ip -o route get 192.0.2.1)
while [ $# -gt 1 ]; do
    if [ "$1" = src ]; then address=$2; fi
    shift
done
[ -n "$address" ]
"#;

/// As the agent decides it: servers on the loopback are none for pods.
const RESOLVER: &str = "\
resolv_conf=/etc/resolv.conf
if [ -e /run/systemd/resolve/resolv.conf ]; then
    resolv_conf=/run/systemd/resolve/resolv.conf
    while read -r name server _; do
        case $name:$server in
        nameserver:127.* | nameserver:::1) ;;
        nameserver:*) resolv_conf=/etc/resolv.conf ;;
        esac
    done </etc/resolv.conf
fi
";

/// As the agent works it out: 6 % of the first core, 1 % of the second, 0.5 % of two more, 0.25 % of the rest.
const CPU: &str = "\
if [ \"$cores\" -gt 4 ]; then
    reserved_cpu=$((80 + (cores - 4) * 25 / 10))m
elif [ \"$cores\" -gt 2 ]; then
    reserved_cpu=$((70 + (cores - 2) * 5))m
elif [ \"$cores\" -gt 1 ]; then
    reserved_cpu=70m
else
    reserved_cpu=60m
fi
";

/// The shell's variable for a fact.
fn variable(fact: &Fact) -> String {
    match fact {
        Fact::Tag(tag) => {
            let mut name = String::from("tag_");
            for byte in tag.bytes() {
                let _ = if byte.is_ascii_alphanumeric() {
                    write!(name, "{}", char::from(byte))
                } else {
                    write!(name, "_{byte:02x}")
                };
            }
            name
        }
        fact => {
            let mut name = String::new();
            for letter in fact.to_string().chars() {
                if letter.is_ascii_uppercase() {
                    name.push('_');
                }
                name.push(letter.to_ascii_lowercase());
            }
            name
        }
    }
}

/// A text as lines of a here-document without quotes around its delimiter.
pub(crate) fn filled(text: &Text) -> String {
    let mut lines = String::new();
    for segment in text.segments() {
        match segment {
            Segment::Literal(literal) => {
                for letter in literal.chars() {
                    if matches!(letter, '\\' | '$' | '`') {
                        lines.push('\\');
                    }
                    lines.push(letter);
                }
            }
            Segment::Fact { fact } => {
                let _ = write!(lines, "${{{}}}", variable(fact));
            }
        }
    }
    lines
}

/// A text as one word of a command.
pub(crate) fn word_of(text: &Text) -> String {
    let mut whole = String::new();
    for segment in text.segments() {
        match segment {
            Segment::Literal(literal) => whole.push_str(&crate::shell::word(literal)),
            Segment::Fact { fact } => {
                let _ = write!(whole, "\"${{{}}}\"", variable(fact));
            }
        }
    }
    if whole.is_empty() { "''".to_owned() } else { whole }
}

/// The first of these facts that only the agent can learn.
pub(crate) fn out_of_reach<'a>(load: &Load<'_>, facts: impl Iterator<Item = &'a Fact>) -> Option<&'a Fact> {
    let mut facts = facts;
    facts.find(|fact| commands(load, &BTreeSet::from([(*fact).clone()])).is_none())
}

/// The commands that learn these facts; nothing if one is out of a script's reach.
pub(crate) fn commands(load: &Load<'_>, wanted: &BTreeSet<Fact>) -> Option<String> {
    let mut facts = wanted.clone();
    let plan = load.plan;
    // What others are worked out from.
    let by_core = plan.pods_per_core.filter(|_| facts.contains(&Fact::ReservedMemory));
    if facts.contains(&Fact::ReservedCpu) || by_core.is_some() {
        facts.insert(Fact::Cores);
    }
    let by_type = |limit: &PodLimit| matches!(limit, PodLimit::Interfaces { .. });
    if facts.contains(&Fact::MaxPods) && by_type(&plan.max_pods)
        || facts.contains(&Fact::ReservedMemory) && by_type(plan.memory_limit())
    {
        facts.insert(Fact::InstanceType);
    }
    let named_by = match plan.node_name {
        NodeNamePolicy::InstanceId => Fact::InstanceId,
        NodeNamePolicy::Address => Fact::Address,
        NodeNamePolicy::PrivateDns | NodeNamePolicy::Hostname => Fact::Hostname,
    };
    if facts.contains(&Fact::NodeName) {
        facts.insert(named_by.clone());
    }
    if facts.contains(&Fact::ProviderId) {
        facts.extend([Fact::Zone, Fact::InstanceId]);
    }
    let on_aws = plan.platform == Platform::Aws;
    // As the agent does, the machine is asked for its own name where that is the node's.
    let is_own =
        |fact: &Fact| *fact == Fact::Hostname && plan.node_name == NodeNamePolicy::Hostname || !on_aws;
    let asked = |fact: &Fact| metadata_name(fact, plan.ipv6).filter(|_| !is_own(fact));
    let mut script = String::new();
    if facts.iter().any(|fact| asked(fact).is_some()) {
        script.push_str(METADATA);
    }
    // Learned facts before those that are worked out from them.
    for fact in &facts {
        let name = variable(fact);
        match (fact, asked(fact)) {
            (_, Some(path)) => {
                let _ = writeln!(script, "{name}=$(ask {})", crate::shell::word(&path));
            }
            (Fact::Cores, _) => script.push_str("cores=$(getconf _NPROCESSORS_ONLN)\n"),
            (Fact::MemoryMiB, _) => script.push_str(
                "memory_mi_b=\nwhile read -r name kib _; do\n    if [ \"$name\" = MemTotal: ]; then memory_mi_b=$((kib / 1024)); fi\ndone </proc/meminfo\n",
            ),
            (Fact::ResolvConf, _) => script.push_str(RESOLVER),
            (Fact::Address, None) => script.push_str(ADDRESS),
            (Fact::Hostname, None) => script.push_str("hostname=$(hostname)\n"),
            (Fact::NodeName | Fact::ProviderId | Fact::MaxPods | Fact::ReservedCpu | Fact::ReservedMemory, _) => {}
            _ => return None,
        }
    }
    if facts.contains(&Fact::NodeName) {
        let _ = writeln!(script, "node_name=${}", variable(&named_by));
    }
    if facts.contains(&Fact::ProviderId) {
        script.push_str("provider_id=aws:///$zone/$instance_id\n");
    }
    if facts.contains(&Fact::MaxPods) {
        script.push_str(&pods(load, &plan.max_pods, "max_pods")?);
    }
    if facts.contains(&Fact::ReservedCpu) {
        script.push_str(CPU);
    }
    if facts.contains(&Fact::ReservedMemory) {
        script.push_str(&pods(load, plan.memory_limit(), "kept_pods")?);
        if let Some(each) = by_core {
            let _ = writeln!(
                script,
                "if [ $((cores * {each})) -lt \"$kept_pods\" ]; then kept_pods=$((cores * {each})); fi"
            );
        }
        script.push_str("reserved_memory=$((11 * kept_pods + 255))Mi\n");
    }
    Some(script)
}

/// Pods by instance type; nothing where their number hangs on more than that.
fn pods(load: &Load<'_>, limit: &PodLimit, variable: &str) -> Option<String> {
    if let PodLimit::Fixed(pods) = limit {
        return Some(format!("{variable}={pods}\n"));
    }
    let mut types: Vec<&str> = load.group.instance_types.iter().map(String::as_str).collect();
    types.sort_unstable();
    types.dedup();
    let mut script = String::from("case $instance_type in\n");
    for name in types {
        let _ = writeln!(script, "{name}) {variable}={} ;;", max_pods::literal(limit, name)?);
    }
    let _ = writeln!(script, "*) {variable}={} ;;\nesac", max_pods::literal(limit, "")?);
    Some(script)
}

/// Where the metadata service has it.
fn metadata_name(fact: &Fact, ipv6: bool) -> Option<String> {
    Some(match fact {
        Fact::InstanceId => "instance-id".to_owned(),
        Fact::InstanceType => "instance-type".to_owned(),
        Fact::Region => "placement/region".to_owned(),
        Fact::Zone => "placement/availability-zone".to_owned(),
        Fact::Lifecycle => "instance-life-cycle".to_owned(),
        Fact::Address if ipv6 => "ipv6".to_owned(),
        Fact::Address => "local-ipv4".to_owned(),
        Fact::Hostname => "local-hostname".to_owned(),
        Fact::Tag(tag) => format!("tags/instance/{tag}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use bringup_spec::{Fact, Text};

    use super::{filled, variable, word_of};

    #[test]
    fn only_facts_are_seen_by_the_shell() {
        let mut text = Text::literal("a $b `c` \\d \"e\" ");
        text.push(&Text::fact(Fact::InstanceId));
        assert_eq!(filled(&text), "a \\$b \\`c\\` \\\\d \"e\" ${instance_id}");
    }

    #[test]
    fn a_word_with_facts_is_one_word() {
        let mut text = Text::literal("in the ");
        text.push(&Text::fact(Fact::Zone));
        text.push_str("!");
        assert_eq!(word_of(&text), "'in the '\"${zone}\"'!'");
        assert_eq!(word_of(&Text::literal("")), "''");
    }

    #[test]
    fn every_fact_has_a_variable_of_its_own() {
        assert_eq!(variable(&Fact::MaxPods), "max_pods");
        assert_eq!(variable(&Fact::Tag("a-b".to_owned())), "tag_a_2db");
        assert_ne!(variable(&Fact::Tag("a.b".to_owned())), variable(&Fact::Tag("a-b".to_owned())));
    }
}
