//! Facts, what follows from them, and where they are filled in.
#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};

use bringup_facts::identity::{Firmware, identify};
use bringup_facts::{FactFault, Facts, Known, environment_file, wanted, word};
use bringup_plan::{Action, Content, Plan, PodLimit};
use bringup_spec::{Fact, NodeNamePolicy, Text};

fn plan() -> Plan {
    let text = r#"{"format":1,"cluster":"c","group":"g","flavour":"bringup","kubernetes":"1.33","platform":"aws",
        "os":"amazon-linux-2023","architecture":"x86_64","role":"worker","nodeName":"private-dns",
        "maxPods":{"interfaces":{"prefixDelegation":false,"customNetworking":false,"cap":null}},"units":[],"steps":[]}"#;
    serde_json::from_str(text).expect("a plan")
}

fn facts() -> Facts {
    let text = br#"{"platform":"aws","region":"eu-central-1","zone":"eu-central-1b","instanceId":"i-0123456789abcdef0",
        "instanceType":"m5.large","lifecycle":"spot","address":"10.0.1.2",
        "hostname":"ip-10-0-1-2.eu-central-1.compute.internal","cores":2,"memoryMiB":7800,"tags":{"team":"a b"}}"#;
    Facts::from_json(text).expect("facts")
}

#[test]
fn facts_are_read_and_written_the_same() {
    assert_eq!(Facts::from_json(facts().to_json().as_bytes()).expect("facts"), facts());
}

#[test]
fn a_misspelt_fact_is_told_with_its_place() {
    let fault = Facts::from_json(b"{\n \"instanceID\": \"i-1\"}").expect_err("a misspelt name");
    assert!(fault.to_string().starts_with("line 2, column 13: unknown field `instanceID`"), "{fault}");
}

#[test]
fn what_follows_is_worked_out() {
    let (plan, facts) = (plan(), facts());
    let known = Known::new(&plan, &facts);
    let value = |fact: Fact| known.value(&fact).expect("known");
    // 3 interfaces of 10 addresses: 3 * 9 + 2. 11 MiB a pod and 255. 6 % of the first core and 1 % of the second.
    assert_eq!(value(Fact::MaxPods), "29");
    assert_eq!(value(Fact::ReservedMemory), "574Mi");
    assert_eq!(value(Fact::ReservedCpu), "70m");
    assert_eq!(value(Fact::NodeName), "ip-10-0-1-2.eu-central-1.compute.internal");
    assert_eq!(value(Fact::ProviderId), "aws:///eu-central-1b/i-0123456789abcdef0");
    assert_eq!(value(Fact::Tag("team".to_owned())), "a b");
}

#[test]
fn memory_is_kept_for_the_pods_that_kubelet_lets_in() {
    let (mut plan, facts) = (plan(), facts());
    // Of 29 pods by the interfaces, two cores of 10 each let 20 in: 20 * 11 + 255. kubelet still gets 29 as its other bound.
    plan.pods_per_core = Some(10);
    let known = Known::new(&plan, &facts);
    assert_eq!(known.value(&Fact::ReservedMemory), Ok("475Mi".to_owned()));
    assert_eq!(known.value(&Fact::MaxPods), Ok("29".to_owned()));
    // A bound for each core that lets more in changes nothing.
    plan.pods_per_core = Some(100);
    assert_eq!(Known::new(&plan, &facts).value(&Fact::ReservedMemory), Ok("574Mi".to_owned()));
    plan.max_pods = PodLimit::Fixed(20);
    plan.facts = BTreeSet::from([Fact::ReservedMemory]);
    assert!(wanted(&plan).cores);
}

#[test]
fn what_is_not_known_is_an_error_where_it_is_used() {
    let mut plan = plan();
    plan.facts = BTreeSet::from([Fact::Zone, Fact::Tag("missing".to_owned())]);
    let facts = facts();
    let faults = Known::new(&plan, &facts).faults();
    assert_eq!(faults, [FactFault::Missing { fact: Fact::Tag("missing".to_owned()) }]);
    assert!(faults[0].hint().contains("InstanceMetadataTags"));
    // What is missing is told once, however much follows from it.
    plan.facts = BTreeSet::from([Fact::Zone, Fact::ProviderId, Fact::Cores, Fact::ReservedCpu]);
    let facts = Facts { zone: None, cores: None, ..facts };
    let missing = |fact| FactFault::Missing { fact };
    assert_eq!(Known::new(&plan, &facts).faults(), [missing(Fact::Zone), missing(Fact::Cores)]);
}

