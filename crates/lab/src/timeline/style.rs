//! Colours of pictures, for light and for dark surroundings.

/// A style sheet for a picture, from rules that name colours as `var(--name)`, and the names with a light and a dark colour.
///
/// The colours are put in: rsvg, and other renderers that stand behind wikis and mails, know no variables and draw what has
/// no other colour in black. They pass over the media query, too, and have the light ones.
pub fn style(rules: &str, colours: &[(&str, &str, &str)]) -> String {
    let light = |text: &str| {
        colours.iter().fold(text.to_owned(), |text, (name, light, _)| put_in(&text, name, light))
    };
    let dark =
        |text: &str| colours.iter().fold(text.to_owned(), |text, (name, _, dark)| put_in(&text, name, dark));
    format!("{}@media(prefers-color-scheme:dark){{{}}}", light(rules), dark(&coloured(rules)))
}

fn put_in(text: &str, name: &str, colour: &str) -> String {
    text.replace(&format!("var(--{name})"), colour)
}

/// The rules with those of their declarations that have a colour.
fn coloured(rules: &str) -> String {
    let rule = |rule: &str| {
        let (selector, declarations) = rule.split_once('{')?;
        let kept: Vec<&str> =
            declarations.split(';').filter(|declaration| declaration.contains("var(--")).collect();
        (!kept.is_empty()).then(|| format!("{selector}{{{}}}", kept.join(";")))
    };
    rules.split('}').filter_map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_colours_come_first_and_dark_ones_are_asked_for() {
        let colours = [("ink", "#111", "#eee"), ("ink-line", "#222", "#ddd")];
        let rules = "text{fill:var(--ink);font:12px serif}.wide{stroke-width:2}.a,.b{stroke:var(--ink-line)}";
        assert_eq!(
            style(rules, &colours),
            "text{fill:#111;font:12px serif}.wide{stroke-width:2}.a,.b{stroke:#222}\
             @media(prefers-color-scheme:dark){text{fill:#eee}.a,.b{stroke:#ddd}}"
        );
    }
}
