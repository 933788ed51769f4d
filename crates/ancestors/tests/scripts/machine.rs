//! A directory that stands for a machine: scripts are run in it, and what they leave there is compared.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bringup_diag::Severity;
use bringup_spec::OnFailure;

use crate::support;

/// What the composed scripts call the directory.
const PLACE: &str = "/place/";
const BOOTSTRAP: &str = "/etc/eks/bootstrap.sh";
const STATE: &str = "/var/lib/bringup";

/// Variables that `bootstrap.sh` takes flags from, of those that the scripts here set.
const VARIABLES: [(&str, &str); 3] = [
    ("USE_MAX_PODS", "use-max-pods"),
    ("KUBELET_EXTRA_ARGS", "kubelet-extra-args"),
    ("CLUSTER_ID", "cluster-id"),
];

/// How the two runs of a script compare.
pub(crate) enum Verdict {
    /// They do the same.
    Equal,
    /// They do not, and that is told.
    Told(Vec<String>),
    /// The script is refused.
    Refused(Vec<String>),
    /// They do not, and nothing is told.
    Silent(Box<[String; 2]>),
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Equal => write!(out, "equal"),
            Self::Told(told) | Self::Refused(told) => write!(out, "{}: {}", self.word(), told.join("\n")),
            Self::Silent(seen) => write!(out, "as it is: {}\nas it is read: {}", seen[0], seen[1]),
        }
    }
}

impl Verdict {
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Told(_) => "told",
            Self::Refused(_) => "refused",
            Self::Silent(_) => "silent",
        }
    }
}

/// All that can be seen of a run.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    /// Files with their modes and contents.
    files: BTreeMap<String, String>,
    /// The names of those that were there at the call; none if it was not come to.
    at_call: Option<Vec<String>>,
    /// What the document says for the call.
    call: Option<String>,
    /// How it ended.
    code: Option<i32>,
}

pub(crate) struct Machine {
    root: PathBuf,
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Writes a program by a process of its own: one that another test starts meanwhile would hold a file of ours open, and busy.
fn write_program(path: &Path, text: &str) {
    let mut install = Command::new("install");
    let mut child =
        install.args(["-m", "0755", "/dev/stdin"]).arg(path).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

impl Machine {
    pub(crate) fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("bringup-scripts-{name}-{}", std::process::id()));
        fs::create_dir_all(root.join("bin")).unwrap();
        let place = root.join("place");
        let record = root.join("call");
        let variables: String = VARIABLES
            .map(|(name, _)| format!("[ -z \"${{{name}+x}}\" ] || printf '%s\\0' {name} \"${name}\"; "))
            .concat();
        let recorder = format!(
            "#!/bin/bash\ncd {0}\nprintf '%s\\0' \"$@\" > {1}.words\n{{ {variables}}} > {1}.variables\nshopt -s nullglob dotglob globstar\nprintf '%s\\0' ** > {1}.files\nprintf 'CALL\\n' >> trace\n",
            place.display(),
            record.display()
        );
        // As much of sudo as takes the variables away.
        let sudo = "#!/bin/bash\nkeep=\nset_=()\nwhile :; do case $1 in -E) keep=1; shift;; -u) shift 2;; -*) shift;; *=*) set_+=(\"$1\"); shift;; *) break;; esac; done\n[ -n \"$keep\" ] && exec env \"${set_[@]}\" \"$@\"\nexec env -i PATH=\"$PATH\" \"${set_[@]}\" \"$@\"\n";
        for (file, text) in [(root.join("bootstrap.sh"), recorder.as_str()), (root.join("bin/sudo"), sudo)] {
            write_program(&file, text);
        }
        Self { root }
    }

    /// Runs a script both ways.
    pub(crate) fn compare(&self, script: &str) -> Verdict {
        let read = support::read(&[("user-data", script), ("more.yaml", MORE)]);
        let errors = support::told(&read, Severity::Error);
        if !errors.is_empty() {
            assert!(errors.iter().all(|told| told.starts_with("user-data:")), "{script}\n{errors:?}");
            return Verdict::Refused(errors);
        }
        let original = self.as_it_is(script);
        let ours = self.as_it_is_read(&read);
        if original == ours {
            return Verdict::Equal;
        }
        let told: Vec<String> = [Severity::Warning, Severity::Note]
            .into_iter()
            .flat_map(|severity| support::told(&read, severity))
            .filter(|told| told.contains("ancestor/field-differs"))
            // What the call itself writes is not in the log; all else is.
            .filter(|told| !(told.contains("`exec ") && told.contains("does not get what the call writes")))
            .collect();
        if told.is_empty() {
            return Verdict::Silent(Box::new([format!("{original:#?}"), format!("{ours:#?}")]));
        }
        Verdict::Told(told)
    }

    fn as_it_is(&self, script: &str) -> Seen {
        self.clear();
        let code = self.run(script);
        let parts = |name: &str| -> Option<Vec<String>> {
            let text = fs::read_to_string(self.root.join(format!("call.{name}"))).ok()?;
            Some(text.split_terminator('\0').map(str::to_owned).collect())
        };
        let mut words: Vec<String> = Vec::new();
        for pair in parts("variables").unwrap_or_default().chunks(2) {
            let flag = VARIABLES.iter().find(|(name, _)| *name == pair[0]).unwrap().1;
            words.extend([format!("--{flag}"), pair[1].clone()]);
        }
        let call = parts("words").map(|own| {
            words.extend(own);
            let quoted = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
            let line: Vec<String> = words.iter().map(quoted).collect();
            let plain = format!("#!/bin/bash\n{BOOTSTRAP} {}\n", line.join(" "));
            document(&support::read(&[("user-data", &plain), ("more.yaml", MORE)]))
        });
        let mut at_call = parts("files");
        if let Some(files) = &mut at_call {
            files.retain(|file| is_no_log(file));
            files.sort();
        }
        Seen { files: self.files(), at_call, call, code }
    }

