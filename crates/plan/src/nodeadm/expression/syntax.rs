//! The written form of an expression, by CEL's own grammar as far as it is about numbers.

use std::cmp::Ordering;

use super::ExpressionFault;

/// Functions of CEL itself that are about something else than numbers.
const OTHER_FUNCTIONS: [&str; 10] =
    ["bool", "bytes", "duration", "dyn", "has", "matches", "size", "string", "timestamp", "type"];

/// Deeper nests are a bomb.
const DEEPEST: usize = 100;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Int(i64),
    Uint(u64),
    Double(f64),
    Bool(bool),
    Variable(String),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Convert(Numeric, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numeric {
    Int,
    Uint,
    Double,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Binary {
    pub(super) fn compares(self) -> bool {
        matches!(
            self,
            Self::Equal | Self::Unequal | Self::Less | Self::LessOrEqual | Self::More | Self::MoreOrEqual
        )
    }

    pub(super) fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::Unequal => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::More => order == Some(Ordering::Greater),
            _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

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
    ],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide), ("%", Binary::Remainder)],
];

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Expression, ExpressionFault> {
    let mut reader = Reader { rest: skipped(text), depth: 0 };
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

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn choice(&mut self) -> Result<Expression, ExpressionFault> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > DEEPEST {
            return Err(ExpressionFault::NotUnderstood("it nests too deep".to_owned()));
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
        let mut signs = Vec::new();
        while let Some(sign) = ["!", "-"].into_iter().find(|sign| self.takes(sign)) {
            signs.push(sign);
        }
        if signs.len() > DEEPEST {
            return Err(ExpressionFault::NotUnderstood("it nests too deep".to_owned()));
        }
        let inner = self.primary()?;
        Ok(signs.into_iter().rev().fold(inner, |inner, sign| match sign {
            "!" => Expression::Not(inner.into()),
            _ => Expression::Negative(inner.into()),
        }))
    }

    fn primary(&mut self) -> Result<Expression, ExpressionFault> {
        let first = self.rest.chars().next();
        let expression = match first {
            Some('(') => {
                self.takes("(");
                let inner = self.choice()?;
                self.must(")")?;
                inner
            }
            Some(letter) if letter.is_ascii_digit() || letter == '.' => self.number()?,
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => self.word()?,
            _ => return Err(self.unexpected()),
        };
        // A member or an element of something: no number has any.
        if self.rest.starts_with(['.', '[', '{']) || self.begins_with_word("in") {
            return Err(self.unexpected());
        }
        Ok(expression)
    }

    fn word(&mut self) -> Result<Expression, ExpressionFault> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        let calls = skipped(rest).starts_with('(');
        let kind = match word {
            "int" => Some(Numeric::Int),
            "uint" => Some(Numeric::Uint),
            "double" => Some(Numeric::Double),
            _ => None,
        };
        match (word, kind) {
            ("true" | "false", _) if !calls => {
                let truth = word == "true";
                self.rest = skipped(rest);
                Ok(Expression::Bool(truth))
            }
            (_, Some(kind)) if calls => {
                self.rest = skipped(rest);
                self.must("(")?;
                let inner = self.choice()?;
                self.must(")")?;
                Ok(Expression::Convert(kind, inner.into()))
            }
            _ if calls && OTHER_FUNCTIONS.contains(&word) => {
                Err(ExpressionFault::NotUnderstood(format!("`{word}` is not understood")))
            }
            // Extensions of CEL, such as `math`, are not there, and numbers have no members.
            _ if calls || rest.starts_with('.') => {
                Err(ExpressionFault::Refused(format!("there is no `{word}` to call or to look into")))
            }
            _ => {
                let name = word.to_owned();
                self.rest = skipped(rest);
                Ok(Expression::Variable(name))
            }
        }
    }

    fn number(&mut self) -> Result<Expression, ExpressionFault> {
        let bytes = self.rest.as_bytes();
        let hex = self.rest.starts_with("0x") || self.rest.starts_with("0X");
        let mut end = if hex { 2 } else { 0 };
        while let Some(byte) = bytes.get(end) {
            let before = end.checked_sub(1).and_then(|at| bytes.get(at));
            let sign = matches!(byte, b'+' | b'-') && matches!(before, Some(b'e' | b'E'));
            let next = end.checked_add(1).and_then(|at| bytes.get(at));
            let part = match byte {
                _ if hex => byte.is_ascii_hexdigit(),
                // A point with nothing behind it is no part of a number, and no number has members.
                b'.' if !next.is_some_and(u8::is_ascii_digit) => {
                    return Err(ExpressionFault::Refused("a number has no members".to_owned()));
                }
                _ => byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E') || sign,
            };
            if !part {
                break;
            }
            end = end.saturating_add(1);
        }
        let (digits, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        let unsigned = rest.strip_prefix(['u', 'U']);
        let large = || ExpressionFault::Refused(format!("`{digits}` is no number that can be had"));
        let (body, radix) = if hex { (digits.get(2..).unwrap_or_default(), 16) } else { (digits, 10) };
        let number = match unsigned {
            Some(_) => u64::from_str_radix(body, radix).ok().map(Expression::Uint),
            None if !hex && digits.contains(['.', 'e', 'E']) => digits.parse().ok().map(Expression::Double),
            None => i64::from_str_radix(body, radix).ok().map(Expression::Int),
        };
        let number = number.ok_or_else(large)?;
        self.rest = skipped(unsigned.unwrap_or(rest));
        Ok(number)
    }

    fn takes(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
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

    fn begins_with_word(&self, word: &str) -> bool {
        self.rest.strip_prefix(word).is_some_and(|rest| {
            !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
        })
    }

    fn unexpected(&self) -> ExpressionFault {
        match self.rest.chars().next() {
            None => ExpressionFault::Refused("it ends too early".to_owned()),
            // Lists, maps, texts and their members are of CEL, but not of numbers.
            Some('[' | ']' | '{' | '}' | '\'' | '"' | '.') => {
                ExpressionFault::NotUnderstood("lists, maps and texts are not understood".to_owned())
            }
            Some('i') if self.begins_with_word("in") => {
                ExpressionFault::NotUnderstood("`in` is not understood".to_owned())
            }
            Some(letter) => ExpressionFault::Refused(format!("`{letter}` stands where it cannot")),
        }
    }
}
