//! Plans go into carriers and come out of them again.

mod forms;
mod nodeadm;
mod parts;
#[path = "../sample/mod.rs"]
mod sample;
mod sizes;
mod steps;
mod units;

const PARTS: &str = "
      parts:
        - name: zz
          type: text/x-shellscript
          content: |
            #!/bin/sh
            echo zz
        - name: aa
          type: text/x-shellscript
          content: |
            #!/bin/sh
            echo caf\u{e9}
";

const CONFIGS: &str = "
      parts:
        - name: one
          type: text/cloud-config
          content: |
            #cloud-config
            bootcmd: [echo theirs]
            runcmd: [[ls, -l]]
        - name: two
          type: text/cloud-config
          content: |
            #cloud-config
            runcmd:
              - echo two
            write_files:
              - {path: /etc/x, permissions: 0600, content: yes}
";

/// With a signal to the stack, the template itself puts the stack's name in, so the whole cannot be compressed.
const SIGNALS: &str = "
      instanceTypes: [m5.large]
      scaling: {max: 3}
      signals:
        - kind: cloudformation
";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Text that compresses to about a fifth.
fn lines(count: usize) -> String {
    (0..count)
        .fold(String::new(), |text, number| text + "line " + &(number * 7919 % 10_007).to_string() + "\n")
}
