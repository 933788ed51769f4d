//! What the part of a script before its call of the image's bootstrap hands to the part behind it.
//!
//! Under eksctl both are one shell: variables, functions and the working directory are there behind the call. Here they
//! are two steps with the node's set-up, and perhaps a reboot, between them. So the first writes down what the second uses.

use std::collections::BTreeSet;

/// Where it is written down; a reboot may come between the two.
const STATE: &str = "/var/lib/bringup/before-bootstrap.state";

/// Commands whose effect on the shell lasts, whatever names the other part uses.
const LASTING: [&str; 11] =
    ["export", "declare", "typeset", "cd", "pushd", "umask", "shopt", "set", "eval", "source", "."];

/// What has to be handed over, if anything.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Handover {
    /// Variables that the part behind the call uses and the part before it mentions.
    pub(super) names: Vec<String>,
}

impl Handover {
    /// What the lines before the call leave to those behind it. `known` are variables that both have in any case.
    pub(super) fn between(before: &str, after: &str, known: &dyn Fn(&str) -> bool) -> Option<Self> {
        let reads_others = before.lines().any(|line| matches!(first_word(line), "eval" | "source" | "."));
        let functions = before.lines().any(|line| is_function(line.trim()));
        // What a function uses is used wherever it is called.
        let inside = before.lines().filter(|_| functions).flat_map(assigned).map(str::to_owned);
        let names: BTreeSet<String> = used(after)
            .into_iter()
            .chain(inside)
            .filter(|name| !known(name) && (reads_others || mentions(before, name)))
            .collect();
        let names: Vec<String> = names.into_iter().collect();
        let lasts = functions || before.lines().any(|line| LASTING.contains(&first_word(line)));
        (lasts || !names.is_empty()).then_some(Self { names })
    }

    /// Lines of bash that write it down. What a script has set may be secret: nobody else may read it.
    pub(super) fn writing(&self) -> Vec<String> {
        let variables = match self.names.as_slice() {
            [] => String::new(),
            names => format!(" declare -p {};", names.join(" ")),
        };
        vec![
            "# The part behind the call goes on with what has been set here.".to_owned(),
            format!("mkdir -p {}", STATE.rsplit_once('/').map_or("/", |(folder, _)| folder)),
            format!(": > {STATE}"),
            format!("chmod 600 {STATE}"),
            format!(
                "{{ export -p; declare -f;{variables} umask -p; printf 'cd %q\\n' \"$PWD\"; }} >> {STATE} 2> /dev/null || true"
            ),
        ]
    }

    /// A line of bash that takes it up. What may not be changed any more is in it twice, and the second time is no failure.
    pub(super) fn reading() -> String {
        format!("[ ! -e {STATE} ] || . {STATE} 2> /dev/null || :")
    }
}

fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

fn is_function(line: &str) -> bool {
    let name = line.split("()").next().unwrap_or_default().trim();
    first_word(line) == "function"
        || (line.contains("()")
            && !name.is_empty()
            && !name.contains(|letter: char| "$'\"=(;|&".contains(letter)))
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// The variables that lines use: `$NAME`, `${NAME…}`, `${#NAME}` and `${!NAME}`.
pub(crate) fn used(lines: &str) -> BTreeSet<String> {
    let behind = lines.split('$').skip(1);
    let names = behind.filter_map(|text| {
        let text = text.strip_prefix('{').map_or(text, |inner| inner.trim_start_matches(['#', '!']));
        let name: String = text.chars().take_while(|letter| is_name(*letter)).collect();
        let starts = name.chars().next().is_some_and(|letter| !letter.is_ascii_digit());
        starts.then_some(name)
    });
    names.collect()
}

/// Whether lines have this word.
pub(crate) fn mentions(lines: &str, name: &str) -> bool {
    lines.split(|letter: char| !is_name(letter)).any(|word| word == name)
}

/// The variables that a line sets where commands stand: `A=1`, `then A=1`, `export A=1`, `read A`, `for A in`.
pub(super) fn assigned(line: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let (mut command, mut listed) = (true, false);
    for word in line.split_whitespace() {
        let end = word.find(|letter: char| !is_name(letter)).unwrap_or(word.len());
        let (name, rest) = word.split_at(end);
        let is_set = rest.starts_with('=') || rest.starts_with("+=") || rest.starts_with('[');
        if listed && !name.is_empty() || command && !name.is_empty() && is_set {
            names.push(name);
        } else if !word.starts_with('-') {
            listed = matches!(word, "read" | "for" | "unset" | "mapfile" | "readarray");
            command = matches!(
                word,
                "export"
                    | "declare"
                    | "local"
                    | "readonly"
                    | "typeset"
                    | "then"
                    | "else"
                    | "do"
                    | "if"
                    | "{"
                    | "("
            );
        }
        if word.ends_with([';', '&', '|', '(']) {
            (command, listed) = (true, false);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_where_they_are_used_and_set() {
        let names: Vec<String> =
            used("echo $A ${B} ${#C[@]} ${!D} ${E:-x} $1 $? '$F' $(G)").into_iter().collect();
        assert_eq!(names, ["A", "B", "C", "D", "E", "F"]);
        assert_eq!(assigned("A=$(x) B+=1"), ["A", "B"]);
        assert_eq!(assigned("if x; then A=1; fi"), ["A"]);
        assert_eq!(assigned("echo A=1 > /x"), Vec::<&str>::new());
        assert_eq!(assigned("export -n A=1"), ["A"]);
        assert_eq!(assigned("read -r A B;"), ["A", "B"]);
    }

    #[test]
    fn only_what_lasts_is_handed_over() {
        let between = |before: &str, after: &str| {
            Handover::between(before, after, &|name| name == "KNOWN").map(|handover| handover.names)
        };
        assert_eq!(between("mkdir /a", "touch /b $KNOWN $HOME"), None);
        assert_eq!(between("A=$(x)", "touch /b"), None);
        assert_eq!(between("A=$(x)", "touch $A"), Some(vec!["A".to_owned()]));
        assert_eq!(between("cd /a", "touch b"), Some(Vec::new()));
        assert_eq!(between("greet() {\n  true\n}", "greet"), Some(Vec::new()));
        assert_eq!(between(". /etc/os-release", "echo $ID"), Some(vec!["ID".to_owned()]));
    }
}
