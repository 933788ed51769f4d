//! Every field of kops' types is accounted for; what is none of them is told.

use bringup_ancestors::{Input, read};
use bringup_diag::Severity;

use crate::{cluster, errors, group, translated, warnings};

// The names of fields in kops' API, of both versions, as its types list them.
const CLUSTER: &str = "\
    DisableSubnetTags additionalNetworkCIDRs additionalPolicies additionalSans addons api assets \
    authentication authorization awsLoadBalancerController certManager channel cloudConfig \
    cloudControllerManager cloudLabels cloudProvider clusterAutoscaler clusterDNSDomain configBase \
    configStore containerRuntime containerd controlPlaneKubelet dnsControllerGossipConfig dnsZone docker \
    egressProxy encryptionConfig etcdClusters externalDNS externalDns externalPolicies fileAssets \
    gossipConfig hooks iam isolateMasters karpenter keyStore kubeAPIServer kubeControllerManager kubeDNS \
    kubeProxy kubeScheduler kubelet kubernetesApiAccess kubernetesVersion masterInternalName \
    masterKubelet masterPublicName metricsServer networkCIDR networkID networking nodeAuthorization \
    nodePortAccess nodeProblemDetector nodeTerminationHandler nonMasqueradeCIDR ntp packages podCIDR \
    podIdentityWebhook project rollingUpdate secretStore serviceAccountIssuerDiscovery \
    serviceClusterIPRange snapshotController sshAccess sshKeyName subnets sysctlParameters target \
    topology updatePolicy useHostCertificates warmPool";

const GROUP: &str = "\
    additionalSecurityGroups additionalUserData associatePublicIP associatePublicIp autoscale \
    autoscalePriority capacityRebalance cloudLabels compressUserData containerd cpuCredits \
    detailedInstanceMonitoring externalLoadBalancers fileAssets gcpProvisioningModel guestAccelerators \
    hooks iam image instanceInterruptionBehavior instanceMetadata instanceProtection kubelet machineType \
    manager maxInstanceLifetime maxPrice maxSize minSize mixedInstancesPolicy nodeLabels packages role \
    rollingUpdate rootVolume rootVolumeDeleteOnTermination rootVolumeEncryption rootVolumeEncryptionKey \
    rootVolumeIops rootVolumeOptimization rootVolumeSize rootVolumeThroughput rootVolumeType \
    securityGroupOverride spotDurationInMinutes subnets suspendProcesses sysctlParameters taints tenancy \
    updatePolicy volumeMounts volumes warmPool zones";

const KUBELET: &str = "\
    allowPrivileged allowedUnsafeSysctls anonymousAuth apiServers authenticationTokenWebhook \
    authenticationTokenWebhookCacheTTL authenticationTokenWebhookCacheTtl authorizationMode \
    babysitDaemons bootstrapKubeconfig cgroupDriver cgroupRoot clientCaFile cloudProvider clusterDNS \
    clusterDomain configureCbr0 containerLogMaxFiles containerLogMaxSize cpuCFSQuota cpuCFSQuotaPeriod \
    cpuManagerPolicy crashLoopBackOffMaxContainerRestartPeriod dockerDisableSharedPID \
    enableCadvisorJsonEndpoints enableCustomMetrics enableDebuggingHandlers enforceNodeAllocatable \
    eventBurst eventQPS eventRecordQPS evictionHard evictionMaxPodGracePeriod evictionMinimumReclaim \
    evictionPressureTransitionPeriod evictionSoft evictionSoftGracePeriod \
    experimentalAllocatableIgnoreEviction experimentalAllowedUnsafeSysctls failSwapOn featureGates \
    hairpinMode hostnameOverride housekeepingInterval imageGCHighThresholdPercent \
    imageGCLowThresholdPercent imageMaximumGCAge imageMinimumGCAge imagePullProgressDeadline \
    kernelMemcgNotification kubeAPIQPS kubeReserved kubeReservedCgroup kubeconfigPath kubeletCgroups \
    logFormat logLevel maxParallelImagePulls maxPods memorySwapBehavior networkPluginMTU \
    networkPluginName nodeLabels nodeLeaseDurationSeconds nodeStatusUpdateFrequency nonMasqueradeCIDR \
    nvidiaGPUs podCIDR podInfraContainerImage podManifestPath podPidsLimit protectKernelDefaults \
    readOnlyPort reconcileCIDR registerNode registerSchedulable registryBurst registryPullQPS \
    requireKubeconfig resolvConf rootDir rotateCertificates runtimeCgroups runtimeRequestTimeout \
    seccompDefault seccompProfileRoot serializeImagePulls shutdownGracePeriod \
    shutdownGracePeriodCriticalPods streamingConnectionIdleTimeout systemCgroups systemReserved \
    systemReservedCgroup taints tlsCertFile tlsCipherSuites tlsMinVersion tlsPrivateKeyFile \
    topologyManagerPolicy volumePluginDirectory volumeStatsAggPeriod";

