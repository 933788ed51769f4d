//! The page that explains every finding.

use std::fmt::Write as _;

/// Codes that are declared twice: one of the two paragraphs would never be read.
pub(crate) fn ambiguous(codes: &[bringup::Code]) -> Vec<String> {
    let twice = codes
        .windows(2)
        .filter(|pair| pair.first().map(|code| code.name) == pair.last().map(|code| code.name));
    twice.filter_map(|pair| pair.first()).map(|code| format!("`{}` is declared twice", code.name)).collect()
}

/// One section for each area, one paragraph for each code.
pub(crate) fn page(codes: &[bringup::Code]) -> String {
    let mut page = String::from(
        "# Findings\n\nEvery finding has a stable code, `area/kebab-name`. `bringup explain CODE` prints its paragraph.\n\
         <!-- Written by `cargo xtask generate` from the declarations in the source. -->\n",
    );
    let mut area = "";
    for code in codes {
        let (this, _) = code.name.split_once('/').unwrap_or((code.name, ""));
        if this != area {
            let _ = write!(page, "\n## {this}\n");
            area = this;
        }
        let about: Vec<&str> = code.about.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let _ = write!(page, "\n### `{}`\n\n{}\n", code.name, about.join(" "));
    }
    page
}
