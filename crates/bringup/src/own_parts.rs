//! What cloud-init does with the operator's own parts, stage by stage.

use bringup_carry::{ResolvedPart, inspect};
use bringup_cloudinit::Stage;
use bringup_cloudinit::mime::{OutPart, write_multipart};
use bringup_diag::masked_line;
use bringup_spec::{Carrier, Document, PartType};

/// Modules of the final stage that come after every script.
const LAST: [&str; 2] = ["phone_home", "power_state"];
/// The one of the first stage that comes before `bootcmd`.
const FIRST: &str = "random_seed";

/// The parts of a group, and what they come to.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnParts {
    /// In the order of the document.
    pub(crate) parts: Vec<PartView>,
    /// In the order in which cloud-init acts on them.
    pub(crate) acts: Vec<Act>,
    /// Whether a carrier of the group holds them.
    pub(crate) carried: bool,
}

/// One part.
#[derive(Clone, Debug)]
pub(crate) struct PartView {
    /// Its name in the document.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: &'static str,
    /// How large it is.
    pub(crate) size: usize,
    /// The line of the document.
    pub(crate) line: u32,
    /// When and how cloud-init takes it up.
    pub(crate) when: &'static str,
}

/// One thing that cloud-init does with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Act {
    /// The stage: `boothook`, `init`, `config`, `final`.
    pub(crate) stage: &'static str,
    /// A part, a key, a command.
    pub(crate) title: String,
    /// What is done, in a few words.
    pub(crate) detail: String,
    /// Whether at every boot.
    pub(crate) every_boot: bool,
    /// Whether it is a script or a command of the operator's, rather than something that cloud-init does.
    pub(crate) is_program: bool,
}

impl OwnParts {
    /// Of a group with these parts and carriers.
    pub(crate) fn new(document: &Document, parts: &[ResolvedPart], carriers: &[Carrier]) -> Self {
        if parts.is_empty() {
            return Self::default();
        }
        let holds = |carrier: &Carrier| !matches!(carrier, Carrier::Ignition | Carrier::Bundle);
        let views = parts.iter().map(|part| PartView {
            name: part.name.clone(),
            kind: part.kind.word(),
            size: part.bytes.len(),
            line: document.key_place(&part.path).span.start.line,
            when: when(part.kind),
        });
        Self { parts: views.collect(), acts: acts(parts), carried: carriers.iter().any(holds) }
    }
}

fn when(kind: PartType) -> &'static str {
    match kind {
        PartType::CloudBoothook => "runs while cloud-init reads the parts, at every boot",
        PartType::CloudConfig => "cloud-init's modules do what it says, each in its stage",
        PartType::CloudConfigJsonp => "patches what the parts before it say together",
        PartType::CloudConfigArchive => "holds further parts; each is taken up by its own type",
        PartType::Jinja2 => "filled in with what the instance knows, then taken up by its first line",
        PartType::ShellScript => "runs in the final stage, once for each instance",
        PartType::ShellScriptPerInstance => {
            "runs in the final stage before other scripts, once for each instance"
        }
        PartType::ShellScriptPerBoot => "runs in the final stage before other scripts, at every boot",
        PartType::ShellScriptPerOnce => "runs in the final stage before other scripts, once for ever",
        PartType::IncludeUrl => "fetched while cloud-init reads the parts, at every boot",
        PartType::IncludeOnceUrl => "fetched while cloud-init reads the parts, once for each instance",
        PartType::PartHandler => "Python that takes up parts of its own types",
        PartType::UpstartJob => "dropped: cloud-init has no handler for upstart jobs any more",
    }
}

