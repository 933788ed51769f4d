//! The container runtime: configured from the image's template, restarted where that changes something.

use bringup_spec::bootstrap_flags::BootstrapRuntime;
use bringup_spec::{Phase, Text};
use serde_json::{Value, json};

use super::Call;
use crate::steps::{plain, write_file};
use crate::{Action, Content, Step, codes};

const CONTAINERD: &str = "/etc/containerd/config.toml";
const DOCKER: &str = "/etc/docker/daemon.json";

/// What stands for the pause container in the image's template.
const PLACEHOLDER: &str = "SANDBOX_IMAGE";

impl Call<'_> {
    /// The steps of the runtime.
    pub(super) fn runtime_steps(&mut self, runtime: BootstrapRuntime, pause: &str) -> Vec<Step> {
        match runtime {
            BootstrapRuntime::Containerd => self.containerd(pause),
            BootstrapRuntime::Dockerd => self.docker(),
        }
    }

    fn containerd(&mut self, pause: &str) -> Vec<Step> {
        for (given, flag) in [
            (self.request.docker_bridge, "enable-docker-bridge"),
            (self.request.docker_config.is_some(), "docker-config-json"),
        ] {
            if given {
                let message = format!("`--{flag}` counts for nothing: the runtime is containerd");
                self.warning(codes::BOOTSTRAP_IGNORED, message, "remove it");
            }
        }
        let mut steps: Vec<Step> = ["/etc/containerd/config.d", "/etc/cni/net.d"]
            .into_iter()
            .map(|path| {
                let action = Action::MakeDirectory {
                    path: path.to_owned(),
                    mode: "0755".to_owned(),
                    owner: "root:root".to_owned(),
                };
                plain(format!("directory:{path}"), Phase::Runtime, action)
            })
            .collect();
        let Some(template) = &self.image.containerd_config else {
            let message = "the image has no configuration of containerd: it is left as it is";
            self.warning(codes::BOOTSTRAP_IMAGE, message, "give `--containerd-config-file`");
            return steps;
        };
        let text = template.replace(PLACEHOLDER, pause);
        if let Err(fault) = text.parse::<toml::Table>() {
            let message = format!("containerd's configuration is no TOML: {}", fault.message());
            let hint = match &self.request.containerd_config_file {
                Some(path) => format!("mend `{path}`"),
                None => "mend it in the image, or give `--containerd-config-file`".to_owned(),
            };
            self.error(codes::BOOTSTRAP_RUNTIME, message, hint);
            return steps;
        }
        let content = Content::Text(Text::literal(text));
        steps.push(write_file("containerd-config", Phase::Runtime, CONTAINERD, "0644", content));
        let start =
            Action::StartUnit { unit: "containerd.service".to_owned(), reads: vec![CONTAINERD.to_owned()] };
        steps.push(plain("containerd", Phase::Runtime, start));
        steps
    }

    fn docker(&mut self) -> Vec<Step> {
        self.differs(
            "the rules of iptables are not saved for later boots, as the script would before docker starts",
            "docker sets its own rules whenever it starts",
        );
        let given = self.request.docker_config.clone().map(|text| format!("{text}\n"));
        let changed = given.is_some() || self.request.docker_bridge;
        let mut text =
            given.or_else(|| self.image.docker_config.clone()).unwrap_or_else(|| "{}\n".to_owned());
        if self.request.docker_bridge {
            if let Ok(Value::Object(mut config)) = serde_json::from_str(&text) {
                config.insert("bridge".to_owned(), json!("docker0"));
                // With it, docker would not make its bridge anew.
                config.insert("live-restore".to_owned(), json!(false));
                text = serde_json::to_string_pretty(&config).unwrap_or_default() + "\n";
            } else {
                let hint = "mend it in the image, or give `--docker-config-json`";
                self.error(codes::BOOTSTRAP_RUNTIME, "docker's configuration is no object of JSON", hint);
            }
        }
        let mut steps = Vec::new();
        if changed {
            let content = Content::Text(Text::literal(text));
            steps.push(write_file("docker-config", Phase::Runtime, DOCKER, "0644", content));
        }
        let start = Action::StartUnit { unit: "docker.service".to_owned(), reads: vec![DOCKER.to_owned()] };
        steps.push(plain("docker", Phase::Runtime, start));
        steps
    }

    /// The image's own program sets up disks, before anything is written to them.
    pub(super) fn local_disks(&mut self) -> Option<Step> {
        let how = self.request.local_disks.clone()?;
        let Some(program) = self.image.local_disks.clone() else {
            let hint = "use an image of EKS that has it, or leave `--local-disks` out";
            self.error(codes::BOOTSTRAP_IMAGE, "the image has no `setup-local-disks`", hint);
            return None;
        };
        Some(plain("local-disks", Phase::PreInstall, program_step(vec![program, how])))
    }

    /// Images with drivers of graphics cards have a program of their own that ends the work.
    pub(super) fn graphics_cards(&self, runtime: BootstrapRuntime) -> Option<Step> {
        let program = self.image.gpu_helper.clone()?;
        let runtime = match runtime {
            BootstrapRuntime::Containerd => "containerd",
            BootstrapRuntime::Dockerd => "dockerd",
        };
        let command = vec![program, "-r".to_owned(), runtime.to_owned()];
        Some(plain("graphics-cards", Phase::Configure, program_step(command)))
    }
}

fn program_step(command: Vec<String>) -> Action {
    Action::Run {
        command: command.into_iter().map(Text::literal).collect(),
        environment: std::collections::BTreeMap::new(),
        directory: None,
        wait_for: Vec::new(),
        hook: None,
    }
}
