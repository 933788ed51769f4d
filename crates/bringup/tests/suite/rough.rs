//! Inputs that are too large, too deep or no files, outputs that go nowhere, calls that are none.

use std::fs::File;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::program::{bringup, error, out, run};

fn starter() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let output = run(folder.path(), &["init", "--starter", "kubeadm", "--name", "lab"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    folder
}

fn fed(folder: &Path, arguments: &[&str], input: &Path) -> Output {
    let input = File::open(input).expect("the input");
    bringup(folder).args(arguments).stdin(input).output().expect("the program starts")
}

#[test]
fn a_nest_is_refused_with_the_limit_whatever_it_is_taken_for() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let nest = format!("{}1{}", "{\"ignition\":".repeat(20_000), "}".repeat(20_000));
    std::fs::write(folder.path().join("deep.json"), nest).expect("written");
    for command in ["inspect", "build", "explain"] {
        let output = run(folder.path(), &[command, "deep.json"]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(error(&output).contains("nested deeper than 100 levels"), "{command}: {}", error(&output));
        assert!(error(&output).len() < 1000, "{command}: {} bytes", error(&output).len());
    }
}

#[test]
fn no_input_is_read_beyond_the_limit() {
    let folder = starter();
    let sparse = File::create(folder.path().join("bringup-node-x86_64")).expect("made");
    sparse.set_len(200 << 20).expect("a hole");
    let built = run(folder.path(), &["build", "cluster.yaml"]);
    assert_eq!(built.status.code(), Some(0), "{}", error(&built));
    let calls: [&[&str]; 7] = [
        &["build", "bringup-node-x86_64"],
        &["inspect", "/dev/zero"],
        &["render", "/dev/zero", "--as", "plan"],
        &["explain", "/dev/zero"],
        &["diff", "cluster.yaml", "/dev/zero"],
        &["inspect", "-"],
        &["publish", "bringup-out", "--agent", "bringup-node-x86_64"],
    ];
    for call in calls {
        let output = fed(folder.path(), call, Path::new("/dev/zero"));
        assert_eq!(output.status.code(), Some(2), "{call:?}");
        assert!(error(&output).contains("it is larger than 64 MiB"), "{call:?}: {}", error(&output));
    }
    let output = fed(folder.path(), &["build", "-"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("cannot read standard input: is a directory"), "{}", error(&output));
}

#[test]
fn a_pipe_is_read_once() {
    let folder = starter();
    let document = folder.path().join("cluster.yaml");
    for call in [["diff", "-", "cluster.yaml"], ["diff", "cluster.yaml", "-"]] {
        let output = fed(folder.path(), &call, &document);
        assert_eq!((output.status.code(), error(&output).as_str()), (Some(0), ""), "{call:?}");
    }
    for call in [["diff", "-", "-"], ["build", "-", "-"]] {
        let output = fed(folder.path(), &call, &document);
        assert_eq!(output.status.code(), Some(2), "{call:?}");
        assert!(error(&output).contains("`-` is given twice"), "{call:?}: {}", error(&output));
    }
}

#[test]
fn a_wrong_call_is_told_in_the_form_that_was_asked_for() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (call, said) in [
        ("build --frob", "unexpected argument '--frob'"),
        ("build", "required arguments were not provided: <FILE>..."),
        ("inspect x --color pink", "invalid value 'pink'"),
        ("bild x", "unrecognized subcommand 'bild'"),
    ] {
        let words: Vec<&str> = call.split(' ').collect();
        let output = run(folder.path(), &[words.as_slice(), &["--output", "json"]].concat());
        assert_eq!(output.status.code(), Some(2), "{call}");
        let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(value["findings"][0]["code"], "call/wrong", "{value}");
        assert_eq!(value["verdict"], "wrong");
        assert!(value["findings"][0]["message"].to_string().contains(said), "{value}");
        assert!(error(&output).contains("error: "), "people are told, too");
        let output = run(folder.path(), &[words.as_slice(), &["--output=sarif"]].concat());
        let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(value["runs"][0]["results"][0]["ruleId"], "call/wrong", "{value}");
        let output = run(folder.path(), &words);
        assert_eq!(out(&output), "", "{call}");
    }
}

#[test]
fn a_reader_that_went_away_does_not_change_the_exit_code() {
    let folder = starter();
    std::fs::write(folder.path().join("bad.yaml"), "apiVersion: bringup.dev/v1\nfrob: 1\n").expect("written");
    for (call, code) in [
        ("build cluster.yaml", 0),
        ("schema cluster", 0),
        ("--help", 0),
        ("build bad.yaml --output json", 2),
        ("build --frob --output json", 2),
        ("diff cluster.yaml bringup-out", 0),
        ("inspect bad.yaml --output json", 2),
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = bringup(folder.path())
            .args(call.split(' '))
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(code), "{call}: {}", error(&output));
        assert!(!error(&output).contains("pipe"), "{call}: {}", error(&output));
    }
}