fn acts(parts: &[ResolvedPart]) -> Vec<Act> {
    let names: Vec<String> =
        parts.iter().enumerate().map(|(index, part)| format!("{:06}-{}", index, part.name)).collect();
    let message: Vec<OutPart<'_>> = names
        .iter()
        .zip(parts)
        .map(|(name, part)| OutPart { name, content_type: part.kind.word(), body: &part.bytes })
        .collect();
    let inspection = inspect("parts", &write_multipart(&message));
    let mut acts: Vec<Act> = parts.iter().filter_map(taken_up).collect();
    let steps = |stages: &'static [&'static str]| {
        inspection.steps.iter().filter(|step| stages.contains(&step.stage)).map(move |step| {
            let is_boot = matches!(step.stage, "boothook" | "init" | "every-boot");
            let stage = if step.stage == "every-boot" { "final" } else { step.stage };
            let first = step.run.lines().next().unwrap_or_default();
            let (title, detail) = match (&step.script, first.rsplit_once('/')) {
                (Some(_), Some((_, file))) => (unnumbered(file), "your script"),
                _ => (masked_line(first), if stage == "init" { "bootcmd" } else { "runcmd" }),
            };
            Act { stage, title, detail: detail.to_owned(), every_boot: is_boot, is_program: true }
        })
    };
    let modules = |stage: Stage, word: &'static str, wanted: fn(&str) -> bool| {
        inspection.modules.iter().filter(move |act| act.stage == stage && wanted(act.key)).map(move |act| {
            Act {
                stage: word,
                title: act.key.to_owned(),
                detail: act.does.clone(),
                every_boot: false,
                is_program: false,
            }
        })
    };
    acts.extend(steps(&["boothook"]));
    acts.extend(modules(Stage::Init, "init", |key| key == FIRST));
    acts.extend(steps(&["init"]));
    acts.extend(inspection.files.iter().map(|file| Act {
        stage: "init",
        title: file.path.clone(),
        detail: format!("write_files ({})", file.mode),
        every_boot: false,
        is_program: false,
    }));
    acts.extend(modules(Stage::Init, "init", |key| key != FIRST));
    acts.extend(modules(Stage::Config, "config", |_| true));
    acts.extend(modules(Stage::Final, "final", |key| !LAST.contains(&key)));
    acts.extend(steps(&["final", "every-boot"]));
    acts.extend(modules(Stage::Final, "final", |key| LAST.contains(&key)));
    acts
}

/// What happens while cloud-init reads the parts, beside boothooks.
fn taken_up(part: &ResolvedPart) -> Option<Act> {
    let (detail, every_boot) = match part.kind {
        PartType::IncludeUrl => ("fetches further parts", true),
        PartType::IncludeOnceUrl => ("fetches further parts once", false),
        PartType::PartHandler => ("your Python takes up parts", true),
        _ => return None,
    };
    Some(Act {
        stage: "boothook",
        title: part.name.clone(),
        detail: detail.to_owned(),
        every_boot,
        is_program: false,
    })
}

/// A name without the number that kept it in its place here.
fn unnumbered(name: &str) -> String {
    match name.split_once('-') {
        Some((number, rest)) if number.len() == 6 && number.bytes().all(|digit| digit.is_ascii_digit()) => {
            rest.to_owned()
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::acts;
    use bringup_carry::ResolvedPart;
    use bringup_spec::PartType;
    use bringup_yaml::Path;

    #[test]
    fn parts_act_in_the_order_of_the_stages() {
        let part = |name: &str, kind, text: &str| ResolvedPart {
            name: name.to_owned(),
            kind,
            bytes: text.as_bytes().to_vec(),
            path: Path::default(),
        };
        let config = "#cloud-config\npackages: [jq]\ntimezone: UTC\nbootcmd: [[a]]\nruncmd: [[b]]\n\
                      write_files: [{path: /etc/x, content: y}]\npower_state: {mode: reboot}\n";
        let found = acts(&[
            part("late", PartType::ShellScript, "#!/bin/sh\n"),
            part("settings", PartType::CloudConfig, config),
            part("each", PartType::ShellScriptPerBoot, "#!/bin/sh\n"),
            part("more", PartType::IncludeUrl, "#include\nhttps://example.com/x\n"),
            part("early", PartType::CloudBoothook, "#cloud-boothook\n#!/bin/sh\n"),
        ]);
        let shown: Vec<_> = found.iter().map(|act| (act.stage, act.title.as_str(), act.every_boot)).collect();
        assert_eq!(
            shown,
            [
                ("boothook", "more", true),
                ("boothook", "early", true),
                ("init", "'a'", true),
                ("init", "/etc/x", false),
                ("config", "timezone", false),
                ("final", "packages", false),
                ("final", "each", true),
                ("final", "late", false),
                ("final", "'b'", false),
                ("final", "power_state", false),
            ]
        );
    }
}
