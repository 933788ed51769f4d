//! The cluster as a whole, systems and versions.

use bringup_spec::{Architecture, Flavour, OsFamily, RuntimeName};

use crate::{config, config_of, document, group, groups, told};

/// eksctl's head takes Amazon Linux 2023 for every version; `amiFamily` is read in any case of letters.
#[test]
fn systems_are_those_of_the_image_family() {
    let system = |family: &str| {
        let group = group(&config(&format!("nodeGroups:\n- name: ng\n{family}")));
        (group.os.family, group.os.version)
    };
    assert_eq!(system(""), (OsFamily::AmazonLinux2023, None));
    assert_eq!(system("  amiFamily: amazonlinux2\n"), (OsFamily::AmazonLinux2, None));
    assert_eq!(system("  amiFamily: Ubuntu2404\n"), (OsFamily::Ubuntu, Some("24.04".to_owned())));
    assert_eq!(system("  amiFamily: UbuntuPro2204\n"), (OsFamily::Ubuntu, Some("22.04".to_owned())));
}

/// eksctl wants to be told; documents of the time before have only the call of the script that Amazon Linux 2 has.
#[test]
fn the_system_of_an_own_image_is_seen_in_its_bootstrap() {
    let image = "nodeGroups:\n- name: ng\n  ami: ami-0123456789abcdef0\n";
    assert_eq!(group(&config(image)).os.family, OsFamily::AmazonLinux2023);
    let script = format!("{image}  overrideBootstrapCommand: /etc/eks/bootstrap.sh demo\n");
    assert_eq!(group(&config(&script)).os.family, OsFamily::AmazonLinux2);
    assert!(told(&config(&script)).iter().any(|line| line.contains("Amazon Linux 2 is assumed")));
}

/// Canonical publishes Ubuntu Pro for EKS under a name of its own.
#[test]
fn ubuntu_pro_has_its_own_image() {
    let group =
        group(&config("nodeGroups:\n- {name: ng, amiFamily: UbuntuPro2404, instanceType: m7g.large}\n"));
    assert_eq!(
        group.launch.and_then(|launch| launch.image_parameter).as_deref(),
        Some("/aws/service/canonical/ubuntu/eks-pro/24.04/1.32/stable/current/arm64/hvm/ebs-gp3/ami-id")
    );
}

#[test]
fn other_systems_are_refused_with_a_word() {
    for (family, word) in [("Bottlerocket", "Bottlerocket"), ("WindowsServer2022CoreContainer", "Windows")] {
        let text = config(&format!("nodeGroups:\n- name: ng\n  amiFamily: {family}\n"));
        let told = told(&text);
        assert_eq!(told.len(), 1, "{told:#?}");
        assert!(
            told.iter()
                .all(|line| line.starts_with("error ancestor/field-refused 9 ") && line.contains(word))
        );
    }
    // Nothing else is hidden by it, down to fields of nested mappings.
    let text = config(
        "nodeGroups:\n- name: ng\n  amiFamily: Bottlerocket\n  volumeEncrypted: true\n  additionalVolumes: [{volumeSise: 4}]\n  ssh: {alow: true}\n  overrideBootstrapCommand: |\n    [settings]\n",
    );
    let lines = told(&text).join("\n");
    for wrong in ["Bottlerocket", "`volumeSise`", "`alow`"] {
        assert!(lines.contains(wrong), "{wrong} in {lines}");
    }
    assert!(!lines.contains("overrideBootstrapCommand"), "{lines}");
    // There is no image of Amazon Linux 2 from 1.33 on, and eksctl refuses it.
    let text = config_of("1.33", "nodeGroups:\n- name: ng\n  amiFamily: AmazonLinux2\n");
    assert!(told(&text).iter().any(|line| line.contains("there is no Amazon Linux 2 for Kubernetes 1.33")));
    let text = config_of("1.33", "nodeGroups:\n- name: ng\n  amiFamily: AmazonLinux2032\n");
    assert!(told(&text).iter().any(|line| line.contains("`AmazonLinux2032` is no `amiFamily`")));
}

/// Files under /etc/eksctl where eksctl's own scripts were; the image's own places on Amazon Linux 2023.
#[test]
fn the_flavour_follows_the_systems() {
    let flavour = |groups: &str| document(&config(groups)).cluster.spec.flavour;
    assert_eq!(flavour("nodeGroups:\n- name: a\n"), Flavour::Eks);
    assert_eq!(flavour("nodeGroups:\n- {name: a, amiFamily: AmazonLinux2}\n"), Flavour::Eksctl);
    let both = "nodeGroups:\n- {name: a, amiFamily: Ubuntu2404}\nmanagedNodeGroups:\n- name: b\n";
    assert_eq!(flavour(both), Flavour::Eksctl);
}

