//! Where every value of a plan came from: what the compiler noted on its way, and the rest by what the plan holds.
//!
//! It is worked out for people who ask, apart from compiling, which has to be fast.

use std::collections::BTreeSet;

use bringup_spec::{Document, NodeGroup, OsFamily, Phase};
use bringup_yaml::{Content, Node, Path, Segment};

use crate::context::shortened;
use crate::{Action, Compiled, Origin, Plan, Provenance};

/// Settings of the kernel that kubelet itself insists on.
const KUBELETS: [&str; 4] = ["kernel.keys.", "kernel.panic", "vm.overcommit_memory", "vm.panic_on_oom"];

/// The origin of every value of a compiled plan.
pub fn origins(document: &Document, index: usize, compiled: &Compiled) -> Vec<Provenance> {
    let spec = &document.cluster.spec;
    let (Some(plan), Some(group)) = (&compiled.plan, spec.node_groups.get(index)) else {
        return compiled.provenance.clone();
    };
    let known = compiled.provenance.iter().map(|value| value.subject.clone()).collect();
    let mut finder = Finder {
        document,
        group,
        path: document.group_path(index),
        known,
        found: compiled.provenance.clone(),
    };
    finder.whole(plan);
    finder.steps(plan);
    finder.rest(plan);
    finder.correct();
    finder.found
}

struct Finder<'plan> {
    document: &'plan Document,
    group: &'plan NodeGroup,
    path: Path,
    known: BTreeSet<String>,
    found: Vec<Provenance>,
}

