//! The user-data of a CloudFormation template, as an instance of a stack in the lab would get it.

use std::collections::BTreeMap;

use bringup_cloudformation::read_with;
use bringup_diag::Severity;

use crate::outcome::Stop;

/// The stack that an instance of the lab is of.
const STACK: &str = "lab";

/// The user-data of the only resource that has some, or of the one that is named; nothing of what is no template.
pub(super) fn user_data(
    name: &str,
    bytes: &[u8],
    resource: Option<&str>,
    parameters: &BTreeMap<String, String>,
    region: &str,
) -> Result<Option<Vec<u8>>, Stop> {
    let Some(reading) = std::str::from_utf8(bytes).ok().and_then(|text| read_with(name, text, parameters))
    else {
        return Ok(None);
    };
    if let Some(wrong) = reading.findings.iter().find(|finding| finding.severity == Severity::Error) {
        return Err(Stop::input(wrong.message.clone()));
    }
    let named: Vec<_> =
        reading.parts.iter().filter(|part| resource.is_none_or(|wanted| part.name == wanted)).collect();
    let names = || reading.parts.iter().map(|part| format!("`{}`", part.name)).collect::<Vec<_>>().join(", ");
    match named.as_slice() {
        [part] if part.is_unknown() => {
            Err(Stop::input("the template's user-data is only known to the stack, and cannot be tried")
                .with_hint("give what an instance got: `bringup try USER-DATA`"))
        }
        [part] => Ok(Some(known(&part.bytes, region))),
        [] if reading.parts.is_empty() => Err(Stop::input("nothing in the template has user-data")),
        [] => Err(Stop::input("no resource of this name has user-data")
            .with_hint(format!("choose with `--group` from {}", names()))),
        _ => Err(Stop::input("more than one resource of the template has user-data")
            .with_hint(format!("choose with `--group` from {}", names()))),
    }
}

/// What every stack knows of itself, filled in.
fn known(bytes: &[u8], region: &str) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(bytes) else { return bytes.to_owned() };
    let values = [
        ("${AWS::StackName}", STACK),
        ("${AWS::Region}", region),
        ("${AWS::Partition}", "aws"),
        ("${AWS::URLSuffix}", "amazonaws.com"),
        ("${AWS::AccountId}", "111122223333"),
    ];
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value)).into_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::user_data;

    const TEMPLATE: &str = r#"{"Parameters": {"Name": {"Type": "String", "Default": "prod"}}, "Resources": {
        "One": {"Type": "AWS::EC2::Instance", "Properties": {"UserData": {"Fn::Base64": {"Fn::Sub": "join ${Name} ${AWS::Region} ${AWS::StackName}"}}}},
        "Two": {"Type": "AWS::EC2::Instance", "Properties": {"UserData": {"Fn::Base64": "plain"}}}}}"#;

    #[test]
    fn an_instance_gets_what_a_stack_would_fill_in() {
        let with = |resource: Option<&str>, given: &[(&str, &str)]| {
            let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            user_data("t.json", TEMPLATE.as_bytes(), resource, &given, "eu-central-1")
        };
        let of = |resource: Option<&str>| with(resource, &[]);
        assert_eq!(of(Some("One")).unwrap().unwrap(), b"join prod eu-central-1 lab");
        assert_eq!(with(Some("One"), &[("Name", "other")]).unwrap().unwrap(), b"join other eu-central-1 lab");
        assert!(with(Some("One"), &[("Nme", "other")]).is_err());
        assert_eq!(of(Some("Two")).unwrap().unwrap(), b"plain");
        assert!(of(None).is_err() && of(Some("Three")).is_err());
        assert!(user_data("x", b"#!/bin/sh\n", None, &BTreeMap::new(), "eu-central-1").unwrap().is_none());
    }
}