const CONTAINERD: &str = "\
    address configAdditions configOverride gvisor installCriCtl installNerdCtl logLevel nri nvidiaGPU \
    packages registryMirrors root runc sandboxImage selinuxEnabled skipInstall state \
    useECRCredentialsForMirrors version";

const DOCKER: &str = "\
    authorizationPlugins bridge bridgeIP dataRoot defaultRuntime defaultUlimit dns execOpt execRoot \
    experimental healthCheck hosts insecureRegistries insecureRegistry ipMasq ipTables liveRestore \
    logDriver logLevel logOpt maxConcurrentDownloads maxConcurrentUploads maxDownloadAttempts \
    metricsAddress mtu packages registryMirrors runtimes selinuxEnabled skipInstall storage storageOpts \
    userNamespaceRemap version";

const NETWORKING: &str = "\
    additionalNetworkCIDRs amazonVPC amazonvpc calico canal cilium classic cni egressProxy external \
    flannel gce gcp isolateControlPlane kindnet kopeio kubeRouter kubenet kuberouter lyftvpc networkCIDR \
    networkID nonMasqueradeCIDR podCIDR romana serviceClusterIPRange subnets tagSubnets topology weave";

/// Findings about unknown fields in a mapping with all of these.
fn unknown(names: &str, document: impl Fn(&str) -> String) -> Vec<String> {
    let fields: String = names.split_whitespace().flat_map(|name| [name, ": []\n"]).collect();
    let findings = translated(&document(&fields)).findings;
    findings
        .into_iter()
        .filter(|finding| finding.code.name == "ancestor/unknown-field")
        .map(|finding| finding.message)
        .collect()
}

fn nested(key: &str, fields: &str) -> String {
    let fields: String = fields.lines().flat_map(|line| ["  ", line, "\n"]).collect();
    format!("{key}:\n{fields}")
}

#[test]
fn every_field_of_kops_is_known() {
    let none = Vec::<String>::new();
    let bare =
        "apiVersion: kops.k8s.io/v1alpha3\nkind: Cluster\nmetadata: {name: quarry.example.com}\nspec:\n";
    let whole = |fields: &str| {
        nested(&format!("{bare}#"), "").replace("#:\n", "")
            + &nested("#", fields).replacen("#:\n", "", 1)
            + &group("")
    };
    assert_eq!(unknown(CLUSTER, whole), none);
    assert_eq!(
        unknown(GROUP, |fields| cluster("")
            + &group(fields)
                .replacen("  role: Node\n", "", 1)
                .replacen("  machineType: m5.large\n", "", 1)
                .replacen("  image: ubuntu/images/ubuntu-noble-24.04-amd64-server-20250610\n", "", 1)),
        none
    );
    for (key, names) in [
        ("kubelet", KUBELET),
        ("masterKubelet", KUBELET),
        ("containerd", CONTAINERD),
        ("docker", DOCKER),
        ("networking", NETWORKING),
    ] {
        assert_eq!(unknown(names, |fields| cluster(&nested(key, fields)) + &group("")), none, "{key}");
    }
    assert_eq!(unknown(KUBELET, |fields| cluster("") + &group(&nested("kubelet", fields))), none);
    assert_eq!(unknown(CONTAINERD, |fields| cluster("") + &group(&nested("containerd", fields))), none);
}

