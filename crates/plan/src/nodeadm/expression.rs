//! How many pods, said in CEL: all of the language that has to do with numbers, truths, texts, lists and maps, as nodeadm has
//! it, without extensions. Bytes, times, patterns and types as values are left out.
//!
//! Expressions are checked before they are worked out, as CEL's own compiler does: both branches of a choice must be of
//! one type, and numbers of different types do not mix.

mod literals;
mod syntax;
mod tree;
mod types;
mod values;

use bringup_diag::Finding;
use syntax::parse;
use tree::Expression;
use types::{Type, type_of};
use values::{Work, whole};

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

/// What can be said against an expression without knowing the machine.
pub fn check(text: &str) -> Result<(), ExpressionFault> {
    checked(text).map(|_| ())
}

fn checked(text: &str) -> Result<Expression, ExpressionFault> {
    let expression = parse(text)?;
    match type_of(&expression, &mut Vec::new())? {
        Type::Int | Type::Uint | Type::Double | Type::Text | Type::Any => Ok(expression),
        _ => Err(refused("it gives no number")),
    }
}

/// The number of pods that an expression gives: more than none, and at most what 31 bits hold.
pub fn evaluate(text: &str, variables: Variables) -> Result<u32, ExpressionFault> {
    let value = Work::new(variables).value(&checked(text)?)?;
    let number = whole(value).ok_or_else(|| refused("it gives no number"))?;
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

/// What there is to tell of an expression with a fault.
pub(crate) fn finding(fault: ExpressionFault) -> Finding {
    match fault {
        ExpressionFault::Refused(why) => {
            Finding::warning(codes::NODEADM_EXPRESSION, format!("nodeadm passes over this expression: {why}"))
                .hint("write one such as `max_pods < 110 ? max_pods : 110`")
        }
        ExpressionFault::NotUnderstood(why) => Finding::error(codes::NODEADM_EXPRESSION, why)
            .hint("use numbers, texts, lists and maps with operators, `? :`, `in`, `size`, `exists` and the like; no bytes, times, patterns or types"),
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
        fn any_text_gives_a_number_or_a_fault(text in "([a-z0-9_.+*/%<>=!&|?:()'\\[\\]{}, -]|max_pods|size\\(|\\.map\\(x, |\\.exists\\(x, | in ){0,40}") {
            if let Ok(pods) = evaluate(&text, SMALL) {
                assert!(pods > 0);
            }
        }
    }

    /// What cel-go gives for the same words with nodeadm's three variables: a number, or none.
    #[test]
    fn expressions_come_to_what_cel_makes_of_them() {
        let cases = include_str!("expression/cel-go.tsv").lines().filter(|line| !line.starts_with('#'));
        let mut count = 0;
        let mut differing = Vec::new();
        for (expected, text) in cases.filter_map(|line| line.split_once('\t')) {
            let given = evaluate(&text.replace("\\n", "\n"), SMALL);
            let same = match expected.parse() {
                Ok(pods) => given == Ok(pods),
                Err(_) => matches!(given, Err(ExpressionFault::Refused(_))),
            };
            if !same {
                differing.push(format!("{text}: {given:?}, and cel-go has {expected}"));
            }
            count += 1;
        }
        assert!(differing.is_empty(), "{}", differing.join("\n"));
        assert!(count > 100, "{count}");
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_place() {
        for (text, why) in [
            ("1 + int(timestamp('2024-01-01T00:00:00Z'))", "`timestamp` is not understood, at character 9"),
            ("'a'.matches('b') ? 1 : 2", "`matches` is not understood, at character 5"),
            ("size(b'abc')", "a text of bytes is not understood, at character 6"),
            ("type(1) == int ? 1 : 2", "`type` is not understood, at character 1"),
        ] {
            assert_eq!(check(text), Err(ExpressionFault::NotUnderstood(why.to_owned())), "{text}");
        }
    }

    /// Nothing that is short takes long, or much room.
    #[test]
    fn bombs_do_not_go_off() {
        let doubling = format!("[1]{}.size()", ".map(x, [x, x])".repeat(90));
        let adding = format!("['a']{}[0].size()", ".map(x, x + x)".repeat(90));
        let members = format!("{{'a': 1}}{}", ".a".repeat(290));
        let hundred = format!("[{}]", ["1"; 100].join(", "));
        let walks = format!("{hundred}.map(a, {hundred}.map(b, {hundred}.exists(c, c > a))).size()");
        for text in [doubling, adding, walks, "1+".repeat(5000) + "1", "[".repeat(5000), members] {
            assert!(evaluate(&text, SMALL).is_err(), "{text}");
        }
    }
}