    fn as_it_is_read(&self, read: &bringup_ancestors::Read) -> Seen {
        self.clear();
        let group = &read.documents.first().unwrap().cluster.spec.node_groups[0];
        let step = |name: &str| {
            let step = group.steps.iter().find(|step| step.name.as_str() == name)?;
            Some((step.script.as_ref()?.to_string().replace("@@{", "@{"), step.on_failure))
        };
        let mut code = Some(0);
        if let Some((script, policy)) = step("before-bootstrap") {
            code = self.run(&script);
            if code != Some(0) && policy != OnFailure::Continue {
                return Seen { files: self.files(), at_call: None, call: None, code };
            }
            code = Some(0);
        }
        let at_call = self.files().into_keys().filter(|file| is_no_log(file)).collect();
        let trace = self.root.join("place/trace");
        let earlier = fs::read_to_string(&trace).unwrap_or_default();
        fs::write(&trace, format!("{earlier}CALL\n")).unwrap();
        if let Some((script, _)) = step("after-bootstrap") {
            code = self.run(&script);
        }
        Seen { files: self.files(), at_call: Some(at_call), call: Some(document(read)), code }
    }

    fn clear(&self) {
        let _ = fs::remove_dir_all(self.root.join("place"));
        let _ = fs::remove_dir_all(self.root.join("state"));
        for name in ["words", "variables", "files"] {
            let _ = fs::remove_file(self.root.join(format!("call.{name}")));
        }
        fs::create_dir_all(self.root.join("place")).unwrap();
        fs::write(self.root.join("place/trace"), "").unwrap();
        fs::write(self.root.join("given.sh"), "GIVEN=given\nshow_given() { echo \"$GIVEN $1\" >> given; }\n")
            .unwrap();
    }

    /// Runs a script as cloud-init and the agent do: as a file, by the program that its first line names.
    fn run(&self, script: &str) -> Option<i32> {
        let root = self.root.display();
        let script = script
            .replace(PLACE, &format!("{root}/place/"))
            .replace("/given.sh", &format!("{root}/given.sh"))
            .replace(BOOTSTRAP, &format!("{root}/bootstrap.sh"))
            .replace(STATE, &format!("{root}/state"));
        let file = self.root.join("script");
        fs::write(&file, &script).unwrap();
        let first = script.lines().next().unwrap_or_default();
        let mut words = first.strip_prefix("#!").unwrap_or("/bin/bash").split_whitespace();
        // Nothing here takes long: whoever waits for ever is ended.
        let output = Command::new("timeout")
            // All that it starts holds the pipe open, and is waited for by that.
            .args(["-k", "1", "10", "/bin/bash", "-c", "exec \"$0\" \"$@\" 9>&1", words.next().unwrap()])
            .args(words)
            .arg(&file)
            .env_clear()
            .env("PATH", format!("{root}/bin:/usr/bin:/bin"))
            .env("HOME", "/")
            .current_dir(self.root.join("place"))
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        output.status.code()
    }

    /// All files, with what is in them, without what the shell says of itself.
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let place = self.root.join("place");
        let mut folders = vec![place.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let mode = fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777;
                let content = if path.is_dir() {
                    folders.push(path.clone());
                    "(folder)".to_owned()
                } else {
                    content(&path)
                };
                let name = path.strip_prefix(&place).unwrap().to_str().unwrap().to_owned();
                files.insert(name, format!("{mode:o} {content}"));
            }
        }
        files
    }
}

fn content(path: &Path) -> String {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    // `set -x` writes the call down, too.
    let lines = text.split_inclusive('\n').filter(|line| !line.starts_with('+'));
    // Its errors have the numbers of lines, which are other ones in two scripts.
    lines
        .map(|line| match line.split_once(": line ") {
            Some((_, rest)) => rest.trim_start_matches(|letter: char| letter.is_ascii_digit()),
            None => line,
        })
        .collect()
}

/// Where output goes is there from the first word on, which may be behind the call.
fn is_no_log(file: &str) -> bool {
    !file.is_empty() && !["log", "out", "err"].iter().any(|name| file.contains(name))
}

const MORE: &str = "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: '1.32'}, aws: {region: us-west-2}}\n";

/// What a document says, without its steps.
fn document(read: &bringup_ancestors::Read) -> String {
    let Some(document) = read.documents.first() else {
        return format!("{:?}", support::told(read, Severity::Error));
    };
    let mut value = document.tree().to_value();
    without_steps(&mut value);
    bringup_yaml::to_yaml(&value)
}

fn without_steps(value: &mut bringup_yaml::Value) {
    match value {
        bringup_yaml::Value::Map(entries) => {
            entries.retain(|(key, _)| key != "steps");
            for (_, value) in entries {
                without_steps(value);
            }
        }
        bringup_yaml::Value::List(items) => items.iter_mut().for_each(without_steps),
        _ => {}
    }
}
