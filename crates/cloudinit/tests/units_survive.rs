//! Whatever stands in a unit, the reader of units gets to its end, and what it tells points into the text.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bringup_cloudinit::{Origin, decode, effects, lint, lint_unit, unit_faults};
use bringup_diag::{Findings, Place, Position};
use proptest::prelude::*;
use proptest::sample::Index;

/// Units of the kinds that nodes have, with some of the faults that people make.
const UNITS: [(&str, &str); 5] = [
    (
        "kubelet.service",
        "[Unit]\nDescription=Node agent of Kubernetes\nRequires=containerd.service\nWants=network-online.target\nAfter=network-online.target\n\n[Service]\nEnvironmentFile=-/run/node/kubelet.env\nExecStartPre=/sbin/iptables -P FORWARD ACCEPT -w 5\nExecStart=/usr/bin/kubelet \\\n    --config=/etc/kubernetes/kubelet.json \\\n    # the labels of the group\n    $NODE_LABELS\nRestart=on-failure\nRestartSec=5s\nKillMode=process\n\n[Install]\nWantedBy=multi-user.target\n",
    ),
    (
        "setup.service",
        "; made by hand\n[Unit]\nBefore=kubelet.service\nConditionPathExists=!/var/lib/setup.done\n[Service]\nType=oneshot\nRemainAfterExit=yes\nTimeoutStartSec=infinity\nExecStart=/bin/echo ready > /var/lib/setup.done && systemd daemon-reload\n[Install]\nRequiredBy=kubelet.service\n",
    ),
    (
        "refresh.timer",
        "[Unit]\nDescription=Refreshes a token\n[Timer]\nOnBootSec=5min\nOnUnitActiveSec=1h\nRandomisedDelaySec=30\n[Install]\nWantedBy=timers.target\n",
    ),
    (
        "config.path",
        "[Path]\nPathChanged=/etc/node/config\nUnit=setup.service\n[X-Bringup]\nReads=/etc/node/config\n",
    ),
    (
        "var-lib-images.mount",
        "[Unit]\nAfter=blockdev@dev-sdb.target\n[Mount]\nWhat=/dev/sdb\nWhere=/var/lib/images\nType=ext4\n[Install]\nWantedBy=local-fs.target\n",
    ),
];

/// Stretches that mean something in a unit, or in what carries it.
const STRETCHES: [&str; 16] = [
    "[",
    "]",
    "=",
    "\\\n",
    "\\ \n",
    "# ",
    ";",
    "\n",
    "\r\n",
    "\t",
    " #",
    "é",
    "\u{a0}",
    "[Service]\n",
    "%i",
    "Requires=a b",
];

/// A stretch put in the place of some letters.
type Edit = (Index, usize, Index);

/// A unit after some edits, each at any letter.
fn mutated() -> impl Strategy<Value = (usize, String)> {
    let edit = (any::<Index>(), 0..12_usize, any::<Index>());
    (0..UNITS.len(), prop::collection::vec(edit, 0..6)).prop_map(|(unit, edits)| {
        let start = UNITS.get(unit).map_or("", |(_, text)| *text).to_owned();
        (unit, edits.iter().fold(start, |text, edit| edited(&text, edit)))
    })
}

fn edited(text: &str, (at, removed, stretch): &Edit) -> String {
    let letters: Vec<char> = text.chars().collect();
    let at = at.index(letters.len() + 1);
    let end = letters.len().min(at + removed);
    let (before, after) = (letters[..at].iter(), letters[end..].iter());
    before.copied().chain(STRETCHES[stretch.index(STRETCHES.len())].chars()).chain(after.copied()).collect()
}

/// Text of nothing in particular, with many letters that matter.
fn arbitrary() -> impl Strategy<Value = String> {
    prop_oneof!["([\\[\\]=#;\\\\\r\n\t a-cé]|\\PC){0,200}", any::<String>()]
}

