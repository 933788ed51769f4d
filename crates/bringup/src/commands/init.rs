//! `bringup init`

use std::path::Path;

use bringup_spec::{KubernetesVersion, Name};

use crate::arguments::{Form, Init, Starter};
use crate::outcome::{Stop, Verdict};
use crate::{Terminal, files};

const FILE: &str = "cluster.yaml";

pub(crate) fn execute(arguments: &Init, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let wrong = |fault: bringup_spec::Fault| Stop::input(fault.message).with_hint(fault.hint);
    Name::parse(&arguments.name).map_err(wrong)?;
    KubernetesVersion::parse(&arguments.kubernetes).map_err(wrong)?;
    let text = starter(arguments.starter)
        .replace("@NAME@", &arguments.name)
        .replace("@VERSION@", &arguments.kubernetes);
    let is_file = arguments.place.extension().is_some() && !files::is_directory(&arguments.place);
    let path = if is_file { arguments.place.clone() } else { arguments.place.join(FILE) };
    if files::exists(&path) {
        return Err(Stop::input(format!("`{}` is there already; it is left as it is", path.display()))
            .with_hint("name another file"));
    }
    if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
        files::make_directory(parent)?;
    }
    files::create(&path, text.as_bytes())?;
    let shown = path.strip_prefix(".").unwrap_or(&path).display().to_string();
    match arguments.output {
        Form::Json => terminal.json(&serde_json::json!({"file": shown}))?,
        Form::Human => {
            let text = format!("wrote {shown}; put your own values in, then run\n  bringup build {shown}\n");
            terminal.data(text.as_bytes())?;
        }
    }
    Ok(Verdict::Good)
}

fn starter(starter: Starter) -> &'static str {
    match starter {
        Starter::Eks => include_str!("../starters/eks.yaml"),
        Starter::Kubeadm => include_str!("../starters/kubeadm.yaml"),
        Starter::Flatcar => include_str!("../starters/flatcar.yaml"),
    }
}
