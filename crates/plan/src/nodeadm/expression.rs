//! How many pods, said in CEL: the part of the language that is about numbers.
//!
//! Expressions are checked before they are worked out, as CEL's own compiler does: both branches of a choice must be of
//! one type, and numbers of different types do not mix.

mod syntax;

use bringup_diag::Finding;
use syntax::{Binary, Expression, parse};

use crate::codes;

/// What an expression may name.
pub const VARIABLES: [&str; 3] = ["default_enis", "ips_per_eni", "max_pods"];

/// Why an expression gives no number of pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpressionFault {
    /// CEL itself refuses it; nodeadm goes on without it then.
    Refused(String),
    /// CEL may know it, but it is not understood here.
    NotUnderstood(String),
}

/// The number of interfaces on the default card, of addresses on each, and of pods by the common rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variables {
    /// `default_enis`
    pub interfaces: u32,
    /// `ips_per_eni`
    pub addresses: u32,
    /// `max_pods`
    pub max_pods: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Int(i64),
    Uint(u64),
    Double(f64),
    Bool(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Int,
    Uint,
    Double,
    Bool,
}

/// What can be said against an expression without knowing the machine.
pub fn check(text: &str) -> Result<(), ExpressionFault> {
    let expression = parse(text)?;
    match type_of(&expression)? {
        Type::Bool => Err(refused("it gives true or false, and no number")),
        Type::Int | Type::Uint | Type::Double => Ok(()),
    }
}

/// The number of pods that an expression gives: more than none, and at most what 31 bits hold.
pub fn evaluate(text: &str, variables: Variables) -> Result<u32, ExpressionFault> {
    check(text)?;
    let number = match value(&parse(text)?, variables)? {
        Value::Int(number) => i128::from(number),
        Value::Uint(number) => i128::from(number),
        Value::Double(number) => truncated(number).ok_or_else(overflow)?.into(),
        Value::Bool(_) => return Err(refused("it gives true or false, and no number")),
    };
    match u32::try_from(number) {
        Ok(pods) if pods > 0 && i32::try_from(pods).is_ok() => Ok(pods),
        _ => Err(refused(&format!("it gives {number}, and no number of pods"))),
    }
}

fn refused(why: &str) -> ExpressionFault {
    ExpressionFault::Refused(why.to_owned())
}

fn overflow() -> ExpressionFault {
    refused("a number in it is too large, or divided by nothing")
}

fn type_of(expression: &Expression) -> Result<Type, ExpressionFault> {
    let same = |left: &Expression, right: &Expression| {
        let (left, right) = (type_of(left)?, type_of(right)?);
        if left == right { Ok(left) } else { Err(refused("numbers of different types do not mix")) }
    };
    let truth = |side: &Expression| match type_of(side)? {
        Type::Bool => Ok(()),
        _ => Err(refused("a number is neither true nor false")),
    };
    Ok(match expression {
        Expression::Int(_) => Type::Int,
        Expression::Uint(_) => Type::Uint,
        Expression::Double(_) => Type::Double,
        Expression::Bool(_) => Type::Bool,
        Expression::Variable(name) if VARIABLES.contains(&name.as_str()) => Type::Int,
        Expression::Variable(name) => {
            let known = VARIABLES.join("`, `");
            return Err(refused(&format!("there is no `{name}`, only `{known}`")));
        }
        Expression::Not(inner) => truth(inner).map(|()| Type::Bool)?,
        Expression::Negative(inner) => match type_of(inner)? {
            Type::Bool | Type::Uint => return Err(refused("only signed numbers have a negative")),
            kind => kind,
        },
        Expression::Convert(kind, inner) => match (type_of(inner)?, kind) {
            (Type::Bool, _) => return Err(refused("a truth is no number")),
            (_, syntax::Numeric::Int) => Type::Int,
            (_, syntax::Numeric::Uint) => Type::Uint,
            (_, syntax::Numeric::Double) => Type::Double,
        },
        Expression::Choice(condition, yes, no) => {
            truth(condition)?;
            same(yes, no)?
        }
        Expression::Binary(Binary::And | Binary::Or, left, right) => {
            truth(left)?;
            truth(right).map(|()| Type::Bool)?
        }
        Expression::Binary(operator, left, right) => match (same(left, right)?, operator) {
            (_, operator) if operator.compares() => Type::Bool,
            (Type::Bool, _) => return Err(refused("truths cannot be added up")),
            (Type::Double, Binary::Remainder) => {
                return Err(refused("`%` is for whole numbers"));
            }
            (kind, _) => kind,
        },
    })
}

