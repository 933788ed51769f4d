//! What an expression is made of.

use std::cmp::Ordering;

use super::values::Value;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Value(Value),
    Name(String),
    List(Vec<Expression>),
    Map(Vec<(Expression, Expression)>),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// An element of a list or a map.
    Element(Box<Expression>, Box<Expression>),
    /// What a map has for a text that is written as a name.
    Member(Box<Expression>, String),
    /// Whether a map has a member.
    Has(Box<Expression>, String),
    Call(Function, Vec<Expression>),
    Each(Box<Each>),
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
}

/// A walk over a list, or the keys of a map.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Each {
    pub(super) way: Way,
    pub(super) range: Expression,
    pub(super) name: String,
    /// What is asked of each, if only some are taken.
    pub(super) condition: Option<Expression>,
    /// What becomes of each.
    pub(super) result: Expression,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Int,
    Uint,
    Double,
    Text,
    Bool,
    Any,
    Size,
    Contains,
    StartsWith,
    EndsWith,
}

impl Function {
    /// One that is called with everything in its brackets.
    pub(super) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "int" => Self::Int,
            "uint" => Self::Uint,
            "double" => Self::Double,
            "string" => Self::Text,
            "bool" => Self::Bool,
            "dyn" => Self::Any,
            "size" => Self::Size,
            _ => return None,
        })
    }

    /// One that is called on something.
    pub(super) fn of_member(word: &str, arguments: usize) -> Option<Self> {
        Some(match (word, arguments) {
            ("size", 0) => Self::Size,
            ("contains", 1) => Self::Contains,
            ("startsWith", 1) => Self::StartsWith,
            ("endsWith", 1) => Self::EndsWith,
            _ => return None,
        })
    }
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
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Binary {
    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::More => order.is_gt(),
            _ => order.is_ge(),
        }
    }
}
