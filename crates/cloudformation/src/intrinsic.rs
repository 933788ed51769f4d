//! Values of a template that CloudFormation works out, in the long form that YAML and JSON share.

use bringup_yaml::Value;

/// A mapping with one key.
pub(crate) fn single(key: &str, value: impl Into<Value>) -> Value {
    Value::map([(key, value)])
}

/// A mapping whose values are of different kinds.
pub(crate) fn map(pairs: Vec<(&str, Value)>) -> Value {
    Value::map(pairs)
}

/// The value of a parameter, or the name of a resource.
pub(crate) fn reference(name: &str) -> Value {
    single("Ref", name)
}

/// An attribute of a resource.
pub(crate) fn attribute(resource: &str, name: &str) -> Value {
    single("Fn::GetAtt", Value::list([resource, name]))
}

/// Text with `${NAME}` in it; a constant where there is none.
pub(crate) fn sub(text: impl Into<String>) -> Value {
    let text = text.into();
    if text.contains("${") { single("Fn::Sub", text) } else { text.into() }
}

/// One of two values, by a condition.
pub(crate) fn either(condition: &str, yes: Value, no: Value) -> Value {
    single("Fn::If", Value::List(vec![condition.into(), yes, no]))
}

/// A tag.
pub(crate) fn tag(key: Value, value: Value) -> Value {
    map(vec![("Key", key), ("Value", value)])
}

/// Text that `Fn::Sub` gives back as it is.
pub(crate) fn literal_in_sub(text: &str) -> String {
    text.replace("${", "${!")
}
