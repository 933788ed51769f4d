//! containerd's configuration, the specification that containers begin with, and the snapshotter that pulls in parallel.

use bringup_diag::{Finding, Place};
use bringup_spec::nodeconfig::{
    NodeConfig, PARALLEL_PULLS_NEED, SNAPSHOTTER_CONFIG, SNAPSHOTTER_DROP_IN, SNAPSHOTTER_SOCKET,
    base_runtime_spec, snapshotter_config, snapshotter_plugin,
};
use bringup_spec::{Phase, Text};
use serde_json::{Value as Json, json};
use toml::Table;

use super::toml_text::lay_over;
use super::{Surroundings, Work, json as json_text, migrate, toml_text};
use crate::runtime::handler::{BASE_SPEC, NVIDIA_RUNTIME, PAUSE_IMAGE, RUNC};
use crate::steps::{plain, write_file};
use crate::{Action, Content, Step, codes};

pub(super) const CONFIG: &str = "/etc/containerd/config.toml";
const PAUSE_ARCHIVE: &str = "/etc/eks/pause.tar";

/// Whether images are pulled in parallel: asked for, on a machine that is large enough.
pub(super) fn pulls_in_parallel(config: &NodeConfig, around: &Surroundings) -> bool {
    let (cores, memory) = PARALLEL_PULLS_NEED;
    config.has_feature("FastImagePull")
        && around.cores.is_some_and(|found| found >= cores)
        && around.memory_mib.is_some_and(|found| found >= memory)
}

/// What containers start from where nobody says anything of it, on one line: room in user-data is dear.
pub(crate) fn default_base_spec() -> String {
    format!("{}\n", base_runtime_spec(&serde_json::Map::new()))
}

/// Where kubelet asks for images when they are pulled in parallel.
pub(super) fn image_endpoint() -> String {
    format!("unix://{SNAPSHOTTER_SOCKET}")
}

/// The files, and containerd started anew if one of them or of `environment` has changed.
pub(super) fn steps(work: &mut Work<'_>, environment: &[String]) -> Vec<Step> {
    let parallel = pulls_in_parallel(work.config, work.around);
    let mut files = vec![(
        "base-runtime-spec",
        BASE_SPEC,
        json_text::written(&base_runtime_spec(&work.config.containerd.base_runtime_spec)),
    )];
    let (name, unit) = SNAPSHOTTER_DROP_IN;
    let drop_in = format!("/etc/systemd/system/containerd.service.d/{name}");
    if parallel {
        files.push(("soci-config", SNAPSHOTTER_CONFIG, toml_text::text(&table(snapshotter_config()))));
        files.push(("soci-drop-in", &drop_in, unit.to_owned()));
    }
    if let Some(text) = whole(work, parallel) {
        files.push(("containerd-config", CONFIG, text));
    }
    let mut reads: Vec<String> = files.iter().map(|(_, path, _)| (*path).to_owned()).collect();
    reads.extend_from_slice(environment);
    let mut steps: Vec<Step> = files
        .into_iter()
        .map(|(name, path, text)| {
            write_file(name, Phase::Runtime, path, "0644", Content::Text(Text::literal(text)))
        })
        .collect();
    let mut start = plain(
        "start-runtime",
        Phase::Runtime,
        Action::StartUnit { unit: "containerd.service".to_owned(), reads },
    );
    start.every_boot = true;
    steps.push(start);
    if parallel && work.around.pause_archive {
        steps.push(import_pause_image());
    }
    steps
}

/// The image of the pod sandbox came with the machine's image, unpacked for another snapshotter.
fn import_pause_image() -> Step {
    let words = [
        "/usr/bin/ctr",
        "--namespace",
        "k8s.io",
        "images",
        "import",
        "--snapshotter",
        "soci",
        "--discard-unpacked-layers=false",
        "--local",
        PAUSE_ARCHIVE,
    ];
    super::run("import-pause-image", Phase::Runtime, &words)
}

/// The whole configuration; none if what was given cannot be used.
fn whole(work: &mut Work<'_>, parallel: bool) -> Option<String> {
    let given = given(work)?;
    let modern = work.around.containerd_version.starts_with("2.");
    let place = work.config.containerd.config.last().map(|fragment| fragment.place.clone());
    // nodeadm tells schema 3 by these two names and by nothing else.
    let names_3 = given.as_ref().is_some_and(|(text, _)| {
        text.contains("io.containerd.cri.v1.images") || text.contains("io.containerd.cri.v1.runtime")
    });
    if names_3 && !modern {
        let message = "containerd 1.x cannot read schema 3, of which this is";
        let mut finding = Finding::error(codes::NODEADM_CONTAINERD, message)
            .hint("write it with `version = 2` and the plugin `io.containerd.grpc.v1.cri`");
        finding.place = place;
        work.findings.push(finding);
        return None;
    }
    let schema_3 = modern && (given.is_none() || names_3);
    let mut table =
        if schema_3 { schema_three(work.around, parallel) } else { schema_two(work.around, parallel) };
    if let Some((_, given)) = given {
        lay_over(&mut table, given);
    }
    if modern && !schema_3 {
        let message =
            "this is of schema 2, which containerd 2.x does not write; all of it is converted to schema 3";
        let mut finding = Finding::note(codes::NODEADM_DIFFERS, message).hint(
            "write it with `version = 3`: only what differs from containerd's defaults is written then",
        );
        finding.place = place;
        work.findings.push(finding);
        return Some(migrate::written(&migrate::migrated(table, work.around)));
    }
    Some(toml_text::text(&table))
}

