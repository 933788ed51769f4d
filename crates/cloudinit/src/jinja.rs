//! Jinja templates as far as they can be known before boot: everything but what the node alone knows is rendered.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Object, ObjectRepr, Value};
use minijinja::{Environment, UndefinedBehavior};

/// Instructions that a template may take, and bytes that it may make.
const FUEL: u64 = 200_000;
const OUTPUT_LIMIT: usize = 1 << 20;

/// What a fact stands for while the text around it is parsed as YAML, where braces would be read as a mapping.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

/// A template after rendering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// The text; facts of the node stand in it concealed, see [`revealed`].
    pub text: String,
    /// The facts of the node that it asks for, such as `v1.region`.
    pub facts: BTreeSet<String>,
}

/// The lines after the head, if the first line is the head. cloud-init looks for it past leading white space to tell
/// the type, but then not for the template, so that such a part is dropped.
pub(crate) fn template_body(text: &str) -> Option<&str> {
    let (head, body) = text.split_once('\n').unwrap_or((text, ""));
    let name = head.strip_prefix("##")?.trim_start();
    let (template, engine) = name.split_once(':')?;
    (template.eq_ignore_ascii_case("template") && engine.trim().eq_ignore_ascii_case("jinja")).then_some(body)
}

/// Whether rendering changes anything.
pub(crate) fn has_expressions(body: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|mark| body.contains(mark))
}

/// Renders the lines after the head; the error says why cloud-init would drop the part.
pub(crate) fn rendered(body: &str) -> Result<Rendered, String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(FUEL));
    let syntax = SyntaxConfig::builder().trim_blocks(true).keep_trailing_newline(true).build();
    let syntax = syntax.map_err(|fault| fault.to_string())?;
    environment.set_syntax(syntax);
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let facts = Value::from_object(Facts { seen: Arc::clone(&seen) });
    // Jinja reads all line ends as LF and takes the last one off; cloud-init puts it back.
    let source = body.replace("\r\n", "\n").replace('\r', "\n");
    let source = source.strip_suffix('\n').unwrap_or(&source);
    let template = environment.template_from_str(source).map_err(|fault| said(&fault))?;
    let mut output = Bounded(Vec::new());
    template.render_captured_to(facts, &mut output).map_err(|fault| said(&fault))?;
    let mut text = String::from_utf8_lossy(&output.0).into_owned();
    if body.ends_with('\n') {
        text.push('\n');
    }
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let is_whole = |path: &&String| {
        !seen
            .iter()
            .any(|other| other.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with(['.', '['])))
    };
    let facts = seen.iter().filter(is_whole).cloned().collect();
    Ok(Rendered { text, facts })
}

/// Facts of the node as a template writes them: `{{ v1.region }}`.
pub(crate) fn revealed(text: &str) -> String {
    if !text.contains(OPEN) {
        return text.to_owned();
    }
    text.replace(OPEN, "{{ ").replace(CLOSE, " }}")
}

/// The body with its lines and columns kept: expressions concealed, statements and comments blanked out.
pub(crate) fn outlined(body: &str) -> String {
    let mut outline = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(start) = rest.find('{') {
        let (before, tail) = rest.split_at_checked(start).unwrap_or((rest, ""));
        outline.push_str(before);
        let end_mark = match tail.get(..2) {
            Some("{{") => "}}",
            Some("{%") => "%}",
            Some("{#") => "#}",
            _ => {
                outline.push('{');
                rest = tail.get(1..).unwrap_or_default();
                continue;
            }
        };
        let end = tail.find(end_mark).map_or(tail.len(), |end| end.saturating_add(2));
        let (inside, after) = tail.split_at_checked(end).unwrap_or((tail, ""));
        let expression = end_mark == "}}";
        outline.extend(inside.chars().map(|letter| match letter {
            '\n' => '\n',
            '{' | '}' if expression => OPEN,
            _ if expression => 'x',
            _ => ' ',
        }));
        rest = after;
    }
    outline.push_str(rest);
    outline
}

fn said(fault: &minijinja::Error) -> String {
    let line = fault.line().map(|line| format!(" in line {}", line.saturating_add(1))).unwrap_or_default();
    fault.detail().map_or_else(|| format!("{}{line}", fault.kind()), |detail| format!("{detail}{line}"))
}

struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len().saturating_add(bytes.len()) > OUTPUT_LIMIT {
            return Err(io::Error::other("the template makes more than 1 MiB of text"));
        }
        self.0.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// All names that the template itself does not define.
#[derive(Debug)]
struct Facts {
    seen: Arc<Mutex<BTreeSet<String>>>,
}

impl Object for Facts {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let name = key.as_str()?;
        // Jinja's own functions are looked up after these names.
        if matches!(name, "range" | "dict" | "namespace" | "cycler" | "joiner" | "lipsum") {
            return None;
        }
        Some(Fact::asked(name.to_owned(), &self.seen))
    }
}

/// One of them, or something inside it.
#[derive(Debug)]
struct Fact {
    path: String,
    seen: Arc<Mutex<BTreeSet<String>>>,
}

impl Fact {
    fn asked(path: String, seen: &Arc<Mutex<BTreeSet<String>>>) -> Value {
        seen.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        Value::from_object(Self { path, seen: Arc::clone(seen) })
    }
}

impl Object for Fact {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let path = match key.as_str() {
            Some(name) if name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') => {
                format!("{}.{name}", self.path)
            }
            Some(name) => format!("{}['{name}']", self.path),
            None => format!("{}[{key}]", self.path),
        };
        Some(Self::asked(path, &self.seen))
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{OPEN}{}{CLOSE}", self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::{outlined, rendered, revealed, template_body};

    /// Where no fact is asked for, the right side was printed by `cloudinit.templater.render_string` with Jinja2 3.1.6.
    #[test]
    fn what_is_known_is_rendered() {
        let cases = [
            ("a\n{% for w in [\"one\", \"two\"] %}\n- {{ w }}\n{% endfor %}\nb\n", "a\n- one\n- two\nb\n"),
            ("{# gone #}\nx: {{ 1 + 2 }}\n", "x: 3\n"),
            ("{% set a = 'v' %}\n{{ a | upper }}{% if a == 'v' %} yes{% endif %}\n\n", "V yes\n"),
            ("{% raw %}{{ kept }}{% endraw %}\n", "{{ kept }}\n"),
            ("no newline", "no newline"),
            ("{% if true %}\r\nx\r\n{% endif %}\r\n", "x\n\n"),
            (
                "{{ v1.region }} {{ ds.meta_data['local-hostname'] }}\n",
                "{{ v1.region }} {{ ds.meta_data['local-hostname'] }}\n",
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(revealed(&rendered(body).unwrap().text), expected, "{body}");
        }
        let facts =
            rendered("{% if v1.cloud_name == 'aws' %}{{ ds.x }}{% endif %}{{ v1.region }}").unwrap().facts;
        assert_eq!(facts.into_iter().collect::<Vec<_>>(), ["v1.cloud_name", "v1.region"]);
    }

    #[test]
    fn broken_templates_and_bombs_are_refused() {
        assert!(rendered("{% for x in %}").is_err());
        assert!(
            rendered("{% for x in range(100000) %}{% for y in range(100000) %}a{% endfor %}{% endfor %}")
                .is_err()
        );
        assert!(rendered("{{ 'a' * 10000000 }}").is_err());
    }

    #[test]
    fn heads_are_cloud_inits() {
        assert_eq!(template_body("## template: jinja\nx"), Some("x"));
        assert_eq!(template_body("##Template:Jinja \nx"), Some("x"));
        assert_eq!(template_body("\n## template: jinja\nx"), None);
        assert_eq!(template_body("## template: jinja2\nx"), None);
    }

    #[test]
    fn an_outline_keeps_places() {
        let body = "a: {{ b }}\n{% if c %}\nd: {e: 1}\n{% endif %}{# f\n #}g\n{{ open";
        let outline = outlined(body);
        assert_eq!(outline.lines().count(), body.lines().count());
        for (one, other) in outline.lines().zip(body.lines()) {
            assert_eq!(one.chars().count(), other.chars().count());
        }
        assert!(outline.contains("d: {e: 1}"));
        assert!(!outline.contains("{{"));
    }
}
