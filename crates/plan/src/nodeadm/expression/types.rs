//! What CEL's own compiler refuses: types that do not fit.

use super::tree::{Binary, Each, Expression, Function, Way};
use super::values::Value;
use super::{ExpressionFault, VARIABLES, refused};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Int,
    Uint,
    Double,
    Bool,
    Text,
    Null,
    List(Box<Type>),
    Map(Box<Type>, Box<Type>),
    /// Known only when it is worked out.
    Any,
}

impl Type {
    /// The type of both, if they can be of one.
    fn joined(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::List(left), Self::List(right)) => Self::List(left.joined(*right)?.into()),
            (Self::Map(key, value), Self::Map(other_key, other_value)) => {
                Self::Map(key.joined(*other_key)?.into(), value.joined(*other_value)?.into())
            }
            (left, right) if left == right => left,
            _ => return None,
        })
    }

    fn is(&self, wanted: &[Self]) -> bool {
        *self == Self::Any || wanted.contains(self)
    }
}

/// Names that are known within an expression, and their types; the last of a name counts.
pub(super) type Names<'e> = Vec<(&'e str, Type)>;

/// The type of what an expression gives.
pub(super) fn type_of<'e>(
    expression: &'e Expression,
    names: &mut Names<'e>,
) -> Result<Type, ExpressionFault> {
    Ok(match expression {
        Expression::Value(Value::Int(_)) => Type::Int,
        Expression::Value(Value::Uint(_)) => Type::Uint,
        Expression::Value(Value::Double(_)) => Type::Double,
        Expression::Value(Value::Bool(_)) => Type::Bool,
        Expression::Value(Value::Text(_)) => Type::Text,
        Expression::Value(_) => Type::Null,
        Expression::Name(name) => named(name, names)?,
        Expression::List(items) => Type::List(common(items.iter(), names)?.into()),
        Expression::Map(pairs) => {
            let key = common(pairs.iter().map(|(key, _)| key), names)?;
            let value = common(pairs.iter().map(|(_, value)| value), names)?;
            Type::Map(key.into(), value.into())
        }
        Expression::Not(inner) => truth(inner, names)?,
        Expression::Negative(inner) => match type_of(inner, names)? {
            kind @ (Type::Int | Type::Double | Type::Any) => kind,
            _ => return Err(refused("only signed numbers have a negative")),
        },
        Expression::Binary(operator, left, right) => binary(*operator, left, right, names)?,
        Expression::Element(of, key) => element(type_of(of, names)?, &type_of(key, names)?)?,
        Expression::Member(of, _) => match type_of(of, names)? {
            Type::List(_) => return Err(refused("a list has no members")),
            of => element(of, &Type::Text)?,
        },
        Expression::Has(of, _) => match type_of(of, names)? {
            Type::Map(..) | Type::Any => Type::Bool,
            _ => return Err(refused("`has` is for members of maps")),
        },
        Expression::Call(function, arguments) => call(*function, arguments, names)?,
        Expression::Each(each) => walk(each, names)?,
        Expression::Choice(condition, yes, no) => {
            truth(condition, names)?;
            same(yes, no, names)?
        }
    })
}

fn named(name: &str, names: &Names<'_>) -> Result<Type, ExpressionFault> {
    if let Some((_, kind)) = names.iter().rev().find(|(known, _)| *known == name) {
        return Ok(kind.clone());
    }
    if VARIABLES.contains(&name) {
        return Ok(Type::Int);
    }
    let known = VARIABLES.join("`, `");
    Err(refused(&format!("there is no `{name}`, only `{known}`")))
}

/// The type of all items, or any.
fn common<'e>(
    items: impl Iterator<Item = &'e Expression>,
    names: &mut Names<'e>,
) -> Result<Type, ExpressionFault> {
    let mut whole: Option<Type> = None;
    for item in items {
        let kind = type_of(item, names)?;
        whole = Some(match whole {
            Some(before) => before.joined(kind).unwrap_or(Type::Any),
            None => kind,
        });
    }
    Ok(whole.unwrap_or(Type::Any))
}

fn truth<'e>(side: &'e Expression, names: &mut Names<'e>) -> Result<Type, ExpressionFault> {
    match type_of(side, names)? {
        Type::Bool | Type::Any => Ok(Type::Bool),
        _ => Err(refused("what is neither true nor false stands where a truth has to")),
    }
}

fn same<'e>(
    left: &'e Expression,
    right: &'e Expression,
    names: &mut Names<'e>,
) -> Result<Type, ExpressionFault> {
    joined(type_of(left, names)?, type_of(right, names)?)
}

