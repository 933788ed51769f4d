//! The written form of an expression, by CEL's own grammar.

use super::ExpressionFault;
use super::literals::{self, NoText};
use super::tree::{Binary, Each, Expression, Function, Way};
use super::values::Value;

/// What CEL knows and is not understood here: bytes, times, patterns, and types as values.
const OTHER_FUNCTIONS: [&str; 5] = ["bytes", "duration", "matches", "timestamp", "type"];

/// Deeper nests are a bomb, and so are longer expressions.
const DEEPEST: usize = 100;
const LONGEST: usize = 600;

/// The digits of the least of all numbers, which is one less than the negative of the largest.
const LEAST: &str = "9223372036854775808";

/// From the loosest to the tightest; longer signs before their own beginnings.
const LEVELS: [&[(&str, Binary)]; 5] = [
    &[("||", Binary::Or)],
    &[("&&", Binary::And)],
    &[
        ("==", Binary::Equal),
        ("!=", Binary::Unequal),
        ("<=", Binary::LessOrEqual),
        (">=", Binary::MoreOrEqual),
        ("<", Binary::Less),
        (">", Binary::More),
        ("in", Binary::In),
    ],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide), ("%", Binary::Remainder)],
];

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Expression, ExpressionFault> {
    let mut reader = Reader { text, rest: skipped(text), depth: 0, length: 0 };
    let expression = reader.choice()?;
    if reader.rest.is_empty() { Ok(expression) } else { Err(reader.unexpected()) }
}

/// What follows white space and comments.
fn skipped(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("//") {
        rest = comment.split_once('\n').map_or("", |(_, behind)| behind).trim_start();
    }
    rest
}

fn is_part_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    depth: usize,
    length: usize,
}