fn value(expression: &Expression, variables: Variables) -> Result<Value, ExpressionFault> {
    let of = |side: &Expression| value(side, variables);
    Ok(match expression {
        Expression::Int(number) => Value::Int(*number),
        Expression::Uint(number) => Value::Uint(*number),
        Expression::Double(number) => Value::Double(*number),
        Expression::Bool(truth) => Value::Bool(*truth),
        Expression::Variable(name) => Value::Int(i64::from(match name.as_str() {
            "default_enis" => variables.interfaces,
            "ips_per_eni" => variables.addresses,
            _ => variables.max_pods,
        })),
        Expression::Not(inner) => Value::Bool(of(inner)? == Value::Bool(false)),
        Expression::Negative(inner) => match of(inner)? {
            Value::Int(number) => Value::Int(number.checked_neg().ok_or_else(overflow)?),
            Value::Double(number) => Value::Double(-number),
            other => other,
        },
        Expression::Convert(kind, inner) => converted(*kind, of(inner)?).ok_or_else(overflow)?,
        Expression::Choice(condition, yes, no) => {
            if of(condition)? == Value::Bool(true) {
                of(yes)?
            } else {
                of(no)?
            }
        }
        // Either side decides alone, even where the other one cannot be worked out.
        Expression::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
            let decides = Value::Bool(*operator == Binary::Or);
            match (of(left), of(right)) {
                (Ok(left), _) if left == decides => left,
                (_, Ok(right)) if right == decides => right,
                (Err(fault), _) | (_, Err(fault)) => return Err(fault),
                (Ok(left), Ok(_)) => left,
            }
        }
        Expression::Binary(operator, left, right) => {
            combined(*operator, of(left)?, of(right)?).ok_or_else(overflow)?
        }
    })
}

fn combined(operator: Binary, left: Value, right: Value) -> Option<Value> {
    if operator.compares() {
        let order = match (left, right) {
            (Value::Int(left), Value::Int(right)) => left.partial_cmp(&right),
            (Value::Uint(left), Value::Uint(right)) => left.partial_cmp(&right),
            (Value::Double(left), Value::Double(right)) => left.partial_cmp(&right),
            (Value::Bool(left), Value::Bool(right)) => left.partial_cmp(&right),
            _ => None,
        };
        return Some(Value::Bool(operator.holds(order)));
    }
    Some(match (left, right) {
        (Value::Int(left), Value::Int(right)) => Value::Int(match operator {
            Binary::Add => left.checked_add(right)?,
            Binary::Subtract => left.checked_sub(right)?,
            Binary::Multiply => left.checked_mul(right)?,
            Binary::Divide => left.checked_div(right)?,
            _ => left.checked_rem(right)?,
        }),
        (Value::Uint(left), Value::Uint(right)) => Value::Uint(match operator {
            Binary::Add => left.checked_add(right)?,
            Binary::Subtract => left.checked_sub(right)?,
            Binary::Multiply => left.checked_mul(right)?,
            Binary::Divide => left.checked_div(right)?,
            _ => left.checked_rem(right)?,
        }),
        (Value::Double(left), Value::Double(right)) => Value::Double(match operator {
            Binary::Add => left + right,
            Binary::Subtract => left - right,
            Binary::Multiply => left * right,
            _ => left / right,
        }),
        _ => return None,
    })
}

#[expect(clippy::cast_precision_loss, reason = "CEL turns whole numbers into doubles the same way")]
fn converted(kind: syntax::Numeric, value: Value) -> Option<Value> {
    Some(match (kind, value) {
        (syntax::Numeric::Int, Value::Uint(number)) => Value::Int(i64::try_from(number).ok()?),
        (syntax::Numeric::Int, Value::Double(number)) => Value::Int(truncated(number)?),
        (syntax::Numeric::Uint, Value::Int(number)) => Value::Uint(u64::try_from(number).ok()?),
        (syntax::Numeric::Uint, Value::Double(number)) => {
            Value::Uint(u64::try_from(truncated(number)?).ok()?)
        }
        (syntax::Numeric::Double, Value::Int(number)) => Value::Double(number as f64),
        (syntax::Numeric::Double, Value::Uint(number)) => Value::Double(number as f64),
        (_, value) => value,
    })
}

