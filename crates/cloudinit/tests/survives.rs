//! Whatever comes in, something sensible comes out, and soon.

use std::io::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bringup_cloudinit::mime::{OutPart, write_multipart};
use bringup_cloudinit::{Kind, Layer, decode, effects, lint};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

fn codes(bytes: &[u8]) -> Vec<&'static str> {
    lint(&decode("input", bytes)).iter().map(|finding| finding.code.name).collect()
}

#[test]
fn bombs_are_refused_and_say_so() {
    assert_eq!(codes(&gzip(&vec![b'a'; 17 << 20])), ["part/too-large"]);
    assert_eq!(codes(STANDARD.encode(gzip(&vec![b'a'; 17 << 20])).as_bytes()), ["part/too-large"]);

    let packed = STANDARD.encode(gzip(&vec![b'a'; 17 << 20]));
    let part = format!(
        "MIME-Version: 1.0\nContent-Type: application/gzip\nContent-Transfer-Encoding: base64\n\n{packed}\n"
    );
    assert_eq!(codes(part.as_bytes()), ["part/too-large"]);

    let nested = format!("MIME-Version: 1.0\n{}", "Content-Type: message/rfc822\n\n".repeat(10_000));
    assert_eq!(codes(nested.as_bytes()), ["part/too-deep"]);
    let many = format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n{}",
        "--B\n\n#!/x\n".repeat(20_000)
    );
    assert_eq!(codes(many.as_bytes()), ["part/too-deep"]);

    let mut aliases = String::from("#cloud-config\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let ten = vec![format!("*a{}", level - 1); 10].join(", ");
        aliases = format!(
            "{aliases}a{level}: &a{level} [{ten}]
"
        );
    }
    assert_eq!(codes(aliases.as_bytes()), ["part/yaml"]);
    assert_eq!(codes(format!("#cloud-config\na: {}", "[".repeat(50_000)).as_bytes()), ["part/yaml"]);

    // An archive inside an archive is not unpacked, however deep it goes on.
    let mut archive = String::from("#!/bin/sh");
    for _ in 0..12 {
        archive = format!("#cloud-config-archive\n- {archive:?}\n");
    }
    assert_eq!(codes(archive.as_bytes()), ["part/unhandled-type"]);

    let loops = "## template: jinja\n#cloud-config\n{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}\n";
    assert_eq!(codes(loops.as_bytes()), ["part/jinja"]);
}

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        "(#!/bin/sh|#cloud-config)?[ -~\n\r\té…]{0,200}".prop_map(String::into_bytes),
        Just(b"--=_\n--B--\n".to_vec()),
    ]
}

/// Text of the letters that mean something somewhere.
fn nasty() -> impl Strategy<Value = String> {
    let head = prop_oneof![
        Just("#cloud-config\n"),
        Just("#cloud-config-archive\n"),
        Just("## template: jinja\n#cloud-config\n"),
        Just("#cloud-config-jsonp\n"),
        Just("#cloud-boothook\n"),
        Just(
            "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: text/cloud-config\n\n"
        ),
        Just(""),
    ];
    let line = prop_oneof![
        Just("write_files:\n- path: /a\n  content: |\n".to_owned()),
        Just("runcmd:\n".to_owned()),
        Just("bootcmd: [".to_owned()),
        Just("merge_how: ".to_owned()),
        Just("--B\n".to_owned()),
        "[-:{}\\[\\],&*!|>'\"%@ \t\r\na-c0-9#?~<=é+()]{0,30}",
        "[ \t]{0,6}- [ -~]{0,20}\n",
    ];
    (head, prop::collection::vec(line, 0..12)).prop_map(|(head, lines)| format!("{head}{}", lines.concat()))
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let decoded = decode("input", &bytes);
        let _ = (effects(&decoded), lint(&decoded));
    }

    #[test]
    fn nasty_text_never_panics(text in nasty()) {
        let decoded = decode("input", text.as_bytes());
        let _ = (effects(&decoded), lint(&decoded));
    }

    #[test]
    fn what_is_written_as_mime_is_read_back(bodies in prop::collection::vec(bodies(), 0..5)) {
        let names: Vec<String> = (0..bodies.len()).map(|number| format!("{number:03}-part")).collect();
        let parts: Vec<OutPart<'_>> = bodies
            .iter()
            .zip(&names)
            .map(|(body, name)| OutPart { name, content_type: "text/cloud-boothook", body })
            .collect();
        let message = write_multipart(&parts);
        prop_assert_eq!(&message, &write_multipart(&parts));
        let decoded = decode("input", &message);
        let layers: &[Layer] = if parts.is_empty() { &[Layer::Mime] } else { &[Layer::Mime, Layer::Shellscript] };
        prop_assert_eq!(&decoded.layers, layers);
        prop_assert_eq!(decoded.parts.len(), parts.len());
        for (part, (body, name)) in decoded.parts.iter().zip(bodies.iter().zip(&names)) {
            prop_assert_eq!(&part.name, name);
            prop_assert_eq!(part.kind, Kind::Boothook);
            prop_assert_eq!(part.arrives.as_deref(), std::str::from_utf8(body).ok());
        }
    }
}
