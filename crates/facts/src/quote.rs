//! Values in files that systemd reads.

/// A value as one word of a list that systemd splits at white space: everything unusual behind a backslash.
pub fn word(value: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:,=@%+".contains(letter);
    let mut word = String::with_capacity(value.len());
    for letter in value.chars() {
        if !plain(letter) && letter.is_ascii() {
            word.push('\\');
        }
        word.push(letter);
    }
    word
}

/// Variables as the lines of an `EnvironmentFile=`.
pub fn environment_file<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut file = String::new();
    for (name, value) in variables {
        file.push_str(name);
        file.push_str("=\"");
        for letter in value.chars() {
            if matches!(letter, '"' | '\\' | '`' | '$') {
                file.push('\\');
            }
            file.push(letter);
        }
        file.push_str("\"\n");
    }
    file
}