#[test]
fn the_version_is_eksctls_where_none_is_written() {
    for written in ["", "  version: auto\n"] {
        let text = format!(
            "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata:\n  name: demo\n  region: eu-west-1\n{written}nodeGroups: [{{name: ng}}]\n"
        );
        assert_eq!(document(&text).cluster.spec.kubernetes.version.to_string(), "1.34");
        assert!(
            told(&text).iter().any(|line| line.contains("no version of Kubernetes is named: 1.34 is taken"))
        );
    }
}

#[test]
fn the_network_is_taken_over() {
    let document = document(&config(
        "kubernetesNetworkConfig: {ipFamily: IPv4, serviceIPv4CIDR: 172.20.0.0/16}\nvpc:\n  id: vpc-0a1b2c3d4e5f60718\n  securityGroup: sg-0a1b2c3d4e5f60718\n  subnets:\n    private:\n      eu-west-1a: {id: subnet-0a1b2c3d4e5f60718}\n      one: {id: subnet-0b1b2c3d4e5f60718, az: eu-west-1b}\n    public:\n      eu-west-1a: {id: subnet-0c1b2c3d4e5f60718}\nnodeGroups:\n- {name: ng, privateNetworking: true}\n",
    ));
    let spec = &document.cluster.spec;
    assert_eq!(
        spec.network.service_ranges.first().map(ToString::to_string).as_deref(),
        Some("172.20.0.0/16")
    );
    let aws = spec.aws.as_ref().unwrap();
    assert_eq!(aws.vpc.as_deref(), Some("vpc-0a1b2c3d4e5f60718"));
    assert_eq!(aws.subnets, ["subnet-0a1b2c3d4e5f60718", "subnet-0b1b2c3d4e5f60718"]);
    assert_eq!(aws.control_plane_security_group.as_deref(), Some("sg-0a1b2c3d4e5f60718"));
}

#[test]
fn instances_are_chosen_as_eksctl_chooses_them() {
    let types = |text: &str| group(&config(text)).instance_types;
    assert_eq!(types("nodeGroups:\n- name: ng\n"), ["m5.large"]);
    assert_eq!(
        types("managedNodeGroups:\n- {name: ng, instanceTypes: [c5.large, c6i.large]}\n"),
        ["c5.large", "c6i.large"]
    );
    let mixed = "nodeGroups:\n- name: ng\n  instanceType: mixed\n  instancesDistribution: {instanceTypes: [m5.large, m6i.large], onDemandPercentageAboveBaseCapacity: 25}\n";
    assert_eq!(types(mixed), ["m5.large", "m6i.large"]);
    let share = group(&config(mixed)).scaling.and_then(|scaling| scaling.on_demand_percentage);
    assert_eq!(share, Some(25));
    let architecture = |name: &str| {
        group(&config(&format!("nodeGroups:\n- {{name: ng, instanceType: {name}}}\n"))).architecture
    };
    for name in ["m7g.large", "c7gn.large", "a1.large", "g5g.xlarge"] {
        assert_eq!(architecture(name), Architecture::Aarch64, "{name}");
    }
    for name in ["g4dn.xlarge", "m5.large", "gr6.4xlarge"] {
        assert_eq!(architecture(name), Architecture::X86_64, "{name}");
    }
}

/// Up to 1.23 eksctl's runtime of Amazon Linux 2 is docker.
#[test]
fn old_groups_run_docker() {
    let runtime = |version: &str, more: &str| {
        let text =
            config_of(version, &format!("nodeGroups:\n- {{name: ng, amiFamily: AmazonLinux2{more}}}\n"));
        group(&text).runtime.name
    };
    assert_eq!(runtime("1.23", ""), RuntimeName::Docker);
    assert_eq!(runtime("1.23", ", containerRuntime: containerd"), RuntimeName::Containerd);
    assert_eq!(runtime("1.24", ""), RuntimeName::Containerd);
}

#[test]
fn a_group_without_a_name_gets_one_that_stays() {
    let names: Vec<String> = groups(&config("nodeGroups:\n- {}\n- name: b\nmanagedNodeGroups:\n- {}\n"))
        .iter()
        .map(|group| group.name.to_string())
        .collect();
    assert_eq!(names, ["ng-1", "b", "mng-1"]);
}