#[test]
fn unknown_fields_are_named_with_their_lines() {
    let text = cluster("kubelett: {}\n") + &group("somethingElse: 1\nkubelet:\n  maxPod: 3\n");
    assert_eq!(
        errors(&text),
        ["unknown field `kubelett` in kops' Cluster", "unknown field `maxPod` in kubelet of a kops group"]
    );
    assert!(warnings(&text).contains(&"unknown field `somethingElse` in kops' InstanceGroup".to_owned()));
    let place =
        translated(&text).findings.into_iter().find(|finding| finding.message.contains("somethingElse"));
    let place = place.and_then(|finding| finding.place).unwrap();
    let line = text.lines().position(|line| line.contains("somethingElse")).unwrap() + 1;
    assert_eq!((place.file.as_str(), place.span.start.line as usize), ("kops.yaml", line));
}

/// The cluster, its groups and the additions may stand in files of their own; a group needs its cluster.
#[test]
fn documents_find_each_other_over_files() {
    let (cluster, group) = (cluster(""), group(""));
    let both =
        read(&[Input { name: "cluster.yaml", text: &cluster }, Input { name: "nodes.yaml", text: &group }]);
    assert_eq!(both.documents.len(), 1);
    let alone = read(&[Input { name: "nodes.yaml", text: &group }]);
    assert_eq!(alone.documents.len(), 0);
    let told: Vec<String> = alone
        .findings
        .into_iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.message)
        .collect();
    assert_eq!(told, ["the cluster `quarry.example.com` that this group belongs to is not there"]);
}

/// kops applies other objects beside its own to the cluster; keys of people are no business of nodes.
#[test]
fn other_objects_are_left_aside() {
    let more = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n---\napiVersion: kops.k8s.io/v1alpha2\nkind: SSHCredential\nmetadata: {name: admin}\nspec: {publicKey: x}\n";
    assert_eq!(errors(&format!("{}{}{more}", cluster(""), group(""))), Vec::<String>::new());
    let old = errors(&cluster("").replace("v1alpha2", "v1alpha1"));
    assert_eq!(old, ["version `v1alpha1` of kops' documents is not understood"]);
}

/// What is hung on an object beside its name is kops' business; what kops does not have is a mistake.
#[test]
fn unknown_metadata_is_named() {
    let text = "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata:\n  name: a.example.com\n  creationTimestamp: \"2026-01-01T00:00:00Z\"\n  colour: blue\nspec: {}\n";
    let read = bringup_ancestors::read(&[bringup_ancestors::Input { name: "a.yaml", text }]);
    let told: Vec<&str> = read.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert!(told.contains(&"unknown field `colour` in `metadata` of an object of kops"), "{told:?}");
    assert!(!told.iter().any(|message| message.contains("creationTimestamp")), "{told:?}");
}

/// v1alpha3 has under `cloudProvider.aws` what v1alpha2 has in the cluster; each field is told by its own name.
#[test]
fn fields_of_a_cloud_are_accounted_for_one_by_one() {
    let text = cluster("")
        .replace("v1alpha2", "v1alpha3")
        .replace("cloudProvider: aws", "cloudProvider: {aws: {warmPool: {minSize: 1}, ebsCSIDriver: {enabled: true}, colour: blue, useIPBasedNodeNames: true}}")
        + &group("");
    let told = warnings(&text);
    assert!(
        told.contains(
            &"`warmPool` of `cloudProvider.aws` of kops is not carried out: the node will differ".to_owned()
        ),
        "{told:?}"
    );
    assert!(told.contains(&"unknown field `colour` in `cloudProvider.aws` of kops".to_owned()), "{told:?}");
    let notes = crate::told(translated(&text).findings, Severity::Note);
    assert!(
        notes.iter().any(|message| message.starts_with("`ebsCSIDriver` of `cloudProvider.aws` of kops")),
        "{notes:?}"
    );
    let slip = text.replace("{aws: {warmPool", "{asw: 1, aws: {warmPool");
    assert_eq!(errors(&slip), ["unknown field `asw` in `cloudProvider` of kops"]);
}

