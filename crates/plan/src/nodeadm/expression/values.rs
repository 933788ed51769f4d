//! What an expression comes to.

use std::cmp::Ordering;

use super::tree::{Binary, Each, Expression, Function, Way};
use super::{ExpressionFault, Variables, overflow, refused};

/// How many values may be worked out for one expression, and how many may hang together: walks within walks multiply.
const MOST: usize = 20_000;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Int(i64),
    Uint(u64),
    Double(f64),
    Bool(bool),
    Text(String),
    Null,
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// How large it is, all told.
    fn weight(&self) -> usize {
        match self {
            Self::Text(text) => text.len().saturating_add(1),
            Self::List(items) => items.iter().map(Self::weight).fold(1, usize::saturating_add),
            Self::Map(pairs) => pairs
                .iter()
                .map(|(key, value)| key.weight().saturating_add(value.weight()))
                .fold(1, usize::saturating_add),
            _ => 1,
        }
    }
}

/// What names stand for, and how much more may be done.
pub(super) struct Work {
    variables: Variables,
    names: Vec<(String, Value)>,
    left: usize,
}

impl Work {
    pub(super) fn new(variables: Variables) -> Self {
        Self { variables, names: Vec::new(), left: MOST }
    }

    pub(super) fn value(&mut self, expression: &Expression) -> Result<Value, ExpressionFault> {
        let value = self.worked_out(expression)?;
        let weight = value.weight();
        self.left = self.left.checked_sub(weight).ok_or_else(|| refused("it takes too long to work out"))?;
        Ok(value)
    }

    fn worked_out(&mut self, expression: &Expression) -> Result<Value, ExpressionFault> {
        Ok(match expression {
            Expression::Value(value) => value.clone(),
            Expression::Name(name) => self.named(name),
            Expression::List(items) => {
                let mut values = Vec::new();
                for item in items {
                    values.push(self.value(item)?);
                }
                Value::List(values)
            }
            Expression::Map(pairs) => self.map(pairs)?,
            Expression::Not(inner) => Value::Bool(!self.truth(inner)?),
            Expression::Negative(inner) => match self.value(inner)? {
                Value::Int(number) => Value::Int(number.checked_neg().ok_or_else(overflow)?),
                Value::Double(number) => Value::Double(-number),
                _ => return Err(refused("only signed numbers have a negative")),
            },
            Expression::Choice(condition, yes, no) => {
                let chosen = if self.truth(condition)? { yes } else { no };
                self.value(chosen)?
            }
            // Either side decides alone, even where the other one cannot be worked out.
            Expression::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
                let decides = *operator == Binary::Or;
                let (left, right) = (self.truth(left), self.truth(right));
                Value::Bool(either(decides, left, right)?)
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                combined(*operator, left, right)?
            }
            Expression::Element(of, key) => {
                let (of, key) = (self.value(of)?, self.value(key)?);
                element(of, &key)?
            }
            Expression::Member(of, key) => {
                let of = self.value(of)?;
                element(of, &Value::Text(key.clone()))?
            }
            Expression::Has(of, key) => {
                let key = Value::Text(key.clone());
                let has = |pairs: &[(Value, Value)]| pairs.iter().any(|(known, _)| *known == key);
                Value::Bool(matches!(self.value(of)?, Value::Map(pairs) if has(&pairs)))
            }
            Expression::Call(function, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.value(argument)?);
                }
                called(*function, values)?
            }
            Expression::Each(each) => self.walk(each)?,
        })
    }

    fn named(&self, name: &str) -> Value {
        if let Some((_, value)) = self.names.iter().rev().find(|(known, _)| known == name) {
            return value.clone();
        }
        Value::Int(i64::from(match name {
            "default_enis" => self.variables.interfaces,
            "ips_per_eni" => self.variables.addresses,
            _ => self.variables.max_pods,
        }))
    }

    fn truth(&mut self, expression: &Expression) -> Result<bool, ExpressionFault> {
        match self.value(expression)? {
            Value::Bool(truth) => Ok(truth),
            _ => Err(refused("what is neither true nor false stands where a truth has to")),
        }
    }

    fn map(&mut self, pairs: &[(Expression, Expression)]) -> Result<Value, ExpressionFault> {
        let mut known: Vec<(Value, Value)> = Vec::new();
        for (key, value) in pairs {
            let (key, value) = (self.value(key)?, self.value(value)?);
            known.retain(|(there, _)| *there != key);
            known.push((key, value));
        }
        Ok(Value::Map(known))
    }

    fn walk(&mut self, each: &Each) -> Result<Value, ExpressionFault> {
        let items = match self.value(&each.range)? {
            Value::List(items) => items,
            Value::Map(pairs) => pairs.into_iter().map(|(key, _)| key).collect(),
            _ => return Err(refused("only lists and maps can be walked over")),
        };
        let mut kept = Vec::new();
        let mut count = 0_usize;
        let mut so_far = Ok(each.way == Way::All);
        for item in items {
            self.names.push((each.name.clone(), item.clone()));
            let step = self.step(each);
            self.names.pop();
            match (each.way, step) {
                (Way::Map, step) => kept.extend(step?),
                (Way::All | Way::Exists, step) => {
                    let decides = each.way == Way::Exists;
                    so_far = either(decides, so_far, truth_of(step));
                    if so_far == Ok(decides) {
                        break;
                    }
                }
                (way, step) => {
                    let holds = truth_of(step)?;
                    count = count.saturating_add(usize::from(holds));
                    if holds && way == Way::Filter {
                        kept.push(item);
                    }
                }
            }
        }
        Ok(match each.way {
            Way::Map | Way::Filter => Value::List(kept),
            Way::ExistsOne => Value::Bool(count == 1),
            Way::All | Way::Exists => Value::Bool(so_far?),
        })
    }

    /// What becomes of one item, if it is taken.
    fn step(&mut self, each: &Each) -> Result<Option<Value>, ExpressionFault> {
        match &each.condition {
            Some(condition) if !self.truth(condition)? => Ok(None),
            _ => self.value(&each.result).map(Some),
        }
    }
}

