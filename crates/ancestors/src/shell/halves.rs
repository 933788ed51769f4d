//! What the part of a script before its call of the image's bootstrap hands to the part behind it.
//!
//! On the node of the script both are one shell: variables, functions, traps and the working directory are there behind the
//! call. Here they are two steps with the node's set-up, and perhaps a reboot, between them. So the first writes down what its
//! shell is, and the second becomes the same.

use std::collections::BTreeSet;

use super::piece::{Kind, Piece};

/// Where it is written down; a reboot may come between the two.
const STATE: &str = "/var/lib/bringup/before-bootstrap.state";

/// The commands before the call that change the shell for those behind it; none if no change can be seen there.
pub(super) fn changes<'a>(before: &'a [Piece], after: &[Piece]) -> Vec<&'a Piece> {
    let text: Vec<&str> = after.iter().map(|piece| piece.unit.text.as_str()).collect();
    let text = text.join("\n");
    let reads_in = after.iter().any(|piece| piece.unit.has(&["source", ".", "eval"]));
    let does = before.iter().filter(|piece| piece.kind == Kind::Does);
    does.filter(|piece| {
        let used = |name: &&str| reads_in || mentions(&text, name);
        piece.unit.lasts() || piece.unit.sets().iter().any(used)
    })
    .collect()
}

/// Lines of bash that write down what the shell is. What a script has set may be secret: nobody else may read it.
pub(super) fn writing() -> Vec<String> {
    let folder = STATE.rsplit_once('/').map_or("/", |(folder, _)| folder);
    vec![
        "# The part behind the call goes on as this shell is now.".to_owned(),
        format!("{{ mkdir -p {folder}; (umask 077; : >| {STATE})"),
        "{ shopt -p; declare -f; declare -Fx; alias -p; umask -p; printf 'cd %q\\n' \"$PWD\"".to_owned(),
        // bash's own are another shell's.
        "compgen -v | while IFS= read -r bringup_name; do case $bringup_name in".to_owned(),
        "BASH*|BRINGUP_*|EUID|UID|PPID|SHELLOPTS|FUNCNAME|GROUPS|DIRSTACK|PIPESTATUS|LINENO|_|bringup_name) ;;"
            .to_owned(),
        "*) declare -p \"$bringup_name\" ;; esac; done".to_owned(),
        format!("printf 'set --'; printf ' %q' \"$@\"; echo; trap -p; set +o; }} >> {STATE}"),
        "trap - EXIT; } 2> /dev/null || :".to_owned(),
    ]
}

/// A line of bash that takes it up.
pub(super) fn reading() -> String {
    format!("[ ! -e {STATE} ] || . {STATE} 2> /dev/null || :")
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
}