#[test]
fn what_says_nothing_is_not_known() {
    let mut plan = plan();
    plan.facts = BTreeSet::from([Fact::InstanceId, Fact::Cores, Fact::Address, Fact::Tag("team".to_owned())]);
    let tags = BTreeMap::from([("team".to_owned(), String::new())]);
    let empty = || Some(String::new());
    let facts = Facts { instance_id: empty(), cores: Some(0), address: empty(), tags, ..facts() };
    let mut faults = Known::new(&plan, &facts).faults();
    faults.sort_by_key(ToString::to_string);
    let missing = |fact| FactFault::Missing { fact };
    assert_eq!(faults, [missing(Fact::Address), missing(Fact::Cores), missing(Fact::InstanceId)]);
    let facts = Facts { address: Some("ip-10-0-1-2".to_owned()), ..facts };
    let fault = Known::new(&plan, &facts).value(&Fact::Address).unwrap_err();
    assert_eq!(fault.to_string(), "`ip-10-0-1-2` is no address of a machine");
}

#[test]
fn names_that_no_node_can_have_are_refused() {
    let mut plan = plan();
    for (hostname, refused) in [
        ("ip-10-0-0-1.ec2.internal", false),
        ("IP-10-0-0-1.EC2.internal", false),
        ("ip-10-0-0-1.a.example b.example", true),
        ("", true),
        ("-a.b", true),
        ("a..b", true),
        ("a_b", true),
    ] {
        let facts = Facts { hostname: Some(hostname.to_owned()), ..facts() };
        assert_eq!(Known::new(&plan, &facts).node_name().is_err(), refused, "{hostname}");
    }
    plan.node_name = NodeNamePolicy::InstanceId;
    assert_eq!(Known::new(&plan, &facts()).node_name().as_deref(), Ok("i-0123456789abcdef0"));
    plan.node_name = NodeNamePolicy::Address;
    let named = |address: &str| {
        let facts = Facts { address: Some(address.to_owned()), ..facts() };
        Known::new(&plan, &facts).node_name()
    };
    assert_eq!(named("10.0.0.9").as_deref(), Ok("10.0.0.9"));
    assert!(named("fd00::9").is_err(), "an IPv6 address is no name");
}

#[test]
fn a_line_end_in_a_fact_is_refused() {
    let (plan, facts) = (plan(), Facts { zone: Some("a\nB=c".to_owned()), ..facts() });
    let fault = Known::new(&plan, &facts).value(&Fact::Zone);
    assert_eq!(fault, Err(FactFault::ControlCharacter { fact: Fact::Zone }));
}

#[test]
fn facts_are_filled_into_files_programs_and_the_gate() {
    let (plan, facts) = (plan(), facts());
    let known = Known::new(&plan, &facts);
    let text = |text: &str| Text::parse(text).expect("a text");
    let file = Action::WriteFile {
        path: "/x".to_owned(),
        mode: "0644".to_owned(),
        owner: "root:root".to_owned(),
        content: Content::Text(text("in @{zone}")),
    };
    let Ok(Action::WriteFile { content: Content::Text(filled), .. }) = known.action(&file) else { panic!() };
    assert_eq!(filled.as_literal(), Some("in eu-central-1b"));
    let gate = Action::OpenGate {
        environment: BTreeMap::from([("ARGS".to_owned(), text("--node-labels=team=@{tags.team} --v=2"))]),
        queue_kubelet: true,
    };
    let Ok(Action::OpenGate { environment, .. }) = known.action(&gate) else { panic!() };
    assert_eq!(environment["ARGS"].as_literal(), Some(r"--node-labels=team=a\ b --v=2"));
}

#[test]
fn only_what_the_plan_uses_is_asked_for() {
    let mut plan = plan();
    plan.facts = BTreeSet::from([Fact::NodeName, Fact::ReservedMemory]);
    let asked = wanted(&plan);
    assert!(asked.hostname && !asked.own_hostname && asked.cores && asked.identity);
    assert!(!asked.lifecycle && !asked.address && asked.tags.is_empty());
    plan.max_pods = PodLimit::Fixed(20);
    assert!(!wanted(&plan).cores);
}