/// A name of kops has letters that a document of ours cannot have: additions may use either.
#[test]
fn additions_know_a_cluster_and_a_group_by_both_names() {
    let text = cluster("") + &group("").replace("name: nodes", "name: nodes.a");
    let with = |name: &str, group: &str| {
        let more = format!(
            "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nmetadata: {{name: {name}}}\nspec:\n  join: {{kubeconfig: {{secretsManager: x}}}}\n  nodeGroups:\n  - name: {group}\n    swap: keep\n"
        );
        read(&[Input { name: "kops.yaml", text: &text }, Input { name: "more.yaml", text: &more }])
    };
    for (name, group) in [("quarry.example.com", "nodes.a"), ("quarry-example-com", "nodes-a")] {
        let read = with(name, group);
        assert_eq!(crate::told(read.findings, Severity::Error), Vec::<String>::new());
        let tree = crate::as_json(read.documents[0].tree());
        assert_eq!(tree["spec"]["nodeGroups"][0]["swap"], "keep");
        assert_eq!(tree["spec"]["nodeGroups"][0]["name"], "nodes-a");
    }
    let hints = |read: bringup_ancestors::Read| -> Vec<String> {
        read.findings
            .into_iter()
            .filter(|finding| finding.code.name == "ancestor/additions")
            .filter_map(|finding| finding.hint)
            .collect()
    };
    assert_eq!(
        hints(with("other", "nodes.a")),
        ["there is `quarry-example-com`; leave `metadata` out to add to each"]
    );
    assert_eq!(
        hints(with("quarry.example.com", "x")),
        ["the groups are `nodes-a`; leave `name` out to add to each"]
    );
}

/// `spec.externalPolicies` is by the role of machines; `spec.cloudProvider` of v1alpha3 has the fields of one cloud.
#[test]
fn roles_and_clouds_that_are_misspelt_are_named() {
    let text =
        format!("{}{}", cluster("externalPolicies: {nodes: [\"arn:aws:iam::1:policy/a\"]}"), group(""));
    assert_eq!(errors(&text), ["unknown field `nodes` in `externalPolicies` of kops"]);
    let third = |cloud: &str| {
        format!("{}{}", cluster(""), group(""))
            .replace("v1alpha2", "v1alpha3")
            .replace("cloudProvider: aws", &format!("cloudProvider: {cloud}"))
    };
    assert_eq!(
        errors(&third("{gce: {project: some, nodeTagz: a}}")),
        ["unknown field `nodeTagz` in `cloudProvider.gce` of kops"]
    );
    assert_eq!(errors(&third("{gce: {project: some}}")), Vec::<String>::new());
    assert_eq!(
        errors(&third("{aws: {}, gce: {}}")),
        ["machines are in one cloud, and `aws` is named before `gce`"]
    );
}

/// Words that kops' own validation refuses, and settings that none of the nodes has.
#[test]
fn words_that_kops_does_not_have_are_refused() {
    let text = |spec: &str, own: &str| format!("{}{}", cluster(spec), group(own));
    assert_eq!(errors(&text("", "manager: Karpentr")), ["kops has no such manager of machines"]);
    assert_eq!(errors(&text("", "manager: CloudGroup")), Vec::<String>::new());
    assert_eq!(
        errors(&text("", "").replace("cloudProvider: aws", "cloudProvider: awz")),
        ["kops has no cloud `awz`"]
    );
    let notes = |spec: &str| crate::told(translated(&text(spec, "")).findings, Severity::Note);
    let message = "no group here is of the control plane: `masterKubelet` shapes none of the nodes";
    assert!(notes("masterKubelet: {maxPods: 5}").iter().any(|note| note == message));
}

/// `nodeup/pkg/model/file_assets.go` passes over a file whose path it has seen.
#[test]
fn a_second_file_of_one_path_is_told_of() {
    let two = |first: &str, second: &str| {
        let own = format!(
            "fileAssets:\n- {{name: a, path: /srv/x, content: one{first}}}\n- {{name: b, path: /srv/x, content: two{second}}}"
        );
        let text = format!("{}{}", cluster(""), group(&own));
        (
            warnings(&text).into_iter().filter(|line| line.contains("/srv/x")).count(),
            crate::written(&text, "/srv/x"),
        )
    };
    assert_eq!(two("", ""), (1, Some("one".to_owned())));
    assert_eq!(two(", roles: [Master]", ", roles: [Node]"), (0, Some("two".to_owned())));
}
