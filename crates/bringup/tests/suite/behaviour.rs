//! Exit codes, streams, files that are not ours.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::program::{bringup, error, out, run, tree};

/// A folder with the starter document, which builds without a finding.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let output = run(folder.path(), &["init", "--starter", "kubeadm", "--name", "lab"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    folder
}

fn build(folder: &Path, arguments: &[&str]) -> std::process::Output {
    run(folder, &[&["build", "cluster.yaml"], arguments].concat())
}

#[test]
fn every_starter_builds_without_a_finding_and_is_never_overwritten() {
    for starter in ["eks", "kubeadm", "flatcar"] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let begun = run(folder.path(), &["init", "--starter", starter]);
        assert_eq!(begun.status.code(), Some(0), "{}", error(&begun));
        let built = build(folder.path(), &["--strict"]);
        assert_eq!((built.status.code(), error(&built).as_str()), (Some(0), ""), "{starter}");
        let again = run(folder.path(), &["init", "--starter", starter]);
        assert_eq!(again.status.code(), Some(2));
        assert!(error(&again).contains("is there already"), "{}", error(&again));
    }
}

/// tkestack's installer runs three programs of a folder, by their names; nobody who has them is to lose them in silence.
#[test]
fn hooks_of_an_installer_beside_the_document_are_told() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
        std::fs::write(path, text).expect("a file");
    };
    let example = include_str!("../../../../examples/tkestack/cluster.json");
    put("cluster.json", example);
    for hook in
        ["pre/pre-install", "pre/cluster-pre-install", "post/post-install", "post/cluster-post-install"]
    {
        put(&format!("hooks/{hook}"), "#!/bin/sh\n");
    }
    let told = || {
        let built = run(folder.path(), &["build", "cluster.json"]);
        assert_eq!(built.status.code(), Some(0), "{}", error(&built));
        error(&built).matches("hook/of-the-installer").count()
    };
    assert_eq!(told(), 0);
    put("hooks/pre-install", "#!/bin/sh\n");
    put("hooks/post-cluster-ready", "#!/bin/sh\n");
    assert_eq!(told(), 2);
    // One that goes to the nodes is theirs.
    put("cluster.json", &example.replacen("\"src\": \"hooks/pre\"", "\"src\": \"hooks/pre-install\"", 1));
    assert_eq!(told(), 1);
}

