use super::*;

fn words(line: &str) -> Vec<String> {
    split(line).unwrap()
}

fn request(line: &str) -> BootstrapRequest {
    let parsed = parse(&words(line), &[]);
    parsed.request.unwrap_or_else(|| panic!("{line}: {:#?}", parsed.findings))
}

fn messages(line: &str) -> Vec<String> {
    let parsed = parse(&words(line), &[]);
    assert_eq!(parsed.request, None, "{line}");
    parsed.findings.iter().map(|finding| finding.message.clone()).collect()
}

#[test]
fn a_name_is_enough() {
    let request = request("prod");
    assert!(request.needs_cluster());
    assert_eq!(
        request,
        BootstrapRequest {
            cluster: "prod".to_owned(),
            endpoint: None,
            authority: None,
            retry_attempts: 3,
            cluster_id: None,
            local_outpost: None,
            runtime: None,
            containerd_config_file: None,
            dns: None,
            docker_config: None,
            docker_bridge: false,
            ipv6: None,
            kubelet_extra_args: None,
            local_disks: None,
            mount_bpf: true,
            pause_account: None,
            pause_version: "3.5".to_owned(),
            service_ipv4: None,
            service_ipv6: None,
            use_max_pods: true,
        }
    );
}

#[test]
fn both_forms_of_all_flags_are_known() {
    let value = |flag: &Flag| match (flag.name, flag.value) {
        (_, "BOOL") => "true",
        ("aws-api-retry-attempts", _) => "7",
        ("container-runtime", _) => "containerd",
        ("ip-family", _) => "IPv6",
        ("local-disks", _) => "raid0",
        _ => "x",
    };
    let apart: Vec<String> =
        FLAGS.iter().flat_map(|flag| [format!("--{}", flag.name), value(flag).to_owned()]).collect();
    let joined: Vec<String> = FLAGS.iter().map(|flag| format!("--{}={}", flag.name, value(flag))).collect();
    let [apart, joined] = [apart, joined].map(|mut words| {
        words.insert(2, "prod".to_owned());
        let parsed = parse(&words, &[]);
        parsed.request.unwrap_or_else(|| panic!("{:#?}", parsed.findings))
    });
    assert_eq!(apart, joined);
    assert_eq!(apart.cluster, "prod");
    assert_eq!((apart.retry_attempts, apart.ipv6, apart.local_outpost), (7, Some(true), Some(true)));
    assert!(!apart.needs_cluster());
}

#[test]
fn the_next_word_is_the_value_whatever_it_looks_like() {
    let request = request("prod --kubelet-extra-args '--node-labels=a=b --max-pods=10' --use-max-pods false");
    assert_eq!(request.kubelet_extra_args.as_deref(), Some("--node-labels=a=b --max-pods=10"));
    assert_eq!(request.extra_words(), ["--node-labels=a=b", "--max-pods=10"]);
    assert!(!request.use_max_pods);
}

#[test]
fn an_empty_value_is_none_and_the_last_one_counts() {
    let request = request(
        "prod --dns-cluster-ip '' --use-max-pods '' --container-runtime= --ip-family ipv4 --ip-family ipv6",
    );
    assert_eq!((request.dns, request.runtime, request.ipv6), (None, None, Some(true)));
    assert!(request.use_max_pods);
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    assert_eq!(
        messages(
            "prod test --use-maxpods true -x --ip-family ipv5 --mount-bpf-fs yes --aws-api-retry-attempts many --cluster-id"
        ),
        [
            "there is no flag `--use-maxpods`",
            "there is no flag `-x`",
            "`--cluster-id` has no value",
            "`test` is a second name of a cluster",
            "`--ip-family` cannot be `ipv5`",
            "`--aws-api-retry-attempts` is no number",
            "`--mount-bpf-fs` cannot be `yes`",
        ]
    );
    let parsed = parse(&words("--use-maxpods=true"), &[]);
    let hints: Vec<_> = parsed.findings.iter().map(|finding| finding.hint.clone().unwrap()).collect();
    assert_eq!(
        hints,
        ["did you mean `--use-max-pods`?", "write it as a word of its own: `bootstrap CLUSTER`"]
    );
}

#[test]
fn the_script_has_its_own_names_for_variables() {
    let variables: Vec<String> = FLAGS.iter().map(Flag::variable).collect();
    for name in ["API_RETRY_ATTEMPTS", "B64_CLUSTER_CA", "KUBELET_EXTRA_ARGS", "USE_MAX_PODS"] {
        assert!(variables.iter().any(|variable| variable == name), "{name}");
    }
}

#[test]
fn families_must_agree() {
    assert_eq!(
        messages("prod --ip-family ipv4 --service-ipv6-cidr fd00::/108"),
        ["`--service-ipv6-cidr` is for a cluster with IPv6, and `--ip-family` says `ipv4`"]
    );
    assert_eq!(request("prod --service-ipv6-cidr fd00::/108").ipv6, Some(true));
}

#[test]
fn flags_beside_the_scripts_own_are_handed_back() {
    let parsed = parse(&words("--root=/x prod --facts y --help"), &["root", "facts", "until"]);
    assert!(parsed.help && parsed.request.is_some());
    let expected = [("facts", "y"), ("root", "/x")];
    assert_eq!(parsed.beside, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    // Nothing is not the same as none: it would be this machine's own root.
    let parsed = parse(&words("prod --root '' --facts="), &["root", "facts"]);
    assert_eq!(
        parsed.beside,
        [("facts", ""), ("root", "")].map(|(k, v)| (k.to_owned(), v.to_owned())).into()
    );
    // A value of another flag is none of them.
    let parsed = parse(&words("prod --kubelet-extra-args --root"), &["root"]);
    assert!(parsed.beside.is_empty());
}

/// As `printf '<%s>' WORDS` of dash shows them.
#[test]
fn words_are_those_of_a_shell() {
    for (text, expected) in [
        ("--a=b  --c", vec!["--a=b", "--c"]),
        (r#"--a="b c" 'd e'"#, vec!["--a=b c", "d e"]),
        (r#""a\"b\\c\d$e""#, vec![r#"a"b\c\d$e"#]),
        (r"a\ b \'", vec!["a b", "'"]),
        ("'' \"\"", vec!["", ""]),
        ("a\\\nb\n c", vec!["ab", "c"]),
        ("", vec![]),
    ] {
        assert_eq!(split(text), Some(expected.into_iter().map(str::to_owned).collect()), "{text}");
    }
    for open in ["'a", "\"a", "a\\"] {
        assert_eq!(split(open), None, "{open}");
    }
    assert_eq!(
        messages("prod --kubelet-extra-args \"--a='b\""),
        ["`--kubelet-extra-args` has a quote that is not closed"]
    );
}

mod properties {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_words_are_a_request_or_findings(words: Vec<String>) {
            let parsed = super::parse(&words, &["root"]);
            prop_assert_eq!(parsed.request.is_none(), parsed.findings.has_errors());
        }

        #[test]
        fn plain_words_come_back(words in proptest::collection::vec("[a-z=,./-]{1,9}", 0..6)) {
            prop_assert_eq!(super::split(&words.join(" ")), Some(words));
        }
    }
}