#[test]
fn an_output_that_takes_nothing_is_a_failure() {
    let folder = starter();
    let full = File::options().write(true).open("/dev/full").expect("there");
    let output = bringup(folder.path())
        .args(["schema", "cluster"])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(error(&output).contains("cannot write to standard output: no space left"), "{}", error(&output));
}

#[test]
fn line_ends_and_byte_order_marks_change_nothing() {
    let folder = starter();
    let text = std::fs::read_to_string(folder.path().join("cluster.yaml")).expect("the document");
    run(folder.path(), &["build", "cluster.yaml", "-o", "plain"]);
    for (name, text) in [("crlf", text.replace('\n', "\r\n")), ("mark", format!("\u{feff}{text}"))] {
        std::fs::write(folder.path().join("other.yaml"), text).expect("written");
        let output = run(folder.path(), &["build", "other.yaml", "-o", name]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", error(&output));
        for file in ["plan.json", "cloud-config.yaml"] {
            let read =
                |directory: &str| std::fs::read(folder.path().join(directory).join("lab/workers").join(file));
            assert_eq!(read(name).expect("built"), read("plain").expect("built"), "{name}: {file}");
        }
    }
}

#[test]
fn a_document_that_is_inspected_is_called_one() {
    let folder = starter();
    let output = run(folder.path(), &["inspect", "cluster.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("`bringup build` compiles it"), "{}", error(&output));
    assert!(!error(&output).contains("cloud-init"), "{}", error(&output));
}

#[test]
fn a_value_of_a_megabyte_is_not_repeated() {
    let folder = starter();
    let text = std::fs::read_to_string(folder.path().join("cluster.yaml")).expect("the document");
    let long = "x".repeat(1 << 20);
    for (name, lines) in [
        ("label", format!("      labels: {{a: \"{long}\"}}\n")),
        ("flag", format!("      kubelet: {{flags: {{? \"{long}\" : \"1\"}}}}\n")),
        ("path", format!("      files: [{{path: \"/{long}\", mode: 99999, content: x}}]\n")),
    ] {
        std::fs::write(folder.path().join("long.yaml"), format!("{text}{lines}")).expect("written");
        for form in ["human", "json", "sarif"] {
            let output = run(folder.path(), &["build", "long.yaml", "--output", form]);
            assert_eq!(output.status.code(), Some(2), "{name}: {}", error(&output));
            let said = out(&output).len() + error(&output).len();
            assert!(said < 20_000, "{name} {form}: {said} bytes");
        }
    }
}

#[test]
fn what_an_earlier_publication_laid_out_stays_and_is_told() {
    let folder = starter();
    let publish = |arguments: &[&str]| {
        run(folder.path(), &["build", "cluster.yaml"]);
        let output = run(folder.path(), &[&["publish", "bringup-out"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        out(&output)
    };
    let first = publish(&[]);
    assert!(!first.contains("earlier"), "{first}");
    assert_eq!(publish(&[]), first, "the same again");
    let document = folder.path().join("cluster.yaml");
    let text = std::fs::read_to_string(&document).expect("the document");
    std::fs::write(&document, text.replace("1.33", "1.34")).expect("written");
    assert!(publish(&[]).contains("1 file of earlier publications kept"), "{}", publish(&[]));
    let value: Value = serde_json::from_str(&publish(&["--output", "json"])).expect("JSON");
    let kept = value["kept"][0].as_str().expect("a path");
    assert!(first.contains(kept), "{first} has {kept}");
    assert!(folder.path().join("bringup-out/publish").join(kept).exists());
}