/// People have a template that calls `bootstrap.sh`, in YAML, in JSON or as AWS prints it: that is where they begin.
#[test]
fn a_template_that_calls_the_script_is_built() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let example = include_str!("../../../../examples/eks-flavour/cluster.yaml");
    let additions =
        "apiVersion: bringup.dev/v1alpha1\nkind: Additions\nspec: {kubernetes: {version: '1.32'}}\n";
    std::fs::write(folder.path().join("cluster.yaml"), example).expect("the document");
    std::fs::write(folder.path().join("additions.yaml"), additions).expect("additions");
    let built = build(folder.path(), &["-o", "out", "--group", "called"]);
    assert_eq!(built.status.code(), Some(0), "{}", error(&built));
    let called = folder.path().join("out/ironworks/called");
    let template = std::fs::read_to_string(called.join("template.json")).expect("a template");
    let printed = format!("{{\"TemplateBody\": {template}}}");
    std::fs::write(called.join("printed.json"), printed).expect("what AWS prints");
    let mut plans = Vec::new();
    for name in ["template.yaml", "template.json", "printed.json"] {
        let path = format!("out/ironworks/called/{name}");
        let again = run(
            folder.path(),
            &["build", &path, "--with", "additions.yaml", "-o", name.trim_end_matches(".json")],
        );
        assert_eq!(again.status.code(), Some(0), "{name}: {}", error(&again));
        let plan = folder.path().join(name.trim_end_matches(".json")).join("ironworks/nodes/plan.json");
        let plan = std::fs::read_to_string(plan).expect("a plan");
        for part in ["nodes.example.com/kind=called", "\"dedicated\\\"", "signal:cloudformation"] {
            assert!(plan.contains(part), "{name}: no {part} in {plan}");
        }
        plans.push(plan);
    }
    assert!(plans.windows(2).all(|pair| pair[0] == pair[1]), "the same call gives the same plan");
    // Whoever deploys it may say otherwise, and so may who builds.
    let path = "out/ironworks/called/template.yaml";
    let with = |parameter: &str| {
        run(
            folder.path(),
            &["build", path, "--with", "additions.yaml", "--parameter", parameter, "-o", "other"],
        )
    };
    assert_eq!(with("ClusterName=foundry").status.code(), Some(0));
    assert!(folder.path().join("other/foundry/nodes/plan.json").is_file());
    let wrong = with("ClusterNme=foundry");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(error(&wrong).contains("the template has no parameter `ClusterNme`"), "{}", error(&wrong));
    let none = build(folder.path(), &["--parameter", "ClusterName=foundry"]);
    assert!(error(&none).contains("`--parameter` is for CloudFormation templates"), "{}", error(&none));
    std::fs::write(folder.path().join("script.sh"), "#!/bin/sh\ntrue\n").expect("a script");
    let none = run(folder.path(), &["try", "script.sh", "--parameter", "ClusterName=foundry"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(error(&none).contains("`--parameter` is for CloudFormation templates"), "{}", error(&none));
    // A template with our own plan in it is a carrier, and no beginning.
    build(folder.path(), &["-o", "out", "--group", "settings"]);
    let ours = run(folder.path(), &["build", "out/ironworks/settings/template.yaml"]);
    assert_eq!(ours.status.code(), Some(2));
    assert!(error(&ours).contains("this is a CloudFormation template, not a document"), "{}", error(&ours));
}

#[test]
fn a_document_from_standard_input_gives_the_same_files() {
    let folder = project();
    build(folder.path(), &["-o", "one"]);
    let document = std::fs::read(folder.path().join("cluster.yaml")).expect("the document");
    let mut child = bringup(folder.path())
        .args(["build", "-", "-o", "two"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(&document).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let (mut one, mut two) = (tree(&folder.path().join("one")), tree(&folder.path().join("two")));
    // The report names the input.
    assert!(one.remove("report.html").is_some() && two.remove("report.html").is_some());
    assert_eq!(one, two);
}

#[test]
fn a_document_that_does_not_compile_changes_nothing_on_disk() {
    let folder = project();
    build(folder.path(), &[]);
    let before = tree(&folder.path().join("bringup-out"));
    let document = std::fs::read_to_string(folder.path().join("cluster.yaml")).expect("the document");
    std::fs::write(folder.path().join("cluster.yaml"), document.replace("nodeGroups", "nodeGroup"))
        .expect("written");
    let output = build(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("nothing was written"), "{}", error(&output));
    assert_eq!(out(&output), "");
    assert_eq!(tree(&folder.path().join("bringup-out")), before);
}

#[test]
fn files_of_an_earlier_build_go_and_files_of_others_stay() {
    let folder = project();
    let document = std::fs::read_to_string(folder.path().join("cluster.yaml")).expect("the document");
    let with = format!("{document}      carriers: [multipart, bundle]\n");
    std::fs::write(folder.path().join("cluster.yaml"), with).expect("written");
    let output = build(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let group = folder.path().join("bringup-out/lab/workers");
    assert!(group.join("bundle.tar").exists() && group.join("user-data.mime").exists());
    std::fs::write(group.join("notes.txt"), "mine").expect("written");
    std::fs::write(folder.path().join("cluster.yaml"), &document).expect("written");
    build(folder.path(), &[]);
    assert!(!group.join("bundle.tar").exists());
    assert!(group.join("plan.json").exists());
    assert!(group.join("notes.txt").exists());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = bringup(Path::new("."))
        .args(["schema", "cluster"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), error(&output).as_str()), (Some(0), ""));
}

#[test]
fn a_missing_file_is_named() {
    let output = run(Path::new("."), &["build", "nowhere/cluster.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(error(&output), "error: cannot read `nowhere/cluster.yaml`: no such file or directory\n");
}

#[test]
fn a_wrong_call_is_exit_2_and_help_is_exit_0() {
    assert_eq!(run(Path::new("."), &["bulid"]).status.code(), Some(2));
    assert_eq!(run(Path::new("."), &["build", "--frob"]).status.code(), Some(2));
    let help = run(Path::new("."), &["build", "--help"]);
    assert_eq!((help.status.code(), error(&help).as_str()), (Some(0), ""));
}

#[test]
fn colour_follows_the_wish_and_no_color() {
    let folder = project();
    let coloured = build(folder.path(), &["--color", "always"]);
    assert!(out(&coloured).contains("\u{1b}["));
    assert!(!out(&build(folder.path(), &[])).contains("\u{1b}["));
    // On a terminal of its own, which is what `script` gives it, colour is the default and the variable decides.
    let on_terminal = |no_color: Option<&str>| {
        let mut command = std::process::Command::new("script");
        let build = format!("{} build cluster.yaml", env!("CARGO_BIN_EXE_bringup"));
        command.args(["--quiet", "--return", "--command", &build, "/dev/null"]).current_dir(folder.path());
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CI").env("TERM", "xterm");
        command.envs(no_color.map(|value| ("NO_COLOR", value))).stdin(Stdio::null());
        let output = command.output().expect("`script` of util-linux starts");
        assert_eq!(output.status.code(), Some(0), "{}", out(&output));
        out(&output)
    };
    assert!(on_terminal(None).contains("\u{1b}["));
    assert!(!on_terminal(Some("1")).contains("\u{1b}["));
}

#[test]
fn an_unknown_group_or_cluster_is_a_wrong_call() {
    let folder = project();
    let output = build(folder.path(), &["--group", "worker"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("did you mean `workers`?"), "{}", error(&output));
    assert_eq!(build(folder.path(), &["--cluster", "other"]).status.code(), Some(2));
}

#[test]
fn json_and_sarif_are_whole_documents_on_standard_output() {
    let folder = project();
    for form in ["json", "sarif"] {
        let output = build(folder.path(), &["--output", form]);
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect(form);
        assert!(value.is_object());
        assert_eq!(error(&output), "");
    }
}

#[test]
fn equal_documents_do_not_differ_and_changed_ones_do() {
    let folder = project();
    let document = std::fs::read_to_string(folder.path().join("cluster.yaml")).expect("the document");
    std::fs::write(folder.path().join("new.yaml"), document.replace("pool: workers", "pool: other"))
        .expect("written");
    build(folder.path(), &[]);
    for same in ["cluster.yaml", "bringup-out", "bringup-out/lab/workers/plan.json"] {
        let output = run(folder.path(), &["diff", "cluster.yaml", same]);
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(0), ""), "{same}");
    }
    let output = run(folder.path(), &["diff", "cluster.yaml", "new.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("pool=other"), "{}", out(&output));
    let json = run(folder.path(), &["diff", "cluster.yaml", "new.yaml", "--output", "json"]);
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(value["differs"], true);
}

#[test]
fn what_is_rendered_is_what_is_built() {
    let folder = project();
    build(folder.path(), &[]);
    let rendered = run(folder.path(), &["render", "cluster.yaml", "--as", "plan"]);
    let built = std::fs::read(folder.path().join("bringup-out/lab/workers/plan.json")).expect("the plan");
    assert_eq!(rendered.stdout, built);
    let packed = run(folder.path(), &["render", "cluster.yaml", "--as", "cloud-init", "--gzip", "--base64"]);
    assert!(out(&packed).starts_with("H4sI"), "{}", out(&packed));
}

/// A machine that finds nothing it reads boots and does nothing: better no bytes than those.
#[test]
fn what_no_machine_of_the_group_reads_is_not_rendered() {
    let folder = project();
    for carrier in ["ignition", "nodeconfig"] {
        let rendered = run(folder.path(), &["render", "cluster.yaml", "--as", carrier]);
        assert_eq!((rendered.status.code(), out(&rendered).as_str()), (Some(2), ""), "{carrier}");
        let told = error(&rendered);
        assert_eq!(told.matches("error[carrier/not-read]").count(), 1, "{carrier}: {told}");
    }
    let read = run(folder.path(), &["render", "cluster.yaml", "--as", "multipart"]);
    assert_eq!((read.status.code(), error(&read).as_str()), (Some(0), ""));
}

/// Nodeadm's image without our agent has nobody who would read these.
#[test]
fn a_carrier_with_errors_is_not_handed_out() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let text = include_str!("../../../../tests/tools/documents/nodeconfig.yaml");
    std::fs::write(folder.path().join("cluster.yaml"), text).expect("the document");
    for carrier in ["cloud-init", "multipart", "bundle"] {
        let rendered = run(folder.path(), &["render", "cluster.yaml", "--as", carrier]);
        assert_eq!((rendered.status.code(), out(&rendered).as_str()), (Some(2), ""), "{carrier}");
        assert!(error(&rendered).contains("error[agent/needed]"), "{carrier}: {}", error(&rendered));
    }
    let rendered = run(folder.path(), &["render", "cluster.yaml", "--as", "nodeconfig"]);
    assert_eq!(rendered.status.code(), Some(0), "{}", error(&rendered));
    assert!(out(&rendered).contains("node.eks.aws"));
}

#[test]
fn the_report_stands_alone_and_quotes_safely() {
    let folder = project();
    let document = std::fs::read_to_string(folder.path().join("cluster.yaml")).expect("the document");
    let hostile = format!(
        "{document}      files:\n        - path: /etc/<script>alert(1)</script>\n          content: x\n"
    );
    std::fs::write(folder.path().join("cluster.yaml"), hostile).expect("written");
    let output = build(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let page = std::fs::read_to_string(folder.path().join("bringup-out/report.html")).expect("the report");
    for foreign in ["<script", "<link", "<img", "@import", "url(", " src="] {
        assert!(!page.contains(foreign), "the report has {foreign}");
    }
    assert!(page.contains("/etc/&lt;script&gt;"));
}

#[test]
fn publishing_lays_out_plans_and_agents_by_digest() {
    let folder = project();
    build(folder.path(), &[]);
    std::fs::write(folder.path().join("bringup-node-x86_64"), "agent").expect("written");
    let output = run(
        folder.path(),
        &[
            "publish",
            "bringup-out",
            "--base-url",
            "https://mirror.example/b/",
            "--agent",
            "bringup-node-x86_64",
            "-o",
            "up",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    // sha256 of `agent`, by sha256sum.
    let digest = "d4f0bc5a29de06b510f9aa428f1eedba926012b591fef7a518e776a7c9bd1824";
    assert!(out(&output).contains(digest), "{}", out(&output));
    for (path, bytes) in tree(&folder.path().join("up")) {
        assert!(path.contains(&bringup_plan::sha256_hex(&bytes)), "{path}");
    }
}

/// What another program's input says is found where it stands: in the call, and in the last NodeConfig that says it.
#[test]
fn the_number_of_pods_is_explained_as_kubelet_is_told_it() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for (example, input, pods, line) in [
        ("bootstrap", "user-data.sh", "58", "line 8\n"),
        ("nodeadm", "user-data.txt", "30", "line 8 of user-data.txt#part-002\n"),
    ] {
        let arguments = ["explain", input, "--with", "additions.yaml", "max pods"];
        let output = run(&examples.join(example), &arguments);
        assert_eq!(output.status.code(), Some(0), "{example}: {}", error(&output));
        let expected = format!(
            "  max pods  {pods}\n            the document: spec.nodeGroups[0].kubelet.config.maxPods, {line}"
        );
        assert!(out(&output).contains(&expected), "{example}: {}", out(&output));
        let memory = [&arguments[..4], &["memory is kept"]].concat();
        let kept = out(&run(&examples.join(example), &memory));
        assert!(kept.contains("pods that memory is kept for  @{maxPods}\n"), "{example}: {kept}");
    }
}

#[test]
fn a_code_is_explained_and_a_misspelt_one_is_suggested() {
    let output = run(Path::new("."), &["explain", "document/unknown-key"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(out(&output).contains("typo"), "{}", out(&output));
    let output = run(Path::new("."), &["explain", "document/unkown-key"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("`document/unknown-key`"), "{}", error(&output));
}

#[test]
fn manual_pages_and_completions_know_every_command() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let output = run(folder.path(), &["man", "man1"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let pages = tree(&folder.path().join("man1"));
    for command in ["build", "render", "inspect", "diff", "explain", "init", "schema", "publish"] {
        let page = pages.get(&format!("bringup-{command}.1")).expect(command);
        assert!(String::from_utf8_lossy(page).contains(".SH SYNOPSIS"), "{command}");
        for shell in ["bash", "zsh", "fish"] {
            assert!(
                out(&run(folder.path(), &["completions", shell])).contains(command),
                "{shell}: {command}"
            );
        }
    }
}

#[test]
fn several_documents_of_one_name_are_refused() {
    let folder = project();
    std::fs::copy(folder.path().join("cluster.yaml"), folder.path().join("other.yaml")).expect("copied");
    let output = build(folder.path(), &["other.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    let told = error(&output);
    assert!(told.contains("there is a cluster `lab` in `cluster.yaml` already"), "{told}");
    assert!(told.contains("other.yaml:") && told.contains("first here"), "both places: {told}");
}

#[test]
fn a_file_that_no_build_has_written_is_not_overwritten() {
    let folder = project();
    let group = folder.path().join("bringup-out/lab/workers");
    std::fs::create_dir_all(&group).expect("made");
    std::fs::write(group.join("plan.json"), "mine").expect("written");
    let output = build(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error(&output).contains("plan.json`: a file that no build has written"), "{}", error(&output));
    assert_eq!(std::fs::read(group.join("plan.json")).expect("there"), b"mine");
}

#[test]
fn what_looks_like_a_secret_is_shown_nowhere() {
    let folder = project();
    let document = std::fs::read_to_string(folder.path().join("cluster.yaml")).expect("the document");
    let careless = "      steps:\n        - {name: login, run: [/bin/login, --password=hunter2], before: [gate]}\n      units:\n        - name: a.service\n          content: |\n            [Service]\n            Environment=API_TOKEN=hunter2\n            ExecStart=/bin/true\n";
    std::fs::write(folder.path().join("old.yaml"), &document).expect("written");
    std::fs::write(folder.path().join("cluster.yaml"), format!("{document}{careless}")).expect("written");
    let mut said = Vec::new();
    for arguments in [
        vec!["build", "cluster.yaml"],
        vec!["build", "cluster.yaml", "--output", "json"],
        vec!["explain", "cluster.yaml"],
        vec!["diff", "old.yaml", "cluster.yaml"],
        vec!["inspect", "bringup-out/lab/workers/plan.json"],
    ] {
        let output = run(folder.path(), &arguments);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {}", error(&output));
        said.push((arguments.join(" "), out(&output) + &error(&output)));
    }
    let page = std::fs::read_to_string(folder.path().join("bringup-out/report.html")).expect("the report");
    said.push(("the report".to_owned(), page));
    for (what, text) in said {
        let line = text.lines().find(|line| line.contains("hunter2"));
        assert_eq!(line, None, "{what}");
    }
}

#[test]
fn the_report_lists_what_is_lost_without_our_agent() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let text = include_str!("../../../../tests/tools/documents/nodeconfig.yaml");
    // On other images the carrier's script does what is left without steps.
    let (before, after) = text.split_once("      steps:\n").expect("steps");
    let after: String = after.split_inclusive('\n').skip_while(|line| line.starts_with("        ")).collect();
    let scripted = format!("{before}{after}").replace("os: amazon-linux-2023", "os: amazon-linux-2");
    for (text, phrase) in [
        (text, "kubelet starts even where a step has failed"),
        (scripted.as_str(), "facts come from a shell, which asks the metadata service with curl"),
    ] {
        std::fs::write(folder.path().join("cluster.yaml"), text).expect("the document");
        let built = build(folder.path(), &[]);
        assert_eq!(built.status.code(), Some(0), "{}", error(&built));
        let page =
            std::fs::read_to_string(folder.path().join("bringup-out/report.html")).expect("the report");
        assert!(page.contains("<h3>Lost without our agent</h3>"));
        assert!(page.contains(&format!("<li>{phrase}</li>")), "{phrase}");
        assert!(error(&built).contains(phrase), "{}", error(&built));
    }
}

#[test]
fn the_report_shows_the_parts_where_cloud_init_runs_them() {
    let folder = project();
    let document = std::fs::read_to_string(folder.path().join("cluster.yaml")).expect("the document");
    let parts = "      parts:\n        - name: settings-part\n          type: text/cloud-config\n          content: |\n            \
                 #cloud-config\n            packages: [jq]\n            timezone: UTC\n        - name: late-part\n          \
                 type: text/x-shellscript\n          content: |\n            #!/bin/sh\n            true\n";
    std::fs::write(folder.path().join("cluster.yaml"), format!("{document}{parts}")).expect("written");
    let output = build(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let page = std::fs::read_to_string(folder.path().join("bringup-out/report.html")).expect("the report");
    let (picture, rest) = page.split_once("</svg>").expect("a picture");
    let places: Vec<Option<usize>> =
        [">config<", ">c1 ◆ timezone<", ">final<", ">c2 ◆ packages<", ">c3 ◆ late-part<", ">identify<"]
            .iter()
            .map(|text| picture.find(text))
            .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    let (list, _) = rest.split_once("</table>").expect("a list");
    assert!(list.contains("settings-part") && list.contains("once for each instance"), "{list}");
}

#[test]
fn a_report_on_many_groups_lists_all_and_details_some() {
    let folder = project();
    let document = std::fs::read_to_string(folder.path().join("cluster.yaml")).expect("the document");
    let (head, group) = document.split_once("    - name: workers\n").expect("a group");
    let groups: Vec<String> = (0..80).map(|number| format!("    - name: g{number}\n{group}")).collect();
    std::fs::write(folder.path().join("cluster.yaml"), format!("{head}{}", groups.concat()))
        .expect("written");
    let output = build(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    // What is said of them fits a terminal of 24 lines.
    let told = out(&output);
    assert!(told.contains(" more node groups") && told.lines().count() <= 24, "{told}");
    let page = std::fs::read_to_string(folder.path().join("bringup-out/report.html")).expect("the report");
    assert_eq!(page.matches("<svg class=\"picture\"").count(), 60);
    for number in 0..80 {
        assert!(page.contains(&format!(">g{number}<")), "g{number}");
    }
}