fn any_unit() -> impl Strategy<Value = (usize, String)> {
    prop_oneof![3 => mutated(), 1 => (0..UNITS.len(), arbitrary())]
}

/// The places behind the last letters of the lines.
fn ends<'text>(lines: impl Iterator<Item = &'text str>) -> Vec<usize> {
    lines.map(|line| line.chars().count() + 1).collect()
}

fn is_inside(position: Position, ends: &[usize]) -> bool {
    let line = usize::try_from(position.line).unwrap_or(0);
    let column = usize::try_from(position.column).unwrap_or(0);
    line >= 1 && column >= 1 && ends.get(line - 1).is_some_and(|end| column <= *end)
}

fn all_inside(findings: &Findings, text: &str) -> Result<(), TestCaseError> {
    // To YAML a lone carriage return ends a line, to systemd it does not.
    let of_yaml = text.replace("\r\n", " \n").replace('\r', "\n");
    let countings = [ends(text.split('\n')), ends(of_yaml.split('\n'))];
    for finding in findings {
        let related = finding.related.iter().map(|(place, _)| place);
        for Place { file, span } in finding.place.iter().chain(related) {
            prop_assert_eq!(file.split('#').next(), Some("input"));
            let inside = |ends: &Vec<usize>| is_inside(span.start, ends) && is_inside(span.end, ends);
            let good = span.start <= span.end && countings.iter().any(inside);
            prop_assert!(good, "{} at {:?} of {:?}", finding.code.name, span, text);
        }
    }
    Ok(())
}

/// A cloud-config that writes the unit: as a block, in quotes, in base64.
fn written(name: &str, text: &str, form: usize, drop_in: bool) -> String {
    let path = if drop_in { format!("{name}.d/10-more.conf") } else { name.to_owned() };
    let content = match form {
        0 => format!(
            "content: |\n{}",
            text.split('\n').flat_map(|line| ["    ", line, "\n"]).collect::<String>()
        ),
        1 => format!("content: {}\n", serde_json::Value::from(text)),
        _ => format!("encoding: b64\n  content: {}\n", STANDARD.encode(text)),
    };
    format!(
        "#cloud-config\nwrite_files:\n- path: /etc/systemd/system/{path}\n  {content}runcmd:\n- systemctl enable {name}\n"
    )
}

proptest! {
    #[test]
    fn the_lines_of_faults_are_lines_of_the_unit((_, text) in any_unit()) {
        let lines = text.split('\n').count();
        for (line, fault) in unit_faults(&text) {
            prop_assert!((1..=lines).contains(&usize::try_from(line).unwrap_or(0)), "{fault:?} in line {line} of {text:?}");
        }
    }

    #[test]
    fn findings_about_a_unit_point_into_it((unit, text) in any_unit(), drop_in: bool) {
        let name = UNITS[unit].0;
        all_inside(&lint_unit(name, drop_in, &text, &Origin::whole("input")), &text)?;
    }

    #[test]
    fn findings_about_a_unit_in_a_cloud_config_point_into_that((unit, text) in any_unit(), form in 0..3_usize, drop_in: bool) {
        let config = written(UNITS[unit].0, &text, form, drop_in);
        let decoded = decode("input", config.as_bytes());
        let _ = effects(&decoded);
        all_inside(&lint(&decoded), &config)?;
    }
}

/// The properties above would hold of a reader that says nothing: of these units it says something each time.
#[test]
fn a_unit_in_a_cloud_config_is_looked_at_in_every_form() {
    for form in 0..3 {
        for drop_in in [false, true] {
            let config = written("setup.service", "[Service]\nExecStart\n", form, drop_in);
            let found = lint(&decode("input", config.as_bytes()));
            let codes: Vec<&str> = found.iter().map(|finding| finding.code.name).collect();
            assert!(codes.contains(&"unit/syntax"), "{config}: {codes:?}");
        }
    }
}