impl Finder<'_> {
    fn add(&mut self, subject: impl Into<String>, value: impl Into<String>, origin: Origin) {
        let subject = subject.into();
        if self.known.insert(subject.clone()) {
            self.found.push(Provenance { subject, value: shortened(value.into()), origin });
        }
    }

    fn spec_path<'a>(keys: impl IntoIterator<Item = &'a str>) -> Path {
        Path::root().key("spec").keys(keys)
    }

    fn group_path<'a>(&self, keys: impl IntoIterator<Item = &'a str>) -> Path {
        self.path.keys(keys)
    }

    /// The document's word where it is written, else whose default it is.
    fn written(&self, path: Path, default: &str) -> Origin {
        if is_written(self.document.tree(), &path) {
            Origin::Document(path)
        } else {
            Origin::Default(default.to_owned())
        }
    }

    fn whole(&mut self, plan: &Plan) {
        let group = |key: &'static str| self.group_path([key]);
        let values = [
            ("kubernetes version", plan.kubernetes.clone(), Self::spec_path(["kubernetes", "version"]), ""),
            ("flavour", plan.flavour.to_string(), Self::spec_path(["flavour"]), "Bringup's own layout"),
            ("platform", plan.platform.to_string(), group("platform"), "any machine"),
            ("os", plan.os.to_string(), group("os"), ""),
            ("architecture", plan.architecture.to_string(), group("architecture"), "most machines"),
            ("role", plan.role.to_string(), group("role"), "most node groups"),
        ];
        for (subject, value, path, default) in values {
            let origin = self.written(path, default);
            self.add(subject, value, origin);
        }
        let spec = &self.document.cluster.spec;
        if let Some(api) = &spec.api {
            let value = spec.api.as_ref().map(|_| self.scalar(&["api", "endpoint"])).unwrap_or_default();
            self.add("API endpoint", value, Origin::Document(Self::spec_path(["api", "endpoint"])));
            if api.certificate_authority.is_some() {
                let path = Self::spec_path(["api", "certificateAuthority"]);
                self.add("certificate authority of the API", "a certificate", Origin::Document(path));
            }
        }
        for range in &plan.cluster_ranges {
            let path = Self::spec_path(["network"]);
            self.add(format!("cluster range {range}"), range.as_str(), Origin::Document(path));
        }
        for (name, value) in &plan.environment {
            let how = "for every program that the agent starts".to_owned();
            self.add(
                format!("environment {name}"),
                value.as_str(),
                Origin::Derived(Self::spec_path(["proxy"]), how),
            );
        }
    }

    /// What the document has there, as it is written.
    fn scalar(&self, keys: &[&str]) -> String {
        let mut node = self.document.tree().get("spec");
        for key in keys {
            node = node.and_then(|node| node.get(key));
        }
        node.and_then(Node::text).unwrap_or_default().to_owned()
    }

    fn steps(&mut self, plan: &Plan) {
        for step in &plan.steps {
            match &step.action {
                Action::LoadModules { modules } => self.modules(modules),
                Action::SetSysctls { settings, .. } => {
                    for (name, value) in settings {
                        let origin = sysctl_origin(name);
                        self.add(format!("sysctl {name}"), value.as_str(), origin);
                    }
                }
                Action::SetKernelArguments { arguments } => {
                    for argument in arguments {
                        let origin = self.written(self.group_path(["kernelArguments"]), "ours");
                        self.add(format!("kernel argument {argument}"), argument.as_str(), origin);
                    }
                }
                Action::SetSwap { policy, .. } => {
                    let origin = self.written(self.group_path(["swap"]), "kubelet wants no swap");
                    self.add("swap", policy.to_string(), origin);
                }
                Action::UpdateOs { .. } => {
                    let path = self.group_path(["update"]);
                    self.add("update of the operating system", "yes", Origin::Document(path));
                }
                Action::Reboot { always } => {
                    let origin = self.written(self.group_path(["reboot"]), "where something needs it");
                    self.add("reboot", if *always { "always" } else { "if needed" }, origin);
                }
                Action::WriteFile { path, mode, .. }
                | Action::MakeDirectory { path, mode, .. }
                | Action::Fetch { path, mode, .. } => {
                    let origin = self.file_origin(&step.name, path);
                    self.add(path.as_str(), format!("{mode}, by the step `{}`", step.name), origin);
                }
                Action::MakeLink { path, target } => {
                    let origin = self.file_origin(&step.name, path);
                    self.add(path.as_str(), format!("link to {target}"), origin);
                }
                Action::Install { software, version: Some(version), .. } => {
                    let origin = self.version_origin(software);
                    self.add(format!("{software} version"), version.as_str(), origin);
                }
                Action::OpenGate { environment, .. } => {
                    for text in environment.values() {
                        self.flags(&text.to_string());
                    }
                }
                Action::Run { command, .. } => {
                    let value = command.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                    let origin = self.run_origin(&step.name, step.phase);
                    self.add(format!("step {}", step.name), bringup_diag::masked_line(&value), origin);
                }
                Action::Signal { kind, .. } => {
                    let path = self.group_path(["signals"]);
                    self.add(format!("signal {kind}"), kind.to_string(), Origin::Document(path));
                }
                _ => {}
            }
        }
    }

    fn modules(&mut self, modules: &[String]) {
        for module in modules {
            let place = self.group.kernel_modules.iter().position(|given| given.as_str() == module);
            let origin = match place {
                Some(index) => Origin::Document(self.group_path(["kernelModules"]).index(index)),
                None => Origin::Default("container runtimes and pod networks need it".to_owned()),
            };
            self.add(format!("kernel module {module}"), "loaded", origin);
        }
    }

    /// Whose file, directory or link it is.
    fn file_origin(&self, step: &str, path: &str) -> Origin {
        let spec = &self.document.cluster.spec;
        let is_at =
            |own: &str| path.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let group = |key: &str, index: usize| Origin::Document(self.group_path([key]).index(index));
        let cluster = |key: &str, index: usize| Origin::Document(Self::spec_path([key]).index(index));
        let files = |files: &[bringup_spec::File]| files.iter().position(|file| is_at(file.path.as_str()));
        let assets = |list: &[bringup_spec::Asset]| list.iter().position(|item| is_at(item.path.as_str()));
        let own = files(&self.group.files)
            .map(|index| group("files", index))
            .or_else(|| files(&spec.files).map(|index| cluster("files", index)))
            .or_else(|| assets(&self.group.assets).map(|index| group("assets", index)))
            .or_else(|| assets(&spec.assets).map(|index| cluster("assets", index)))
            .or_else(|| {
                let place = self.group.directories.iter().position(|item| item.path.as_str() == path);
                place.map(|index| group("directories", index))
            })
            .or_else(|| {
                let place = self.group.links.iter().position(|item| item.path.as_str() == path);
                place.map(|index| group("links", index))
            });
        own.unwrap_or_else(|| self.made_origin(step))
    }

    /// What a file of ours was made from.
    fn made_origin(&self, step: &str) -> Origin {
        let derived = |path: Path, how: &str| Origin::Derived(path, how.to_owned());
        match step {
            "certificate-authority" => derived(
                Self::spec_path(["api", "certificateAuthority"]),
                "for whoever speaks to the API server",
            ),
            "kubeconfig" | "bootstrap-kubeconfig" => {
                derived(Self::spec_path(["join"]), "credentials for the API server, by the way to join")
            }
            "bootstrap-token" => {
                derived(Self::spec_path(["join", "token"]), "the secret behind the reference")
            }
            "kubelet-config" => derived(
                Self::spec_path(["kubernetes", "version"]),
                "the configuration of a kubelet of this version",
            ),
            name if name.starts_with("kubeadm-") => derived(Self::spec_path(["join"]), "what kubeadm reads"),
            "runtime-config" => match self.written(self.group_path(["runtime"]), "") {
                Origin::Document(path) => derived(path, "what the runtime reads"),
                _ => Origin::Default("what the runtime reads, without a word of the document's".to_owned()),
            },
            name if name.starts_with("file:/opt/bringup/steps/") => {
                derived(self.path.clone(), "the script of a step or hook")
            }
            "image-credential-provider" => {
                Origin::Default("kubelet fetches images from the registry of the region".to_owned())
            }
            name => match self.written(Self::spec_path(["flavour"]), "") {
                Origin::Document(path) => derived(path, "a file of the flavour"),
                _ => Origin::Default(format!("the step `{name}`, which every such node has")),
            },
        }
    }

    fn version_origin(&self, software: &str) -> Origin {
        let key = if matches!(software, "containerd" | "docker") { "runtime" } else { software };
        let own = self.group_path(["software", key, "version"]);
        if is_written(self.document.tree(), &own) {
            return Origin::Document(own);
        }
        let runtime = self.group_path(["runtime", "version"]);
        if key == "runtime" && is_written(self.document.tree(), &runtime) {
            return Origin::Document(runtime);
        }
        let versions = self.group_path(["runtime", "versions"]);
        if key == "runtime" && is_written(self.document.tree(), &versions) {
            return Origin::Derived(versions, "what goes with this Kubernetes".to_owned());
        }
        Origin::Derived(
            Self::spec_path(["kubernetes", "version"]),
            "what this Kubernetes goes with".to_owned(),
        )
    }

    fn run_origin(&self, step: &str, phase: Phase) -> Origin {
        let name = step.rsplit(':').next().unwrap_or_default();
        let group = |key: &str, index: usize| Origin::Document(self.group_path([key]).index(index));
        let spec = &self.document.cluster.spec;
        if let Some(index) = self.group.steps.iter().position(|own| own.name.as_str() == step) {
            return group("steps", index);
        }
        if let Some(index) = self.group.hooks.iter().position(|own| own.name.as_str() == name) {
            return group("hooks", index);
        }
        if let Some(index) = spec.hooks.iter().position(|own| own.name.as_str() == name) {
            return Origin::Document(Self::spec_path(["hooks"]).index(index));
        }
        match phase {
            Phase::ControlPlane => self.written(self.group_path(["controlPlane"]), "the flavour's own"),
            Phase::Platform => self.written(self.group_path(["platformStage"]), "the flavour's own"),
            _ => Origin::Derived(Self::spec_path(["join"]), "the way to join".to_owned()),
        }
    }

    /// The flags in the variables that kubelet's unit reads.
    fn flags(&mut self, arguments: &str) {
        for word in arguments.split_whitespace() {
            let Some(flag) = word.trim_matches('"').strip_prefix("--") else { continue };
            let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
            let how = |path: Path, how: &str| Origin::Derived(path, how.to_owned());
            let origin = match name {
                "node-labels" => how(self.group_path(["labels"]), "the labels of the document"),
                "register-with-taints" => how(self.group_path(["taints"]), "the taints of the document"),
                "hostname-override" => Origin::Node("the name that the node registers under".to_owned()),
                "provider-id" => Origin::Node("from the metadata service".to_owned()),
                "cloud-provider" => how(self.group_path(["platform"]), "what the platform's kubelet needs"),
                "bootstrap-kubeconfig" => how(Self::spec_path(["join", "method"]), "the way to join"),
                _ if self.group.os.family == OsFamily::AmazonLinux2
                    || self.group.os.family == OsFamily::AmazonLinux2023 =>
                {
                    Origin::Default("ours for EKS images".to_owned())
                }
                _ => Origin::Default("where our files are, and how kubelet finds the runtime".to_owned()),
            };
            self.add(format!("kubelet flag {name}"), value, origin);
        }
    }

    fn rest(&mut self, plan: &Plan) {
        for unit in &plan.units {
            let place = self.group.units.iter().position(|own| *own.name == *unit.name);
            let origin = match place {
                Some(index) => Origin::Document(self.group_path(["units"]).index(index)),
                None => Origin::Default("the order of a node: ours".to_owned()),
            };
            let drop_ins: Vec<&str> = unit.drop_ins.keys().map(String::as_str).collect();
            self.add(format!("unit {}", unit.name), drop_ins.join(", "), origin);
        }
        for hook in &plan.hooks {
            let origin = self.run_origin(&hook.name, Phase::Report);
            self.add(format!("hook {}", hook.name), hook.on.to_string(), origin);
        }
        for assertion in &plan.order {
            let origin = match self.written(self.group_path(["order"]), "") {
                Origin::Document(path) if self.group.order.contains(assertion) => Origin::Document(path),
                _ => Origin::Document(Self::spec_path(["order"])),
            };
            self.add(format!("order {assertion}"), assertion.as_str(), origin);
        }
    }

    /// Fields of kubelet's configuration that a default of ours holds, but another value decided.
    fn correct(&mut self) {
        let pods = self.found.iter().find(|value| value.subject == "max pods").cloned();
        let domain = Self::spec_path(["network", "domain"]);
        for value in &mut self.found {
            match value.subject.as_str() {
                "kubelet config maxPods" => {
                    // A flag that only the node can fill in says another number than the field.
                    if let Some(pods) = pods.as_ref().filter(|pods| pods.value == value.value) {
                        value.origin = pods.origin.clone();
                    }
                }
                "kubelet config clusterDomain" if is_written(self.document.tree(), &domain) => {
                    value.origin = Origin::Document(domain.clone());
                }
                _ => {}
            }
        }
    }
}

fn sysctl_origin(name: &str) -> Origin {
    Origin::Default(if KUBELETS.iter().any(|own| name.starts_with(own)) {
        "kubelet insists on it with `protectKernelDefaults`".to_owned()
    } else {
        "pod networks need it".to_owned()
    })
}

/// Whether the document has something there.
fn is_written(tree: &Node, path: &Path) -> bool {
    let mut node = Some(tree);
    for segment in path.segments() {
        node = node.and_then(|node| match (segment, &node.content) {
            (Segment::Key(key), _) => node.get(key),
            (Segment::Index(index), Content::List(items)) => items.get(*index),
            _ => None,
        });
    }
    node.is_some()
}