#[test]
fn variables_are_quoted_as_systemd_reads_them() {
    // By systemd.exec(5): within double quotes a backslash keeps `"`, `\`, a backtick and `$` as they are.
    assert_eq!(environment_file([("A", r#"x "y" $z \ `w`"#)]), "A=\"x \\\"y\\\" \\$z \\\\ \\`w\\`\"\n");
    assert_eq!(word("a b'c"), r"a\ b\'c");
}

#[test]
fn machines_are_told_apart() {
    let nitro = Firmware {
        vendor: "Amazon EC2".to_owned(),
        product: "m5.large".to_owned(),
        uuid: "EC2F0000-1111-2222-3333-444455556666".to_owned(),
        asset_tag: "i-0123456789abcdef0".to_owned(),
        machine_id: "0123456789abcdef0123456789abcdef".to_owned(),
    };
    let identity = identify(&nitro);
    assert_eq!(identity.name, "i-0123456789abcdef0");
    assert_eq!(identity.instance_type.as_deref(), Some("m5.large"));
    let xen = Firmware {
        asset_tag: String::new(),
        product: "HVM domU".to_owned(),
        vendor: "Xen".to_owned(),
        ..nitro
    };
    assert_eq!(identify(&xen).name, "uuid:ec2f0000-1111-2222-3333-444455556666");
    assert_eq!(identify(&xen).instance_type, None);
    let none = Firmware { uuid: "00000000-0000-0000-0000-000000000000".to_owned(), ..xen };
    assert_eq!(identify(&none).name, "machine:0123456789abcdef0123456789abcdef");
    assert_eq!(identify(&Firmware::default()).name, "unknown");
}

/// A certificate as far as anybody looks, in base64 as EKS has it.
const AUTHORITY: &str =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJrVENCKzZBREFnRUNBZ0VCCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K";

fn in_cluster(range: &str) -> (Plan, Facts) {
    let (mut plan, mut given) = (plan(), facts());
    plan.eks = Some(bringup_plan::EksCluster { name: "prod".to_owned(), region: "eu-central-1".to_owned() });
    let text = format!(
        r#"{{"cluster":{{"name":"prod","endpoint":"https://AB.eks.amazonaws.com","certificateAuthority":"{AUTHORITY}","serviceCidr":"{range}"}}}}"#
    );
    given = given.or(Facts::from_json(text.as_bytes()).expect("facts"));
    (plan, given)
}

#[test]
fn what_eks_says_of_the_cluster_is_filled_in() {
    let (plan, facts) = in_cluster("10.100.0.0/16");
    let known = Known::new(&plan, &facts);
    let value = |fact: Fact| known.value(&fact).expect("known");
    assert_eq!(value(Fact::ClusterEndpoint), "https://AB.eks.amazonaws.com");
    assert_eq!(
        value(Fact::ClusterAuthority),
        "-----BEGIN CERTIFICATE-----\nMIIBkTCB+6ADAgECAgEB\n-----END CERTIFICATE-----\n"
    );
    assert_eq!(value(Fact::ClusterDns), "10.100.0.10");
    // The tenth address of a range, wherever it begins.
    let (plan, facts) = in_cluster("10.0.0.16/28");
    assert_eq!(Known::new(&plan, &facts).value(&Fact::ClusterDns), Ok("10.0.0.26".to_owned()));
    let (mut plan, facts) = in_cluster("fd30:1c53::/108");
    assert!(matches!(
        Known::new(&plan, &facts).value(&Fact::ClusterDns),
        Err(FactFault::BadCluster { fact: Fact::ClusterDns, .. })
    ));
    plan.ipv6 = true;
    assert_eq!(Known::new(&plan, &facts).value(&Fact::ClusterDns), Ok("fd30:1c53::a".to_owned()));
}

#[test]
fn facts_of_another_cluster_are_not_taken() {
    let (mut plan, facts) = in_cluster("10.100.0.0/16");
    plan.eks = Some(bringup_plan::EksCluster { name: "test".to_owned(), region: "eu-central-1".to_owned() });
    assert_eq!(
        Known::new(&plan, &facts).value(&Fact::ClusterEndpoint),
        Err(FactFault::Missing { fact: Fact::ClusterEndpoint })
    );
    assert_eq!(Facts::from_json(facts.to_json().as_bytes()).expect("facts"), facts);
}

#[test]
fn the_machine_that_made_the_object_starts_the_cluster() {
    let mut plan = plan();
    let object = "s3://harbour/first".to_owned();
    plan.bootstrap = Some(bringup_plan::Election::Store { object: object.clone() });
    let mut facts = facts();
    let unknown = FactFault::NoElection { object: object.clone() };
    assert_eq!(Known::new(&plan, &facts).elected(), Err(unknown.clone()));
    assert_eq!(Known::new(&plan, &facts).faults(), std::slice::from_ref(&unknown));
    for (holder, elected) in [("i-0123456789abcdef0", true), ("i-0fedcba9876543210", false)] {
        facts.election =
            Some(bringup_facts::ElectionFacts { object: object.clone(), holder: holder.to_owned() });
        assert_eq!(Known::new(&plan, &facts).elected(), Ok(elected), "{holder}");
        assert_eq!(Facts::from_json(facts.to_json().as_bytes()).expect("facts"), facts);
    }
    // What was decided by another object decides nothing.
    facts.election = Some(bringup_facts::ElectionFacts {
        object: "s3://harbour/other".to_owned(),
        holder: "i-0123456789abcdef0".to_owned(),
    });
    assert_eq!(Known::new(&plan, &facts).elected(), Err(unknown));
}

#[test]
fn the_tag_is_the_clusters_for_those_that_join_and_the_documents_for_the_one_that_starts_it() {
    let (mut plan, mut facts) = (plan(), facts());
    plan.kubernetes = "1.33.4+coreos.0".to_owned();
    let tag = |plan: &Plan, facts: &Facts| Known::new(plan, facts).value(&Fact::KubernetesTag);
    assert_eq!(tag(&plan, &facts), Ok("v1.33.4_coreos.0".to_owned()));
    let server =
        bringup_plan::ApiServer { endpoint: "https://x".to_owned(), certificate_authority: String::new() };
    plan.detect = Some(server);
    assert_eq!(tag(&plan, &facts), Err(FactFault::Missing { fact: Fact::KubernetesTag }));
    facts.kubernetes_tag = Some("v1.34.1".to_owned());
    assert_eq!(tag(&plan, &facts), Ok("v1.34.1".to_owned()));
    plan.bootstrap = Some(bringup_plan::Election::Always);
    assert_eq!(tag(&plan, &facts), Ok("v1.33.4_coreos.0".to_owned()));
}

/// The agent installs what goes with the cluster that it joins, and the digest of the step follows.
#[test]
fn a_runtime_is_chosen_by_the_version_of_the_cluster() {
    use bringup_plan::{Action, InstallChoice, InstallSource};
    let package = |name: &str| InstallSource::Package { package: name.to_owned() };
    let choice = |range: &str, version: &str| InstallChoice {
        kubernetes: bringup_spec::MinorRange::parse(range).unwrap(),
        version: version.to_owned(),
        source: package(version),
    };
    let install = |version: &str, choices: Vec<InstallChoice>| Action::Install {
        software: "containerd".to_owned(),
        version: Some(version.to_owned()),
        source: package(version),
        choices,
        data: Some("/var/lib/containerd".to_owned()),
    };
    let offered = install("1.7.24", vec![choice("1.31-1.33", "1.7.24"), choice("1.34", "1.7.29")]);
    let mut plan = plan();
    plan.detect = Some(bringup_plan::ApiServer {
        endpoint: "https://x".to_owned(),
        certificate_authority: String::new(),
    });
    let mut facts = Facts::default();
    for (tag, version) in [("v1.33.1", "1.7.24"), ("v1.34.2_coreos.0", "1.7.29")] {
        facts.kubernetes_tag = Some(tag.to_owned());
        assert_eq!(Known::new(&plan, &facts).action(&offered), Ok(install(version, Vec::new())), "{tag}");
    }
    facts.kubernetes_tag = Some("v1.35.0".to_owned());
    let fault = Known::new(&plan, &facts).action(&offered).unwrap_err();
    assert_eq!(fault.to_string(), "no version of containerd is named for a cluster of v1.35.0");
    assert!(fault.hint().contains("runtime.versions"));
}

/// EKS gives services 172.20.0.0/16 in a network that begins with 10, and 10.100.0.0/16 in others.
#[test]
fn dns_is_guessed_from_the_addresses_of_the_network() {
    let (mut plan, facts) = in_cluster("10.100.0.0/16");
    plan.facts = [Fact::GuessedDns].into();
    assert!(bringup_facts::wanted(&plan).network);
    for (networks, guess) in [
        (vec!["10.0.0.0/16"], "172.20.0.10"),
        (vec!["192.168.0.0/16", "10.1.0.0/16"], "172.20.0.10"),
        (vec!["192.168.0.0/16"], "10.100.0.10"),
        (vec![], "10.100.0.10"),
    ] {
        let vpc_cidrs = networks.into_iter().map(str::to_owned).collect();
        let facts = Facts { vpc_cidrs, ..facts.clone() };
        assert_eq!(Known::new(&plan, &facts).value(&Fact::GuessedDns).as_deref(), Ok(guess));
    }
}
