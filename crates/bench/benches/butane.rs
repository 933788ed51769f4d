//! Our renderer beside Butane, process against process, on an equal Ignition document.
//!
//! The document is ours, rendered to Ignition; the same content is then written as a Butane config, and Butane's output is
//! compared with ours before anything is timed. Runs alternate, so that both meet the same machine.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark starts processes, reads the clock and prints"
)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use base64::Engine as _;
use serde_json::{Value, json};

const RUNS: usize = 101;

fn main() -> anyhow::Result<()> {
    if std::env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let ours = build_ours(&root)?;
    let butane = build_butane(&root)?;
    let scratch = tempfile::tempdir()?;

    println!("{:<28} {:>9} {:>12} {:>12} {:>8}", "document", "bytes", "bringup", "butane", "ratio");
    for (name, text) in [
        ("examples/flatcar", std::fs::read_to_string(root.join("examples/flatcar/cluster.yaml"))?),
        ("one group, 100 files", many_files(100)),
    ] {
        let document = scratch.path().join("cluster.yaml");
        std::fs::write(&document, &text)?;
        let files = root.join("examples/flatcar");
        let render = || {
            let mut command = Command::new(&ours);
            command.args(["render", "--as", "ignition", "--files-dir"]).arg(&files).arg(&document);
            command
        };
        let rendered = run(&mut render(), b"")?;
        let config = butane_config(&serde_json::from_slice(&rendered)?)?;
        let translated = run(&mut Command::new(&butane), config.as_bytes())?;
        let (expected, found) =
            (meaning(&serde_json::from_slice(&rendered)?)?, meaning(&serde_json::from_slice(&translated)?)?);
        ensure!(expected == found, "Butane's output differs from ours:\n{expected:#}\n{found:#}");

        let mut times = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            times.0.push(timed(&mut render(), b"")?);
            times.1.push(timed(&mut Command::new(&butane), config.as_bytes())?);
        }
        let (ours, theirs) = (median(times.0), median(times.1));
        let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
        let milliseconds = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
        println!(
            "{name:<28} {:>9} {:>12} {:>12} {ratio:>7.1}x",
            rendered.len(),
            milliseconds(ours),
            milliseconds(theirs)
        );
    }
    Ok(())
}

fn build_ours(root: &Path) -> anyhow::Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--release", "--quiet", "-p", "bringup"])
        .current_dir(root)
        .status()?;
    ensure!(status.success(), "cargo build failed");
    let target = std::env::current_exe()?.ancestors().nth(2).context("no target directory")?.join("bringup");
    Ok(target)
}

fn build_butane(root: &Path) -> anyhow::Result<PathBuf> {
    let output = root.join("target/butane");
    let status = Command::new("go")
        .args(["build", "-trimpath", "-ldflags", "-s -w", "-o"])
        .arg(&output)
        .arg("github.com/coreos/butane/internal")
        .current_dir(root.join("tools/butane-peer"))
        .status()
        .context("this benchmark needs a Go toolchain")?;
    ensure!(status.success(), "go build failed");
    Ok(output)
}

fn run(command: &mut Command, input: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    child.stdin.take().context("no standard input")?.write_all(input)?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

fn timed(command: &mut Command, input: &[u8]) -> anyhow::Result<Duration> {
    let start = Instant::now();
    run(command, input)?;
    Ok(start.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// A document whose Ignition config has many files.
fn many_files(count: usize) -> String {
    let mut text = String::from(
        "apiVersion: bringup.dev/v1alpha1\nkind: Cluster\nmetadata: {name: files}\nspec:\n  kubernetes: {version: \"1.33\"}\n  api: {endpoint: \"https://192.0.2.1:6443\"}\n  network: {serviceRanges: [10.96.0.0/12]}\n  join: {method: kubeconfig, kubeconfig: {file: /etc/kubernetes/kubeconfig}}\n  nodeGroups:\n    - name: files\n      os: flatcar\n      carriers: [ignition]\n      files:\n",
    );
    for number in 0..count {
        let _ = write!(
            text,
            "        - path: /etc/example/{number}.conf\n          content: |\n            # file {number}\n            listen = 10.0.{}.{}\n            description = one of many small files on a node\n",
            number / 250,
            number % 250
        );
    }
    text
}

/// The same content as a Butane config. JSON is YAML, so JSON it is.
fn butane_config(ignition: &Value) -> anyhow::Result<String> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let mut files = Vec::new();
    for file in list(&ignition["storage"], "files") {
        let mut contents = json!({});
        let source = file["contents"]["source"].as_str().unwrap_or_default();
        if source.starts_with("data:") {
            contents["inline"] = String::from_utf8(data_of(&file["contents"])?)?.into();
        } else {
            contents["source"] = source.into();
        }
        if let Some(hash) = file["contents"]["verification"]["hash"].as_str() {
            contents["verification"] = json!({"hash": hash});
        }
        files.push(json!({"path": file["path"], "mode": file["mode"], "overwrite": file["overwrite"], "contents": contents, "user": file["user"], "group": file["group"]}));
    }
    let units: Vec<Value> = list(&ignition["systemd"], "units")
        .into_iter()
        .map(|mut unit| {
            if let Some(unit) = unit.as_object_mut() {
                unit.retain(|_, value| !value.is_null());
            }
            unit
        })
        .collect();
    let mut config = json!({
        "variant": "fcos", "version": "1.4.0",
        "storage": {"files": files, "directories": list(&ignition["storage"], "directories"), "links": list(&ignition["storage"], "links")},
        "systemd": {"units": units},
    });
    if let Some(arguments) = ignition["kernelArguments"]["shouldExist"].as_array() {
        config["kernel_arguments"] = json!({"should_exist": arguments});
    }
    Ok(config.to_string())
}

/// What a config means, whichever encoding its data URLs have.
fn meaning(ignition: &Value) -> anyhow::Result<Value> {
    let mut value = ignition.clone();
    if let Some(files) = value["storage"]["files"].as_array_mut() {
        for file in files {
            let contents = &file["contents"];
            if contents["source"].as_str().is_some_and(|source| source.starts_with("data:")) {
                let data = data_of(contents)?;
                file["contents"] =
                    json!({"data": String::from_utf8_lossy(&data), "hash": contents["verification"]["hash"]});
            } else if let Some(contents) = file["contents"].as_object_mut() {
                contents.remove("compression");
            }
        }
    }
    Ok(without_empty(value))
}

fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (key, without_empty(value)))
            .filter(|(_, value)| !is_empty(value))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_empty).collect(),
        leaf => leaf,
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null()
        || value.as_array().is_some_and(Vec::is_empty)
        || value.as_object().is_some_and(serde_json::Map::is_empty)
}

fn data_of(contents: &Value) -> anyhow::Result<Vec<u8>> {
    let source = contents["source"].as_str().unwrap_or_default();
    let (head, body) = source.split_once(',').context("no data URL")?;
    let bytes = if head.ends_with(";base64") {
        base64::prelude::BASE64_STANDARD.decode(body)?
    } else {
        percent_decoded(body)
    };
    if contents["compression"].as_str() == Some("gzip") {
        let mut plain = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes.as_slice()), &mut plain)?;
        return Ok(plain);
    }
    Ok(bytes)
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok()))
            .flatten();
        decoded.push(escaped.unwrap_or(bytes[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    decoded
}
