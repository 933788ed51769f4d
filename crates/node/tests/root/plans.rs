//! Plans: those of the examples, and a small one.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use bringup_plan::{Action, Content, InstallSource, LocalEntry, LocalFile, LocalFiles, Plan};
use bringup_spec::{SecretSource, Text};

/// A small plan with one step of each kind that leaves files.
pub(crate) fn small() -> Plan {
    serde_json::from_str(SMALL).unwrap()
}

/// The small plan with settings that are laid over a file of the image, [`IMAGES`].
pub(crate) fn over_image(over: &str) -> Plan {
    let mut plan = small();
    let content = Content::Merged {
        otherwise: Text::literal(r#"{"whole": true, "deep": {"ours": 0}}"#),
        over: vec![Text::literal(r#"{"deep": {"ours": 1}}"#), Text::literal(over)],
    };
    let step = plan.steps.iter_mut().find(|step| step.name == "one").unwrap();
    let Action::WriteFile { path, content: own, .. } = &mut step.action else { panic!("{step:?}") };
    (*path, *own) = (IMAGES.to_owned(), content);
    plan
}

/// A file of the image.
pub(crate) const IMAGES: &str = "/etc/image.json";

const SMALL: &str = r#"{"format":1,"cluster":"c","group":"g","flavour":"bringup","kubernetes":"1.33.4",
"platform":"generic","os":"debian","architecture":"x86_64","role":"worker","nodeName":"hostname",
"maxPods":{"fixed":110},"facts":["hostname","instanceType"],
"units":[{"name":"tidy.service","content":"[Service]\nExecStart=/bin/true\n","enabled":true,"placedBy":"agent"}],
"steps":[
{"name":"identify","phase":"identify","everyBoot":true,"action":{"do":"learnFacts"}},
{"name":"folder","phase":"fetch","action":{"do":"makeDirectory","path":"/var/lib/own","mode":"0750","owner":"root:root"}},
{"name":"link","phase":"fetch","action":{"do":"makeLink","path":"/opt/bin/k","target":"/usr/bin/kubectl"}},
{"name":"modules","phase":"runtime","everyBoot":true,"action":{"do":"loadModules","modules":["overlay"]}},
{"name":"one","phase":"configure","action":{"do":"writeFile","path":"/etc/one","mode":"0644","owner":"root:root",
 "content":{"text":[{"fact":"instanceType"},"\n"]}}},
{"name":"two","phase":"configure","action":{"do":"writeFile","path":"/etc/deep/two","mode":"0600","owner":"root:root",
 "content":{"text":"two\n"}}},
{"name":"units","phase":"configure","action":{"do":"placeUnits"}},
{"name":"gate","phase":"gate","everyBoot":true,"action":{"do":"openGate","environment":{"BRINGUP_KUBELET_ARGS":"--v=2"},"queueKubelet":true}},
{"name":"kubelet","phase":"kubelet","everyBoot":true,"action":{"do":"startKubelet","health":"http://127.0.0.1:10248/healthz"}},
{"name":"report","phase":"report","action":{"do":"report"}}]}"#;

/// The plans of all examples that compile, each with its name.
pub(crate) fn of_examples() -> Vec<(String, Plan)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("cluster.yaml").exists())
        .collect();
    folders.sort();
    folders.iter().flat_map(|folder| of_example(folder)).collect()
}

fn of_example(folder: &Path) -> Vec<(String, Plan)> {
    let text = std::fs::read_to_string(folder.join("cluster.yaml")).unwrap();
    let mut plans = Vec::new();
    for document in bringup_spec::read("cluster.yaml", &text).documents {
        let local = LocalFiles {
            entries: bringup_plan::local_sources(&document.cluster)
                .into_iter()
                .map(|source| (source.clone(), entry(&folder.join(source))))
                .collect(),
        };
        for (index, group) in document.cluster.spec.node_groups.iter().enumerate() {
            if let Some(plan) = bringup_plan::compile(&document, index, &local).plan {
                let example = folder.file_name().unwrap().display();
                plans.push((format!("{example}/{}", group.name), without_networks(plan)));
            }
        }
    }
    plans
}

/// Without what has to be fetched from far away.
fn without_networks(mut plan: Plan) -> Plan {
    let far = |content: &Content| match content {
        Content::Secret(source) => !matches!(source, SecretSource::File(_)),
        Content::Pieces(pieces) => pieces.iter().any(
            |piece| matches!(piece, Content::Secret(source) if !matches!(source, SecretSource::File(_))),
        ),
        _ => false,
    };
    plan.steps.retain(|step| match &step.action {
        Action::Fetch { .. } => false,
        Action::Install { source, .. } => {
            matches!(source, InstallSource::Image | InstallSource::Package { .. })
        }
        Action::WriteFile { content, .. } => !far(content),
        _ => true,
    });
    plan
}

fn entry(path: &Path) -> LocalEntry {
    if path.is_dir() {
        let mut files = BTreeMap::new();
        collect(path, path, &mut files);
        return LocalEntry::Directory(files);
    }
    match file(path) {
        Some(file) => LocalEntry::File(file),
        None => LocalEntry::Refused("missing".to_owned()),
    }
}

fn collect(top: &Path, folder: &Path, files: &mut BTreeMap<String, LocalFile>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(top, &path, files);
        } else if let Some(file) = file(&path) {
            files.insert(path.strip_prefix(top).unwrap().display().to_string(), file);
        }
    }
}

fn file(path: &Path) -> Option<LocalFile> {
    let bytes = std::fs::read(path).ok()?;
    let executable = path.metadata().ok()?.permissions().mode() & 0o100 != 0;
    Some(LocalFile { bytes, executable })
}