fn truth_of(step: Result<Option<Value>, ExpressionFault>) -> Result<bool, ExpressionFault> {
    match step? {
        Some(Value::Bool(truth)) => Ok(truth),
        _ => Err(refused("what is neither true nor false stands where a truth has to")),
    }
}

type Truth = Result<bool, ExpressionFault>;

fn either(decides: bool, left: Truth, right: Truth) -> Truth {
    match (left, right) {
        (Ok(side), _) | (_, Ok(side)) if side == decides => Ok(decides),
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
        (Ok(left), Ok(_)) => Ok(left),
    }
}

/// The order of two values of one kind, or of two numbers.
#[expect(clippy::cast_precision_loss, reason = "CEL compares whole numbers with doubles the same way")]
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    let whole = |value: &Value| match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::Uint(number) => Some(i128::from(*number)),
        _ => None,
    };
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Double(left), Value::Double(right)) => left.partial_cmp(right),
        (Value::Double(left), right) => left.partial_cmp(&(whole(right)? as f64)),
        (left, Value::Double(right)) => (whole(left)? as f64).partial_cmp(right),
        (left, right) => Some(whole(left)?.cmp(&whole(right)?)),
    }
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Map(left), Value::Map(right)) => {
            let has = |key: &Value, value: &Value| {
                right.iter().any(|(other, found)| equal(key, other) && equal(value, found))
            };
            left.len() == right.len() && left.iter().all(|(key, value)| has(key, value))
        }
        _ => order(left, right) == Some(Ordering::Equal),
    }
}

fn combined(operator: Binary, left: Value, right: Value) -> Result<Value, ExpressionFault> {
    Ok(match operator {
        Binary::Equal => Value::Bool(equal(&left, &right)),
        Binary::Unequal => Value::Bool(!equal(&left, &right)),
        Binary::In => Value::Bool(match &right {
            Value::List(items) => items.iter().any(|item| equal(item, &left)),
            Value::Map(pairs) => pairs.iter().any(|(key, _)| equal(key, &left)),
            _ => return Err(refused("`in` is for lists and maps")),
        }),
        Binary::Less | Binary::LessOrEqual | Binary::More | Binary::MoreOrEqual => {
            let order = order(&left, &right).ok_or_else(|| refused("what is compared has no order"))?;
            Value::Bool(operator.holds(order))
        }
        _ => match (left, right) {
            (Value::Int(left), Value::Int(right)) => Value::Int(
                match operator {
                    Binary::Add => left.checked_add(right),
                    Binary::Subtract => left.checked_sub(right),
                    Binary::Multiply => left.checked_mul(right),
                    Binary::Divide => left.checked_div(right),
                    _ => left.checked_rem(right),
                }
                .ok_or_else(overflow)?,
            ),
            (Value::Uint(left), Value::Uint(right)) => Value::Uint(
                match operator {
                    Binary::Add => left.checked_add(right),
                    Binary::Subtract => left.checked_sub(right),
                    Binary::Multiply => left.checked_mul(right),
                    Binary::Divide => left.checked_div(right),
                    _ => left.checked_rem(right),
                }
                .ok_or_else(overflow)?,
            ),
            (Value::Double(left), Value::Double(right)) => Value::Double(match operator {
                Binary::Add => left + right,
                Binary::Subtract => left - right,
                Binary::Multiply => left * right,
                Binary::Divide => left / right,
                _ => return Err(refused("`%` is for whole numbers")),
            }),
            (Value::Text(left), Value::Text(right)) if operator == Binary::Add => Value::Text(left + &right),
            (Value::List(mut left), Value::List(right)) if operator == Binary::Add => {
                left.extend(right);
                Value::List(left)
            }
            _ => return Err(refused("values of different types do not mix")),
        },
    })
}

