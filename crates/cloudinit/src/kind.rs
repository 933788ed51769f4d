//! What cloud-init takes a part for: by its declared type, and by its first line where the type leaves it open.

/// What becomes of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Merged into the configuration.
    CloudConfig,
    /// A JSON patch to the configuration merged so far.
    JsonPatch,
    /// A script that runs once per instance, at the end of the final stage.
    Script,
    /// A script that runs at every boot, in the final stage.
    ScriptPerBoot,
    /// A script that runs once per instance, in the final stage before the plain ones.
    ScriptPerInstance,
    /// A script that runs once in the life of the disk.
    ScriptPerOnce,
    /// Run while the parts are being handled, at every boot.
    Boothook,
    /// Python that handles parts of other types.
    PartHandler,
    /// URLs whose content takes the part's place, fetched at boot.
    Include,
    /// The same, fetched once.
    IncludeOnce,
    /// A list of parts.
    Archive,
    /// A template of a cloud-config or script, rendered with what the node knows.
    Jinja,
    /// nodeadm's configuration: cloud-init leaves it alone, the EKS image reads it.
    NodeConfig,
    /// Nothing that cloud-init handles.
    Unhandled,
}

/// Longest first, as cloud-init tries them.
const HEADS: [(&str, &str); 9] = [
    ("#cloud-config-archive", "text/cloud-config-archive"),
    ("#cloud-config-jsonp", "text/cloud-config-jsonp"),
    ("## template: jinja", "text/jinja2"),
    ("#cloud-boothook", "text/cloud-boothook"),
    ("#cloud-config", "text/cloud-config"),
    ("#include-once", "text/x-include-once-url"),
    ("#part-handler", "text/part-handler"),
    ("#include", "text/x-include-url"),
    ("#!", "text/x-shellscript"),
];

/// The types whose parts are read as gzip first.
pub(crate) const GZIP_TYPES: [&str; 8] = [
    "application/gzip",
    "application/gzip-compressed",
    "application/gzipped",
    "application/x-compress",
    "application/x-compressed",
    "application/x-gunzip",
    "application/x-gzip",
    "application/x-gzip-compressed",
];

/// The type of a body that is no MIME message.
pub(crate) const NOT_MULTIPART: &str = "text/x-not-multipart";

impl Kind {
    /// By the type that cloud-init has settled on.
    pub fn of(content_type: &str) -> Self {
        match content_type {
            "text/cloud-config" => Self::CloudConfig,
            "text/cloud-config-jsonp" => Self::JsonPatch,
            "text/x-shellscript" => Self::Script,
            "text/x-shellscript-per-boot" => Self::ScriptPerBoot,
            "text/x-shellscript-per-instance" => Self::ScriptPerInstance,
            "text/x-shellscript-per-once" => Self::ScriptPerOnce,
            "text/cloud-boothook" => Self::Boothook,
            "text/part-handler" => Self::PartHandler,
            "text/x-include-url" => Self::Include,
            "text/x-include-once-url" => Self::IncludeOnce,
            "text/cloud-config-archive" => Self::Archive,
            "text/jinja2" => Self::Jinja,
            "application/node.eks.aws" => Self::NodeConfig,
            _ => Self::Unhandled,
        }
    }

    /// Whether it is written to a file and run.
    pub fn is_script(self) -> bool {
        matches!(
            self,
            Self::Script
                | Self::ScriptPerBoot
                | Self::ScriptPerInstance
                | Self::ScriptPerOnce
                | Self::Boothook
        )
    }
}

/// The type that the first line tells, in any case and after any white space.
pub fn sniffed(text: &str) -> Option<&'static str> {
    let start: String = text.trim_start().chars().take(24).flat_map(char::to_lowercase).collect();
    HEADS.iter().find(|(head, _)| start.starts_with(head)).map(|(_, content_type)| *content_type)
}

/// The type that cloud-init settles on: `text/plain`, `text/x-shellscript` and a bare body are looked at, others believed.
pub fn settled(declared: &str, text: &str) -> String {
    let open = matches!(declared, "text/plain" | "text/x-shellscript") || declared == NOT_MULTIPART;
    let found = if open { sniffed(text) } else { None };
    found.unwrap_or(declared).to_owned()
}

/// The file name that cloud-init writes a script to.
pub fn cleaned_name(name: &str) -> String {
    name.chars()
        .map(|letter| if letter == '/' { '_' } else { letter })
        .filter(|letter| letter.is_ascii_alphanumeric() || "_-.()".contains(*letter))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{cleaned_name, settled, sniffed};

    /// Printed by `type_from_starts_with` and `clean_filename` of cloud-init 22.4.2.
    #[test]
    fn first_lines_and_names_are_taken_as_cloud_init_takes_them() {
        let cases = [
            ("#cloud-config\n", Some("text/cloud-config")),
            ("  \n#Cloud-Config\n", Some("text/cloud-config")),
            ("#cloud-configuration", Some("text/cloud-config")),
            ("#cloud-config-archive\n", Some("text/cloud-config-archive")),
            ("#include-once\n", Some("text/x-include-once-url")),
            ("#include http://x", Some("text/x-include-url")),
            ("#!/bin/sh", Some("text/x-shellscript")),
            ("## template: jinja\n", Some("text/jinja2")),
            ("##template: jinja\n", None),
            ("#upstart-job\n", None),
            ("\u{feff}#cloud-config\n", None),
            ("# cloud-config\n", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(sniffed(text), expected, "{text:?}");
        }
        let names = [
            ("dir/with space.sh", "dir_withspace.sh"),
            ("grüße.sh", "gre.sh"),
            ("a(1)_-.b", "a(1)_-.b"),
            ("/", "_"),
        ];
        for (name, expected) in names {
            assert_eq!(cleaned_name(name), expected, "{name}");
        }
    }

    #[test]
    fn only_open_types_are_looked_at() {
        assert_eq!(settled("text/x-shellscript", "#cloud-config\n"), "text/cloud-config");
        assert_eq!(settled("text/plain", "#!/bin/sh\n"), "text/x-shellscript");
        assert_eq!(settled("text/cloud-config", "#!/bin/sh\n"), "text/cloud-config");
        assert_eq!(settled("text/x-shellscript", "echo\n"), "text/x-shellscript");
    }
}
