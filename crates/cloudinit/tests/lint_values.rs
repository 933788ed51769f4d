//! Values that YAML and Python take otherwise than they look, and what is said of them.

use bringup_cloudinit::{decode, effects, lint};

fn told(text: &str) -> Vec<(String, String, String)> {
    let findings = lint(&decode("input", format!("#cloud-config\n{text}").as_bytes()));
    let told = findings.iter().map(|finding| {
        let head = format!("{} {}", finding.severity.word(), finding.code.name);
        (head, finding.message.clone(), finding.hint.clone().unwrap_or_default())
    });
    told.collect()
}

/// PyYAML 6.0 has types for a plain `=` and a plain `<<`, and no values: "could not determine a constructor".
#[test]
fn a_plain_sign_that_pyyaml_has_no_value_for_loses_the_part() {
    for sign in ["=", "<<"] {
        let text = format!("#cloud-config\nruncmd: [[test, a, {sign}, b], echo hi]\n");
        assert!(effects(&decode("input", text.as_bytes())).steps.is_empty(), "{sign}");
        let (head, message, hint) = told(&format!("runcmd: [[test, a, {sign}, b]]\n")).remove(0);
        assert_eq!(head, "error part/yaml");
        assert_eq!(message, format!("PyYAML has no value for a plain `{sign}`"));
        assert_eq!(hint, "cloud-init drops the whole part; put the value in quotes");
    }
    for word in ["'='", "\"<<\"", "==", "!!str =", "a=b"] {
        assert_eq!(told(&format!("runcmd: [[test, a, {word}, b]]\n")), [], "{word}");
    }
}

/// The modes are those of `cc_write_files.decode_perms` of cloud-init 22.4.2.
#[test]
fn permissions_are_told_by_the_mode_that_the_file_gets() {
    let cases = [
        ("755", "error", "`755` is taken as a decimal number, which is mode 1363", "'0755'"),
        ("644", "error", "`644` is taken as a decimal number, which is mode 1204", "'0644'"),
        ("440", "error", "`440` is taken as a decimal number, which is mode 0670", "'0440'"),
        // JSON has decimal numbers only: these are the modes that somebody meant.
        ("493", "warning", "`493` is taken as a decimal number, which is mode 0755", "'0755'"),
        ("420", "warning", "`420` is taken as a decimal number, which is mode 0644", "'0644'"),
        ("384", "warning", "`384` is taken as a decimal number, which is mode 0600", "'0600'"),
        ("511", "warning", "`511` is taken as a decimal number, which is mode 0777", "'0777'"),
        ("true", "error", "`true` is taken as the number 1, which is mode 0001", "'0644'"),
        ("644.0", "error", "`644.0` is taken as the number 644, which is mode 1204", "'0644'"),
        ("u=rw", "error", "`u=rw` is no octal number: the file gets mode 0644", "'0644'"),
    ];
    for (written, severity, message, hint) in cases {
        let found = told(&format!("write_files: [{{path: /etc/x, permissions: {written}}}]\n"));
        let expected = (
            format!("{severity} part/permissions"),
            message.to_owned(),
            format!("write `permissions: {hint}`"),
        );
        assert_eq!(found, [expected], "{written}");
    }
    let found = told("write_files: [{path: /etc/x, permissions: 789}]\n");
    assert_eq!(found[0].2, "write the mode in octal and in quotes, such as `permissions: '0644'`");
}