/// A double without what is behind its point, where that is a whole number of 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "what does not fit is left out before")]
fn truncated(number: f64) -> Option<i64> {
    const EDGE: f64 = 9_223_372_036_854_775_808.0;
    (number.is_finite() && number < EDGE && number > -EDGE).then(|| number.trunc() as i64)
}

/// What there is to tell of an expression with a fault.
pub(crate) fn finding(fault: ExpressionFault) -> Finding {
    match fault {
        ExpressionFault::Refused(why) => {
            Finding::warning(codes::NODEADM_EXPRESSION, format!("nodeadm passes over this expression: {why}"))
                .hint("write one such as `max_pods < 110 ? max_pods : 110`")
        }
        ExpressionFault::NotUnderstood(why) => Finding::error(codes::NODEADM_EXPRESSION, why)
            .hint("use numbers, `+ - * / %`, comparisons, `&& || !`, `? :`, `int()` and `double()`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A t3.medium: 3 interfaces with 6 addresses each, and so 3 * 5 + 2 = 17 pods.
    const SMALL: Variables = Variables { interfaces: 3, addresses: 6, max_pods: 17 };

    #[test]
    fn numbers_are_worked_out_as_written() {
        for (text, pods) in [
            ("417", 417),
            ("max_pods + 2", 19),
            ("(default_enis * (ips_per_eni - 1)) + 2", 17),
            ("((default_enis -1) * (ips_per_eni - 1)) + 2", 12),
            ("(default_enis * ((ips_per_eni - 1) * 16)) + 2", 242),
            ("max_pods < 10 ? max_pods : 10", 10),
            ("max_pods > 10 && default_enis == 3 ? 1 : 2", 1),
            ("!(max_pods >= 17) || default_enis != 3 ? 1 : 2", 2),
            ("max_pods / 2 % 5", 3),
            ("2 + 3 * 4", 14),
            ("10 - 3 - 2", 5),
            ("int(double(max_pods) * 1.5)", 25),
            ("-max_pods * -1", 17),
            ("0x10", 16),
            ("5u", 5),
            ("7.9", 7),
            ("// a comment\n5 // and another", 5),
            ("true ? 1 : 0 < 1 ? 2 : 3", 1),
        ] {
            assert_eq!(evaluate(text, SMALL), Ok(pods), "{text}");
        }
    }

    #[test]
    fn either_side_of_a_truth_decides_alone() {
        assert_eq!(evaluate("1 / 0 == 1 || true ? 4 : 5", SMALL), Ok(4));
        assert_eq!(evaluate("false && 1 / 0 == 1 ? 4 : 5", SMALL), Ok(5));
    }

    #[test]
    fn what_gives_no_number_of_pods_is_refused() {
        for text in [
            "default_enis + fake_variable",
            "true ? 1 : fake_variable",
            "true",
            "max_pods - 17",
            "max_pods - 18",
            "2147483648",
            "9223372036854775807 + 1",
            "1 / 0",
            "false || 1 / 0 == 1 ? 1 : 2",
            "max_pods * 1.5",
            "max_pods + true",
            "max_pods ? 1 : 2",
            "1 +",
            "1.e2",
            "(1",
            "",
            "99999999999999999999",
            // nodeadm's CEL has no extensions: it says so, and takes the common number.
            "math.least(max_pods, 110)",
            "min(max_pods, 110)",
            "max_pods.size()",
        ] {
            let result = evaluate(text, SMALL);
            assert!(matches!(result, Err(ExpressionFault::Refused(_))), "{text}: {result:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_a_number_or_a_fault(text in "[a-z0-9_.+*/%<>=!&|?:()'\\[\\]{}, -]{0,60}") {
            if let Ok(pods) = evaluate(&text, SMALL) {
                assert!(pods > 0);
            }
        }
    }

    #[test]
    fn what_is_not_about_numbers_is_told_apart() {
        for text in ["[1, 2].size()", "size([1])", "'17'", "{'a': 1}", "max_pods in [1]", "string(1)"] {
            let result = check(text);
            assert!(matches!(result, Err(ExpressionFault::NotUnderstood(_))), "{text}: {result:?}");
        }
    }
}