fn element(of: Value, key: &Value) -> Result<Value, ExpressionFault> {
    let found = match of {
        Value::List(items) => {
            let index = match key {
                Value::Double(number) if number.fract() == 0.0 => whole(Value::Double(*number)),
                Value::Int(_) | Value::Uint(_) => whole(key.clone()),
                _ => None,
            };
            index.and_then(|index| items.into_iter().nth(usize::try_from(index).ok()?))
        }
        Value::Map(pairs) => pairs.into_iter().find(|(known, _)| equal(known, key)).map(|(_, value)| value),
        _ => None,
    };
    found.ok_or_else(|| refused("there is no such member or element to look into"))
}

fn called(function: Function, arguments: Vec<Value>) -> Result<Value, ExpressionFault> {
    let count = |count: usize| i64::try_from(count).ok().map(Value::Int);
    let mut arguments = arguments.into_iter();
    let (first, second) = (arguments.next().unwrap_or(Value::Null), arguments.next());
    let found = match (function, first, second) {
        (Function::Any, value, _) | (Function::Bool, value @ Value::Bool(_), _) => Some(value),
        (Function::Int, value, _) => whole(value).map(Value::Int),
        (Function::Uint, Value::Text(text), _) => text.parse().ok().map(Value::Uint),
        (Function::Uint, Value::Uint(number), _) => Some(Value::Uint(number)),
        (Function::Uint, value, _) => whole(value).and_then(|number| number.try_into().ok()).map(Value::Uint),
        (Function::Double, value, _) => double(&value).map(Value::Double),
        (Function::Text, value, _) => text_of(value).map(Value::Text),
        (Function::Bool, Value::Text(text), _) => match text.as_str() {
            "1" | "t" | "true" | "TRUE" | "True" => Some(Value::Bool(true)),
            "0" | "f" | "false" | "FALSE" | "False" => Some(Value::Bool(false)),
            _ => None,
        },
        (Function::Size, Value::Text(text), _) => count(text.chars().count()),
        (Function::Size, Value::List(items), _) => count(items.len()),
        (Function::Size, Value::Map(pairs), _) => count(pairs.len()),
        (Function::Contains, Value::Text(text), Some(Value::Text(part))) => {
            Some(Value::Bool(text.contains(&part)))
        }
        (Function::StartsWith, Value::Text(text), Some(Value::Text(part))) => {
            Some(Value::Bool(text.starts_with(&part)))
        }
        (Function::EndsWith, Value::Text(text), Some(Value::Text(part))) => {
            Some(Value::Bool(text.ends_with(&part)))
        }
        _ => None,
    };
    found.ok_or_else(|| refused("a function is not for what it is called with"))
}

/// A value as a whole number, as `int()` gives it.
pub(super) fn whole(value: Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(number),
        Value::Uint(number) => i64::try_from(number).ok(),
        Value::Double(number) => truncated(number),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "CEL turns whole numbers into doubles the same way")]
fn double(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Uint(number) => Some(*number as f64),
        Value::Double(number) => Some(*number),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

fn text_of(value: Value) -> Option<String> {
    match value {
        Value::Int(number) => Some(number.to_string()),
        Value::Uint(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Double(number) => Some(double_text(number)),
        Value::Text(text) => Some(text),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

/// A double as Go writes it: the very large and the very small ones with an exponent of two digits and its sign.
fn double_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let size = number.abs();
    if size == 0.0 || (1e-4..1e6).contains(&size) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// A double without what is behind its point, where that is a whole number of 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "what does not fit is left out before")]
fn truncated(number: f64) -> Option<i64> {
    const EDGE: f64 = 9_223_372_036_854_775_808.0;
    (number.is_finite() && number < EDGE && number > -EDGE).then(|| number.trunc() as i64)
}
