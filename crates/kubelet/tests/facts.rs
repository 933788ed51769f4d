//! What is known of kubelet's history from elsewhere, asked of the table.
#![expect(clippy::panic, reason = "the helpers of tests fail them")]

use bringup_kubelet::{Known, Lookup, Minor, OLDEST, field, fields, flag, newest, obsolete_flag_value};

fn known(lookup: Lookup) -> Known {
    match lookup {
        Lookup::Known(known) => known,
        other => panic!("not known: {other:?}"),
    }
}

fn suggestion(lookup: Lookup) -> Option<String> {
    match lookup {
        Lookup::Unknown { suggestion } => suggestion,
        other => panic!("not unknown: {other:?}"),
    }
}

#[test]
fn the_flags_of_dockershim_went_in_1_24() {
    for name in
        ["--network-plugin", "--cni-bin-dir", "--cni-conf-dir", "--cni-cache-dir", "--docker-endpoint"]
    {
        assert_eq!(known(flag(name, Minor(23))).deprecated, Some(Minor(21)), "{name}");
        for minor in [24, 30, 37] {
            let Lookup::Removed { removed, instead } = flag(name, Minor(minor)) else {
                panic!("{name} is still there in 1.{minor}");
            };
            assert_eq!(removed, Minor(24), "{name}");
            assert!(!instead.is_empty(), "{name}");
        }
    }
}

#[test]
fn container_runtime_lived_on_as_a_dead_flag_until_1_27() {
    assert_eq!(known(flag("--container-runtime", Minor(23))).deprecated, None);
    for minor in [24, 26] {
        assert_eq!(known(flag("--container-runtime", Minor(minor))).deprecated, Some(Minor(24)));
    }
    assert!(
        matches!(flag("--container-runtime", Minor(27)), Lookup::Removed { removed, instead } if removed == Minor(27) && instead.contains("containerRuntimeEndpoint"))
    );
    assert_eq!(obsolete_flag_value("--container-runtime", "docker", Minor(23)), None);
    assert_eq!(
        obsolete_flag_value("--container-runtime", "docker", Minor(24)).map(|(since, _)| since),
        Some(Minor(24))
    );
    assert_eq!(obsolete_flag_value("--container-runtime", "remote", Minor(24)), None);
}

#[test]
fn in_tree_clouds_went_one_by_one() {
    let since =
        |value, minor| obsolete_flag_value("cloud-provider", value, Minor(minor)).map(|(since, _)| since.0);
    assert_eq!((since("aws", 26), since("aws", 27)), (None, Some(27)));
    assert_eq!((since("gce", 30), since("gce", 31)), (None, Some(31)));
    assert_eq!((since("external", 37), since("", 37)), (None, None));
}

#[test]
fn fields_came_with_the_minor_that_introduced_them() {
    for (path, added) in [
        ("seccompDefault", 22),
        ("memorySwap", 22),
        ("memorySwap.swapBehavior", 22),
        ("containerRuntimeEndpoint", 27),
        ("imageMaximumGCAge", 29),
        ("failCgroupV1", 31),
        ("crashLoopBackOff", 32),
        ("registerWithTaints[0].key", 23),
    ] {
        assert_eq!(field(path, Minor(added - 1)), Lookup::NotYet { added: Minor(added) }, "{path}");
        assert_eq!(known(field(path, Minor(added))).deprecated, None, "{path}");
    }
    known(field("shutdownGracePeriod", OLDEST));
}

#[test]
fn a_field_that_is_gone_says_since_when() {
    known(field("logging.sanitization", Minor(23)));
    assert!(matches!(field("logging.sanitization", Minor(24)), Lookup::Removed { removed: Minor(24), .. }));
}