/// What the NodeConfigs say, as one: its text and what it holds. The outer option is none if it is no TOML.
#[expect(clippy::option_option, reason = "nothing said and nothing usable are two things")]
fn given(work: &mut Work<'_>) -> Option<Option<(String, Table)>> {
    let mut whole: Option<(String, Table)> = None;
    for fragment in &work.config.containerd.config {
        let table = match fragment.text.parse::<Table>() {
            Ok(table) => table,
            Err(fault) => {
                work.findings.push(no_toml(&fragment.place, &fragment.text, &fault));
                return None;
            }
        };
        whole = Some(match whole {
            None => (fragment.text.clone(), table),
            Some((_, mut base)) => {
                lay_over(&mut base, table);
                (toml_text::text(&base), base)
            }
        });
    }
    Some(whole)
}

fn no_toml(place: &Place, text: &str, fault: &toml::de::Error) -> Finding {
    let before = fault.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count().saturating_add(1);
    let message = format!("this is no TOML: {} (line {line} of the text)", fault.message());
    Finding::error(codes::NODEADM_CONTAINERD, message)
        .at(place.clone())
        .hint("write what belongs into `/etc/containerd/config.toml`")
}

/// A table of TOML, written as JSON.
fn table(value: Json) -> Table {
    Table::try_from(value).unwrap_or_default()
}

fn runtimes(around: &Surroundings) -> (&'static str, Json) {
    let (name, program) = if around.nvidia_runtime { ("nvidia", NVIDIA_RUNTIME) } else { ("runc", RUNC) };
    let runtime = json!({
        "runtime_type": "io.containerd.runc.v2",
        "base_runtime_spec": BASE_SPEC,
        "options": {"BinaryName": program, "SystemdCgroup": true},
    });
    (name, json!({name: runtime}))
}

fn head(schema: i64, parallel: bool) -> Json {
    let mut head = json!({
        "version": schema,
        "root": "/var/lib/containerd",
        "state": "/run/containerd",
        "grpc": {"address": "/run/containerd/containerd.sock"},
    });
    if parallel {
        head["proxy_plugins"] = snapshotter_plugin();
    }
    head
}

fn cni() -> Json {
    json!({"bin_dir": "/opt/cni/bin", "conf_dir": "/etc/cni/net.d"})
}

fn registry() -> Json {
    json!({"config_path": "/etc/containerd/certs.d:/etc/docker/certs.d"})
}

fn snapshotter_choice(plugin: &mut Json, parallel: bool) {
    if parallel {
        plugin["snapshotter"] = json!("soci");
        plugin["disable_snapshot_annotations"] = json!(false);
    }
}

fn schema_two(around: &Surroundings, parallel: bool) -> Table {
    let (name, runtimes) = runtimes(around);
    let mut containerd =
        json!({"default_runtime_name": name, "discard_unpacked_layers": true, "runtimes": runtimes});
    snapshotter_choice(&mut containerd, parallel);
    let mut whole = head(2, parallel);
    whole["plugins"] = json!({"io.containerd.grpc.v1.cri": {
        "sandbox_image": PAUSE_IMAGE,
        "enable_cdi": around.is_at_least(32),
        "containerd": containerd,
        "registry": registry(),
        "cni": cni(),
    }});
    table(whole)
}

fn schema_three(around: &Surroundings, parallel: bool) -> Table {
    let (name, runtimes) = runtimes(around);
    let mut images = json!({
        "discard_unpacked_layers": true,
        "pinned_images": {"sandbox": PAUSE_IMAGE},
        "registry": registry(),
    });
    snapshotter_choice(&mut images, parallel);
    let mut whole = head(3, parallel);
    whole["plugins"] = json!({
        "io.containerd.cri.v1.images": images,
        "io.containerd.cri.v1.runtime": {
            "enable_cdi": around.is_at_least(32),
            "containerd": {"default_runtime_name": name, "runtimes": runtimes},
            "cni": cni(),
        },
    });
    table(whole)
}