fn joined(left: Type, right: Type) -> Result<Type, ExpressionFault> {
    left.joined(right).ok_or_else(|| refused("values of different types do not mix"))
}

fn binary<'e>(
    operator: Binary,
    left: &'e Expression,
    right: &'e Expression,
    names: &mut Names<'e>,
) -> Result<Type, ExpressionFault> {
    if matches!(operator, Binary::And | Binary::Or) {
        truth(left, names)?;
        return truth(right, names);
    }
    if operator == Binary::In {
        let item = type_of(left, names)?;
        let of = match type_of(right, names)? {
            Type::List(of) | Type::Map(of, _) => *of,
            Type::Any => Type::Any,
            _ => return Err(refused("`in` is for lists and maps")),
        };
        return joined(item, of).map(|_| Type::Bool);
    }
    let (left, right) = (type_of(left, names)?, type_of(right, names)?);
    let numbers = [Type::Int, Type::Uint, Type::Double];
    let fits = |kind: &Type| match operator {
        Binary::Equal | Binary::Unequal => true,
        Binary::Add => kind.is(&numbers) || matches!(kind, Type::Text | Type::List(_)),
        Binary::Subtract | Binary::Multiply | Binary::Divide => kind.is(&numbers),
        Binary::Remainder => kind.is(&[Type::Int, Type::Uint]),
        _ => kind.is(&numbers) || matches!(kind, Type::Text | Type::Bool),
    };
    if !(fits(&left) && fits(&right)) {
        return Err(refused("an operator is not for what it stands between"));
    }
    let kind = joined(left, right)?;
    let gives_number = [Binary::Add, Binary::Subtract, Binary::Multiply, Binary::Divide, Binary::Remainder];
    Ok(if gives_number.contains(&operator) { kind } else { Type::Bool })
}

fn element(of: Type, key: &Type) -> Result<Type, ExpressionFault> {
    match of {
        Type::Any => Ok(Type::Any),
        Type::List(item) if key.is(&[Type::Int]) => Ok(*item),
        Type::Map(wanted, value) if key.clone().joined((*wanted).clone()).is_some() => Ok(*value),
        _ => Err(refused("there is no such member or element to look into")),
    }
}

fn call<'e>(
    function: Function,
    arguments: &'e [Expression],
    names: &mut Names<'e>,
) -> Result<Type, ExpressionFault> {
    let mut kinds = Vec::new();
    for argument in arguments {
        kinds.push(type_of(argument, names)?);
    }
    let first = kinds.first().cloned().unwrap_or(Type::Any);
    let convertible = [Type::Int, Type::Uint, Type::Double, Type::Text];
    let (fits, gives) = match function {
        Function::Int => (first.is(&convertible), Type::Int),
        Function::Uint => (first.is(&convertible), Type::Uint),
        Function::Double => (first.is(&convertible), Type::Double),
        Function::Text => (first.is(&convertible) || first == Type::Bool, Type::Text),
        Function::Bool => (first.is(&[Type::Bool, Type::Text]), Type::Bool),
        Function::Any => (true, Type::Any),
        Function::Size => {
            (first.is(&[Type::Text]) || matches!(first, Type::List(_) | Type::Map(..)), Type::Int)
        }
        Function::Contains | Function::StartsWith | Function::EndsWith => {
            (kinds.iter().all(|kind| kind.is(&[Type::Text])), Type::Bool)
        }
    };
    if fits { Ok(gives) } else { Err(refused("a function is not for what it is called with")) }
}

fn walk<'e>(each: &'e Each, names: &mut Names<'e>) -> Result<Type, ExpressionFault> {
    let range = type_of(&each.range, names)?;
    let item = match &range {
        Type::List(item) | Type::Map(item, _) => (**item).clone(),
        Type::Any => Type::Any,
        _ => return Err(refused("only lists and maps can be walked over")),
    };
    names.push((&each.name, item.clone()));
    let result = (|| {
        if let Some(condition) = &each.condition {
            truth(condition, names)?;
        }
        if each.way == Way::Map { type_of(&each.result, names) } else { truth(&each.result, names) }
    })();
    names.pop();
    Ok(match each.way {
        Way::Map => Type::List(result?.into()),
        Way::Filter => {
            result?;
            Type::List(item.into())
        }
        Way::All | Way::Exists | Way::ExistsOne => {
            result?;
            Type::Bool
        }
    })
}