#[test]
fn flags_name_the_field_that_they_override() {
    let shadows = |name, minor| known(flag(name, Minor(minor))).shadows;
    assert_eq!(shadows("--max-pods", 33), Some("maxPods"));
    assert_eq!(shadows("--client-ca-file", 20), Some("authentication.x509.clientCAFile"));
    assert_eq!(shadows("--resolv-conf", 20), Some("resolvConf"));
    assert_eq!(shadows("--event-qps", 20), Some("eventRecordQPS"));
    assert_eq!(shadows("--log-json-info-buffer-size", 30), Some("logging.options.json.infoBufferSize"));
    assert_eq!(shadows("--seccomp-default", 22), Some("seccompDefault"));
    assert_eq!(shadows("--node-ip", 33), None);
    assert_eq!(shadows("--node-labels", 33), None);
    // Bound to a field only since the field exists.
    assert_eq!(shadows("--container-runtime-endpoint", 26), None);
    assert_eq!(shadows("--container-runtime-endpoint", 27), Some("containerRuntimeEndpoint"));
    assert_eq!(shadows("--register-with-taints", 22), None);
    assert_eq!(shadows("--register-with-taints", 23), Some("registerWithTaints"));
}

#[test]
fn a_deprecation_can_be_taken_back() {
    let deprecated = |name, minor| known(flag(name, Minor(minor))).deprecated;
    assert_eq!(deprecated("--cloud-provider", 28), Some(OLDEST));
    assert_eq!(deprecated("--cloud-provider", 29), None);
    assert_eq!(deprecated("--provider-id", 27), Some(OLDEST));
    assert_eq!(deprecated("--provider-id", 28), None);
    assert_eq!(deprecated("--v", 33), None);
}

#[test]
fn flags_are_found_however_their_name_is_written() {
    for written in ["--max-pods", "max-pods", "--max_pods"] {
        assert_eq!(known(flag(written, Minor(33))).name, "max-pods", "{written}");
    }
    assert_eq!(known(flag("-v", Minor(33))).name, "v");
    assert_eq!(known(flag("-h", Minor(33))).name, "help");
    // cAdvisor and klog spell theirs with underscores.
    assert_eq!(known(flag("--add_dir_header", Minor(20))).name, "add-dir-header");
    assert_eq!(known(flag("--housekeeping_interval", Minor(37))).name, "housekeeping-interval");
}

#[test]
fn entries_of_lists_and_maps_belong_to_their_field() {
    for (path, name) in [
        ("evictionHard.memory.available", "evictionHard"),
        ("featureGates.RotateKubeletServerCertificate", "featureGates"),
        ("clusterDNS[0]", "clusterDNS"),
        ("clusterDNS[]", "clusterDNS"),
        ("registerWithTaints[3].effect", "registerWithTaints[].effect"),
        ("reservedMemory[0].limits.memory", "reservedMemory[].limits"),
    ] {
        assert_eq!(known(field(path, Minor(33))).name, name, "{path}");
    }
    assert_eq!(suggestion(field("maxPods.x", Minor(33))), None);
    assert_eq!(
        suggestion(field("registerWithTaints[0].efect", Minor(33))).as_deref(),
        Some("registerWithTaints[].effect")
    );
}

#[test]
fn unknown_names_get_the_nearest_known_one() {
    let meant = |path| suggestion(field(path, Minor(33)));
    assert_eq!(meant("maxPod").as_deref(), Some("maxPods"));
    assert_eq!(meant("MaxPods").as_deref(), Some("maxPods"));
    assert_eq!(
        meant("authentication.x509.clientCaFile").as_deref(),
        Some("authentication.x509.clientCAFile")
    );
    // In the wrong place,
    assert_eq!(meant("clientCAFile").as_deref(), Some("authentication.x509.clientCAFile"));
    // under a flag's name,
    assert_eq!(meant("event-qps").as_deref(), Some("eventRecordQPS"));
    // and nothing like it at all.
    assert_eq!(meant("hostNetwork"), None);

    let meant = |name| suggestion(flag(name, Minor(33)));
    assert_eq!(meant("--kube-reservd").as_deref(), Some("--kube-reserved"));
    assert_eq!(meant("--maxpods").as_deref(), Some("--max-pods"));
    assert_eq!(meant("--image-maximum-gc-age").as_deref(), Some("imageMaximumGCAge"));
    assert_eq!(meant("--etcd-servers"), None);
    // A suggestion is never a name that this minor lacks.
    assert_eq!(suggestion(field("seccompDefalt", Minor(20))), None);
}

#[test]
fn minors_outside_the_table_are_answered_by_its_ends() {
    assert_eq!(flag("--network-plugin", Minor(14)), flag("--network-plugin", OLDEST));
    assert_eq!(fields(Minor(18)).count(), fields(OLDEST).count());
    assert_eq!(fields(Minor(99)).count(), fields(newest()).count());
}
