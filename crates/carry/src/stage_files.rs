//! What a first stage places, read back from its script.

use base64::{Engine as _, prelude::BASE64_STANDARD};

use crate::first_stage::MARK;
use crate::placed::PlacedFile;
use crate::shell::read_word;

/// The files that a first stage places, if the script is one of ours.
pub(crate) fn read_files(script: &str) -> Option<Vec<PlacedFile>> {
    Some(read_all(script)?.into_iter().filter(|(_, known)| *known).map(|(file, _)| file).collect())
}

/// The files that it places and whose content is known only on the node.
pub(crate) fn read_open_files(script: &str) -> Vec<PlacedFile> {
    let all = read_all(script).unwrap_or_default();
    all.into_iter().filter(|(_, known)| !known).map(|(file, _)| file).collect()
}

/// All files, and whether their content is known.
fn read_all(script: &str) -> Option<Vec<(PlacedFile, bool)>> {
    let mut lines = script.lines();
    lines.find(|line| *line == MARK)?;
    let mut files = Vec::new();
    while let Some(line) = lines.next() {
        let Some((mut file, word, packed)) = read_placing(line) else { continue };
        // Without quotes, the shell fills something in.
        let known = word.starts_with('\'');
        let end = read_word(word)?.0;
        let mut content = String::new();
        for line in lines.by_ref().take_while(|line| *line != end) {
            content.push_str(line);
            content.push('\n');
        }
        file.content =
            if packed { BASE64_STANDARD.decode(content.trim_end()).ok()? } else { content.into_bytes() };
        files.push((file, known));
    }
    Some(files)
}

fn read_placing(line: &str) -> Option<(PlacedFile, &str, bool)> {
    let (command, before, packed) = match line.strip_prefix("base64 -d <<") {
        Some(rest) => {
            let (end, command) = rest.split_once(" | ")?;
            (command, Some(end), true)
        }
        None => (line, None, false),
    };
    let rest = command.strip_prefix("place ")?;
    let (mode, rest) = read_word(rest)?;
    let (path, rest) = read_word(rest.strip_prefix(' ')?)?;
    let mut file = PlacedFile::new(path, u32::from_str_radix(&mode, 8).ok()?, Vec::new());
    let mut rest = rest.trim_start();
    if !rest.is_empty() && !rest.starts_with("<<") {
        let (owner, after) = read_word(rest)?;
        file.owner = owner;
        rest = after.trim_start();
    }
    let end = before.or_else(|| rest.strip_prefix("<<"))?;
    Some((file, end, packed))
}
