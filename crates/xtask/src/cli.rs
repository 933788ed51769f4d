//! The reference of the command line, from the same declarations that parse it.

use std::fmt::Write as _;

use clap::{Arg, Command};

/// One section for each command.
pub(crate) fn page(mut command: Command) -> String {
    command.build();
    let mut page = String::from(
        "# The command line\n\n<!-- Written by `cargo xtask generate` from the declarations in the source. -->\n\n",
    );
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        let _ = writeln!(page, "{about}\n");
    }
    for subcommand in command.get_subcommands() {
        if !subcommand.is_hide_set() && subcommand.get_name() != "help" {
            section(&mut page, subcommand);
        }
    }
    page.push_str(
        "## Exit codes\n\n| code | meaning |\n| --- | --- |\n| 0 | good, warnings included |\n\
         | 1 | the answer is no: over budget, differs, a node group that is refused (the others are built), warnings with `--strict` |\n| 2 | the call or the input is wrong |\n",
    );
    page
}

fn section(page: &mut String, command: &Command) {
    let _ = writeln!(page, "## bringup {}\n", command.get_name());
    if let Some(about) = command.get_about() {
        let _ = writeln!(page, "{about}.\n");
    }
    let usage = command.clone().render_usage().to_string();
    let _ = writeln!(page, "```text\n{}\n```\n", usage.trim_start_matches("Usage: "));
    let rows: Vec<(String, String)> = command
        .get_arguments()
        .filter(|argument| {
            !argument.is_hide_set() && !matches!(argument.get_id().as_str(), "help" | "version")
        })
        .map(|argument| (name(argument), about(argument)))
        .collect();
    if rows.is_empty() {
        return;
    }
    page.push_str("| | |\n| --- | --- |\n");
    for (name, about) in rows {
        let _ = writeln!(page, "| `{name}` | {about} |");
    }
    page.push('\n');
}

fn name(argument: &Arg) -> String {
    let value = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let takes_value = argument.get_action().takes_values();
    let value = value.filter(|_| takes_value).unwrap_or_default();
    let mut names = Vec::new();
    names.extend(argument.get_short().map(|short| format!("-{short}")));
    names.extend(argument.get_long().map(|long| format!("--{long}")));
    // A bar would end the cell of the table.
    let value = value.replace('|', "\\|");
    if names.is_empty() { value } else { format!("{} {value}", names.join(", ")).trim_end().to_owned() }
}

fn about(argument: &Arg) -> String {
    let mut text = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let words: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if argument.get_action().takes_values() && !words.is_empty() {
        let _ = write!(text, ": {}", words.join(", "));
    }
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(text, " (default {})", defaults.join(", "));
    }
    text.replace('|', "\\|")
}