impl<'a> Reader<'a> {
    fn choice(&mut self) -> Result<Expression, ExpressionFault> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > DEEPEST {
            return Err(self.too_much());
        }
        let condition = self.level(0)?;
        let whole = if self.takes("?") {
            let yes = self.level(0)?;
            self.must(":")?;
            let no = self.choice()?;
            Expression::Choice(condition.into(), yes.into(), no.into())
        } else {
            condition
        };
        self.depth = self.depth.saturating_sub(1);
        Ok(whole)
    }

    fn level(&mut self, level: usize) -> Result<Expression, ExpressionFault> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let tighter = level.saturating_add(1);
        let mut left = self.level(tighter)?;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.takes(sign)) {
            let right = self.level(tighter)?;
            left = Expression::Binary(*operator, left.into(), right.into());
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, ExpressionFault> {
        // Two of one sign are none, whatever they stand before.
        let sign = ["!", "-"].into_iter().find(|sign| self.rest.starts_with(sign));
        let mut counts = false;
        while sign.is_some_and(|sign| self.takes(sign)) {
            counts = !counts;
        }
        // The least of all numbers has no positive to be the negative of.
        if counts && sign == Some("-") && self.takes(LEAST) {
            return self.members(Expression::Value(Value::Int(i64::MIN)));
        }
        let inner = self.primary()?;
        let inner = self.members(inner)?;
        Ok(match sign {
            Some("!") if counts => Expression::Not(inner.into()),
            Some(_) if counts => Expression::Negative(inner.into()),
            _ => inner,
        })
    }

    fn primary(&mut self) -> Result<Expression, ExpressionFault> {
        self.length = self.length.saturating_add(1);
        if self.length > LONGEST {
            return Err(self.too_much());
        }
        let here = self.rest;
        let text = literals::text(here).map_err(|why| match why {
            NoText::Bytes => self.at(here, "a text of bytes"),
            NoText::Broken(why) => ExpressionFault::Refused(why.to_owned()),
        })?;
        if let Some((value, rest)) = text {
            self.rest = skipped(rest);
            return Ok(Expression::Value(Value::Text(value)));
        }
        match here.chars().next() {
            Some('(') => {
                self.takes("(");
                let inner = self.choice()?;
                self.must(")")?;
                Ok(inner)
            }
            Some('[') => {
                self.takes("[");
                Ok(Expression::List(self.several("]", Self::choice)?))
            }
            Some('{') => {
                self.takes("{");
                let pair = |reader: &mut Self| {
                    let key = reader.choice()?;
                    reader.must(":")?;
                    Ok((key, reader.choice()?))
                };
                Ok(Expression::Map(self.several("}", pair)?))
            }
            Some(letter) if letter.is_ascii_digit() || letter == '.' => {
                let (value, rest) = literals::number(here).map_err(ExpressionFault::Refused)?;
                self.rest = skipped(rest);
                Ok(Expression::Value(value))
            }
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => self.word(),
            _ => Err(self.unexpected()),
        }
    }

    /// Items up to this sign; one more comma may stand before it.
    fn several<T>(
        &mut self,
        end: &str,
        item: impl Fn(&mut Self) -> Result<T, ExpressionFault>,
    ) -> Result<Vec<T>, ExpressionFault> {
        let mut items = Vec::new();
        while !self.takes(end) {
            items.push(item(self)?);
            if !self.takes(",") {
                self.must(end)?;
                break;
            }
        }
        Ok(items)
    }

    fn arguments(&mut self) -> Result<Vec<Expression>, ExpressionFault> {
        self.must("(")?;
        let mut items = Vec::new();
        if self.takes(")") {
            return Ok(items);
        }
        loop {
            items.push(self.choice()?);
            if self.takes(")") {
                return Ok(items);
            }
            self.must(",")?;
        }
    }

    fn word(&mut self) -> Result<Expression, ExpressionFault> {
        let here = self.rest;
        let word = self.name();
        let constant = match word {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" => Some(Value::Null),
            _ => None,
        };
        if let Some(constant) = constant {
            return Ok(Expression::Value(constant));
        }
        if !self.rest.starts_with('(') {
            return Ok(Expression::Name(word.to_owned()));
        }
        if OTHER_FUNCTIONS.contains(&word) {
            return Err(self.at(here, &format!("`{word}`")));
        }
        let arguments = self.arguments()?;
        if word == "has" {
            return match <[Expression; 1]>::try_from(arguments) {
                Ok([Expression::Member(of, key)]) => Ok(Expression::Has(of, key)),
                _ => Err(no_such(word)),
            };
        }
        match (Function::of(word), arguments.len()) {
            (Some(function), 1) => Ok(Expression::Call(function, arguments)),
            _ => Err(no_such(word)),
        }
    }

    /// Members and elements of what was just read.
    fn members(&mut self, mut inner: Expression) -> Result<Expression, ExpressionFault> {
        loop {
            self.length = self.length.saturating_add(1);
            if self.length > LONGEST {
                return Err(self.too_much());
            }
            if self.takes("[") {
                let index = self.choice()?;
                self.must("]")?;
                inner = Expression::Element(inner.into(), index.into());
            } else if self.takes(".") {
                let here = self.rest;
                let word = self.name();
                inner = match word {
                    "" => return Err(self.unexpected()),
                    _ if !self.rest.starts_with('(') => Expression::Member(inner.into(), word.to_owned()),
                    _ if OTHER_FUNCTIONS.contains(&word) || word.starts_with("get") => {
                        return Err(self.at(here, &format!("`{word}`")));
                    }
                    _ => self.member_call(inner, word)?,
                };
            } else {
                return Ok(inner);
            }
        }
    }

    fn member_call(&mut self, of: Expression, word: &str) -> Result<Expression, ExpressionFault> {
        let arguments = self.arguments()?;
        if let Some(function) = Function::of_member(word, arguments.len()) {
            let all = std::iter::once(of).chain(arguments).collect();
            return Ok(Expression::Call(function, all));
        }
        let mut arguments = arguments.into_iter();
        let Some(Expression::Name(name)) = arguments.next() else { return Err(no_such(word)) };
        let rest = (arguments.next(), arguments.next(), arguments.next());
        let (way, condition, result) = match (word, rest) {
            ("all", (Some(result), None, None)) => (Way::All, None, result),
            ("exists", (Some(result), None, None)) => (Way::Exists, None, result),
            ("exists_one", (Some(result), None, None)) => (Way::ExistsOne, None, result),
            ("filter", (Some(result), None, None)) => (Way::Filter, None, result),
            ("map", (Some(result), None, None)) => (Way::Map, None, result),
            ("map", (condition, Some(result), None)) => (Way::Map, condition, result),
            _ => return Err(no_such(word)),
        };
        Ok(Expression::Each(Box::new(Each { way, range: of, name, condition, result })))
    }

    /// The word that stands here, if one does.
    fn name(&mut self) -> &'a str {
        let end = self.rest.find(|letter| !is_part_of_word(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = skipped(rest);
        word
    }

    fn takes(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            // A sign that is a word ends where the word does.
            Some(rest) if sign.starts_with(is_part_of_word) && rest.starts_with(is_part_of_word) => false,
            Some(rest) => {
                self.rest = skipped(rest);
                true
            }
            None => false,
        }
    }

    fn must(&mut self, sign: &str) -> Result<(), ExpressionFault> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> ExpressionFault {
        match self.rest.chars().next() {
            None => ExpressionFault::Refused("it ends too early".to_owned()),
            Some(letter) => ExpressionFault::Refused(format!(
                "`{letter}` stands where it cannot, {}",
                self.place(self.rest)
            )),
        }
    }

    /// What CEL may understand, and this does not.
    fn at(&self, here: &str, what: &str) -> ExpressionFault {
        ExpressionFault::NotUnderstood(format!("{what} is not understood, {}", self.place(here)))
    }

    fn too_much(&self) -> ExpressionFault {
        ExpressionFault::NotUnderstood(format!("it is too long or nests too deep, {}", self.place(self.rest)))
    }

    fn place(&self, here: &str) -> String {
        let before = self.text.len().saturating_sub(here.len());
        let before = self.text.get(..before).unwrap_or_default().chars().count();
        format!("at character {}", before.saturating_add(1))
    }
}

/// Extensions of CEL, such as `math`, are not there.
fn no_such(word: &str) -> ExpressionFault {
    ExpressionFault::Refused(format!("there is no `{word}` that can be called so"))
}
