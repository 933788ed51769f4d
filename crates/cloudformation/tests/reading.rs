//! The user-data in templates and in the answers of AWS' command line.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test stops at the first surprise")]

use bringup_cloudformation::{Reading, read};
use proptest::prelude::*;

mod groups;

/// As the fifth seed's: a script with the stack's own values in it, in the short form around the long one.
const SCRIPT: &str = r#"AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  ClusterName: {Type: String, Default: shop}
  BootstrapArguments: {Type: String, Default: ""}
  KeyName: {Type: "AWS::EC2::KeyPair::KeyName"}
Resources:
  NodeLaunchTemplate:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        ImageId: !If [HasNodeImageId, !Ref NodeImageId, !Ref NodeImageIdSSMParam]
        KeyName: !Ref KeyName
        UserData: !Base64
          "Fn::Sub": |
            #!/bin/bash
            set -o xtrace
            /etc/eks/bootstrap.sh ${ClusterName} ${BootstrapArguments}
            echo ${!HOME}
            /opt/aws/bin/cfn-signal --exit-code $? --stack ${AWS::StackName} --resource NodeGroup
"#;

fn one(text: &str) -> (String, Vec<(&'static str, u32)>) {
    let reading = read("t.yaml", text).unwrap();
    let [part] = reading.parts.as_slice() else { panic!("{} parts", reading.parts.len()) };
    let findings = part
        .findings
        .iter()
        .map(|finding| (finding.code.name, finding.place.as_ref().unwrap().span.start.line))
        .collect();
    (String::from_utf8(part.bytes.clone()).unwrap(), findings)
}

/// A template with this user-data and these declarations.
fn user_data(declarations: &str, value: &str) -> String {
    format!(
        "{declarations}\nResources:\n  One:\n    Type: AWS::EC2::Instance\n    Properties:\n      UserData:\n        {value}\n"
    )
}

#[test]
fn the_official_shape_of_a_script() {
    let (text, findings) = one(SCRIPT);
    let expected = "#!/bin/bash\nset -o xtrace\n/etc/eks/bootstrap.sh shop \necho ${HOME}\n\
                    /opt/aws/bin/cfn-signal --exit-code $? --stack ${AWS::StackName} --resource NodeGroup\n";
    assert_eq!(text, expected);
    assert_eq!(findings, [("template/unknown-value", 19)]);
    let reading = read("t.yaml", SCRIPT).unwrap();
    assert_eq!(reading.layers, ["cloudformation"]);
    assert_eq!(reading.parts[0].name, "NodeLaunchTemplate");
    assert_eq!(reading.parts[0].resource_type.as_deref(), Some("AWS::EC2::LaunchTemplate"));
}

#[test]
fn a_fragment_without_its_head_is_read_too() {
    let fragment: String =
        SCRIPT.lines().skip(6).flat_map(|line| [line.strip_prefix("  ").unwrap(), "\n"]).collect();
    let (text, _) = one(&fragment);
    assert!(text.contains("bootstrap.sh ${ClusterName} ${BootstrapArguments}\n"));
}

#[test]
fn functions_give_what_cloudformation_gives() {
    let declarations = r#"
Parameters:
  Name: {Type: String, Default: shop}
  Zones: {Type: CommaDelimitedList, Default: "a, b,c"}
  Image: {Type: "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", Default: /x}
Mappings:
  Sizes: {small: {memory: "512", disks: [x, y]}}
Conditions:
  IsShop: !Equals [!Ref Name, shop]
  IsNot: !Not [!Condition IsShop]
  Both: !And [!Condition IsShop, !Condition IsNot]
  Any: !Or [!Condition IsNot, !Equals [a, a]]
  Unknown: !Equals [!Ref "AWS::Region", eu-west-1]
"#;
    let cases = [
        ("!Base64 plain", "plain"),
        ("Fn::Base64: {'Fn::Join': ['-', [a, !Ref Name, !Ref 'AWS::NoValue', {Ref: Name}]]}", "a-shop-shop"),
        ("!Base64 {'Fn::Sub': ['${x}${Name}', {x: !Join ['', [1, 2]]}]}", "12shop"),
        ("Fn::Base64: !Select [1, !Ref Zones]", "b"),
        ("Fn::Base64: !Select [0, !Split ['|', 'q|r']]", "q"),
        ("Fn::Base64: !Join ['+', !Ref Zones]", "a+b+c"),
        ("Fn::Base64: !FindInMap [Sizes, small, memory]", "512"),
        ("Fn::Base64: !Select [1, !FindInMap [Sizes, small, disks]]", "y"),
        ("Fn::Base64: !FindInMap [Sizes, large, memory, {DefaultValue: '1'}]", "1"),
        ("!If [IsShop, !Base64 yes, !Base64 no]", "yes"),
        ("!If [IsNot, !Base64 yes, !Base64 no]", "no"),
        ("!If [Both, !Base64 yes, !Base64 no]", "no"),
        ("!If [Any, !Base64 yes, !Base64 no]", "yes"),
        ("aGVsbG8=", "hello"),
        // Base64 inside of a text is text.
        ("Fn::Base64: !Join ['', ['x', !Base64 hello]]", "xaGVsbG8="),
    ];
    for (value, expected) in cases {
        assert_eq!(one(&user_data(declarations, value)), (expected.to_owned(), vec![]), "{value}");
    }
    // What stays open is visible, and told with its line.
    let open = [
        ("Fn::Base64: !Ref Image", "${Image}"),
        ("Fn::Base64: !GetAtt Role.Arn", "${Role.Arn}"),
        ("Fn::Base64: {'Fn::GetAtt': [Role, Arn]}", "${Role.Arn}"),
        ("Fn::Base64: !ImportValue shared", "${ImportValue shared}"),
        ("!If [Unknown, !Base64 yes, !Base64 no]", "yes"),
        ("Fn::Base64: !Select [0, !GetAZs '']", "${GetAZs }"),
        ("Fn::Base64: !FindInMap [Sizes, large, memory]", "${Sizes.large.memory}"),
    ];
    for (value, expected) in open {
        let found = one(&user_data(declarations, value));
        assert_eq!(found, (expected.to_owned(), vec![("template/unknown-value", 20)]), "{value}");
    }
    let (text, findings) = one(&user_data(declarations, "!Base64 {'Fn::Sub': '${X:-y} ${!Z}'}"));
    assert_eq!((text.as_str(), findings), ("${X:-y} ${Z}", vec![("template/function", 20)]));
    let (text, findings) = one(&user_data(declarations, "'#!/bin/sh'"));
    assert_eq!((text.as_str(), findings), ("#!/bin/sh", vec![("template/not-base64", 20)]));
    // All of it may be base64, or not: nobody can tell before the stack.
    for value in ["!Ref Secret", "!Sub '${Secret}'"] {
        let (text, findings) = one(&user_data(declarations, value));
        assert_eq!((text.as_str(), findings), ("${Secret}", vec![("template/unknown-value", 20)]), "{value}");
    }
    let (_, findings) = one(&user_data(declarations, "!Sub 'echo ${Secret}'"));
    assert_eq!(findings, [("template/not-base64", 20), ("template/unknown-value", 20)]);
}

#[test]
fn every_holder_of_user_data_is_found() {
    let text = r#"{"Resources": {
        "Config": {"Type": "AWS::AutoScaling::LaunchConfiguration", "Properties": {"UserData": "YQ=="}},
        "Fleet": {"Type": "AWS::EC2::SpotFleet", "Properties": {"SpotFleetRequestConfigData": {"LaunchSpecifications": [
            {"UserData": "Yg=="}, {"UserData": {"Fn::Base64": "c"}}]}}},
        "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {}}}}"#;
    let reading = read("t.json", text).unwrap();
    let found: Vec<(&str, &[u8])> =
        reading.parts.iter().map(|part| (part.name.as_str(), part.bytes.as_slice())).collect();
    assert_eq!(found, [("Config", b"a".as_slice()), ("Fleet[0]", b"b"), ("Fleet[1]", b"c")]);
}

#[test]
fn answers_of_the_command_line_are_unwrapped() {
    let reading = |text: &str| -> Reading { read("answer", text).unwrap() };
    let template =
        r#"{"Resources": {"A": {"Type": "AWS::EC2::Instance", "Properties": {"UserData": "aGk="}}}}"#;
    let object = reading(&format!(r#"{{"TemplateBody": {template}, "StagesAvailable": ["Original"]}}"#));
    assert_eq!(
        (object.layers, object.parts[0].bytes.clone()),
        (vec!["aws-json", "cloudformation"], b"hi".to_vec())
    );
    let string = reading(&serde_json::json!({ "TemplateBody": SCRIPT }).to_string());
    assert_eq!(string.layers, ["aws-json", "cloudformation"]);
    let place = string.parts[0].findings.iter().next().unwrap().place.clone().unwrap();
    assert_eq!((place.file.as_str(), place.span.start.line), ("answer#TemplateBody", 19));
    // `--query …UserData` prints a string; what is inside is for the next reader.
    let bare = reading("\"H4sIAAAA\"\n");
    assert_eq!((bare.layers, bare.parts[0].bytes.clone()), (vec!["aws-json"], b"H4sIAAAA".to_vec()));
    let function = reading(r#"{"Fn::Base64": {"Fn::Sub": "x ${AWS::Region}"}}"#);
    assert_eq!(function.parts[0].bytes, b"x ${AWS::Region}");
    let versions = r#"{"LaunchTemplateVersions": [{"LaunchTemplateName": "nodes", "VersionNumber": 3, "LaunchTemplateData": {"UserData": "aGk="}}]}"#;
    assert_eq!(
        (reading(versions).parts[0].name.as_str(), reading(versions).parts[0].bytes.as_slice()),
        ("nodes:3", b"hi".as_slice())
    );
    let attribute = r#"{"InstanceId": "i-1", "UserData": {"Value": "aGk="}}"#;
    assert_eq!(reading(attribute).parts[0].name, "i-1");
}

#[test]
fn json_with_tabs_and_escaped_pairs_is_read() {
    let text = "{\n\t\"Resources\": {\n\t\t\"A\": {\"Type\": \"AWS::EC2::Instance\", \"Properties\": {\"UserData\": {\"Fn::Base64\": \"\\ud83d\\ude00\\/\"}}}}}";
    assert_eq!(one(text).0, "\u{1f600}/");
}

#[test]
fn other_texts_are_left_alone() {
    for text in [
        "",
        "#cloud-config\nruncmd: [a]\n",
        "#!/bin/sh\n",
        "{\"ignition\": {\"version\": \"3.3.0\"}}",
        "[1]",
        "apiVersion: v1\nkind: Pod\n# AWS::\n",
        "{",
        "Resources: [AWS::]",
    ] {
        assert_eq!(read("x", text), None, "{text}");
    }
    let empty =
        read("x", "AWSTemplateFormatVersion: '2010-09-09'\nResources: {A: {Type: 'AWS::S3::Bucket'}}")
            .unwrap();
    assert_eq!(empty.findings.iter().next().unwrap().code.name, "template/no-user-data");
}

#[test]
fn our_own_templates_are_read_back() {
    for (name, extra) in groups::VARIANTS {
        let template = groups::template(extra);
        for text in [template.to_yaml(), template.to_json()] {
            let reading = read("template", &text).unwrap();
            let [part] = reading.parts.as_slice() else { panic!("{name}") };
            assert_eq!(part.name, "NodeLaunchTemplate");
            let text = String::from_utf8(part.bytes.clone()).unwrap();
            let ignition = name.starts_with("flatcar");
            assert!(text.starts_with(if ignition { "{" } else { "MIME-Version: 1.0\n" }), "{name}: {text}");
            let told = ["signals", "flatcar-control-plane"].contains(name);
            assert_eq!(text.contains("${AWS::StackName}"), told, "{name}");
            assert!(text.len() <= template.user_data_bytes, "{name}");
        }
    }
}

#[test]
fn templates_that_multiply_themselves_end_soon() {
    let mut nested = "x".to_owned();
    for _ in 0..15 {
        nested = format!("{{'Fn::Sub': ['${{a}}${{a}}${{a}}${{a}}', {{a: {nested}}}]}}");
    }
    let (text, _) = one(&user_data("", &format!("Fn::Base64: {nested}")));
    assert!(text.len() <= 1 << 20);
    let condition =
        |number: u32| format!("  C{number}: !And [!Condition C{0}, !Condition C{0}]\n", number + 1);
    let conditions = (0..2000).map(condition).collect::<Vec<_>>().concat();
    let (text, _) =
        one(&user_data(&format!("Conditions:\n{conditions}"), "!If [C0, !Base64 yes, !Base64 no]"));
    assert_eq!(text, "yes");
    let mapping = "Mappings: {M: {a: {b: !FindInMap [M, a, b], c: [!FindInMap [M, a, c]]}}}";
    assert!(read("x", &user_data(mapping, "Fn::Base64: !FindInMap [M, a, c]")).is_some());
}

/// Text that looks like a template, so that random bytes get past the first line.
fn templates() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_owned()),
        Just("\"${A}${!B}${AWS::Region}\"".to_owned()),
        Just("!Ref A".to_owned()),
        Just("1".to_owned()),
        "[ -~]{0,12}".prop_map(|text| format!("{text:?}")),
    ];
    let value = leaf.prop_recursive(6, 40, 4, |inner| {
        let names = prop_oneof![
            Just("Sub"),
            Just("Join"),
            Just("If"),
            Just("Select"),
            Just("Split"),
            Just("FindInMap"),
            Just("Base64"),
            Just("GetAtt"),
            Just("Equals"),
            Just("Other")
        ];
        (names, prop::collection::vec(inner, 0..4), any::<bool>()).prop_map(|(name, items, short)| {
            let list = items.join(", ");
            if short { format!("!{name} [{list}]") } else { format!("{{\"Fn::{name}\": [{list}]}}") }
        })
    });
    (value.clone(), value).prop_map(|(condition, data)| {
        format!(
            "Parameters: {{A: {{Type: String, Default: x}}}}\nConditions: {{a: {condition}}}\nResources: {{R: {{Type: 'AWS::EC2::Instance', Condition: a, Properties: {{UserData: {data}}}}}}}\n"
        )
    })
}

proptest! {
    #[test]
    fn arbitrary_text_is_survived(text in "\\PC{0,200}") {
        let _ = read("x", &text);
        let _ = read("x", &format!("AWS::{text}"));
        let _ = read("x", &format!("{{{text}"));
    }

    #[test]
    fn arbitrary_templates_are_survived(text in templates()) {
        let _ = read("x", &text);
    }

    #[test]
    fn sub_gives_escaped_names_back(pieces in prop::collection::vec("[ -#%-~\\n]{1,9}|[$][{][A-Z]{1,5}[}]", 1..9)) {
        let text = pieces.concat();
        let escaped = text.replace("${", "${!");
        let template = serde_json::json!({"Resources": {"R": {"Type": "AWS::EC2::Instance", "Properties": {
            "UserData": {"Fn::Base64": {"Fn::Sub": escaped}}}}}});
        let reading = read("x", &template.to_string()).unwrap();
        prop_assert_eq!(&reading.parts[0].bytes, text.as_bytes());
    }
}

#[test]
fn what_only_the_stack_knows_is_told_at_its_own_letters() {
    let place = |value: &str| {
        let reading = read("t.yaml", &user_data("Description: x", value)).unwrap();
        let found: Vec<(u32, u32, u32)> = reading.parts[0]
            .findings
            .iter()
            .map(|finding| {
                let span = finding.place.as_ref().unwrap().span;
                (span.start.line, span.start.column, span.end.column)
            })
            .collect();
        found
    };
    // The value stands on line 7, from column 9 on.
    assert_eq!(place("!Base64 {'Fn::Sub': 'echo ${A} é ${!B} ${C}'}"), [(7, 35, 39), (7, 48, 52)]);
    assert_eq!(place("Fn::Base64: !Sub echo ${A}"), [(7, 31, 35)]);
    let block = "Fn::Base64:\n          Fn::Sub: |\n            #!/bin/sh\n            echo ${!HOME}\n              run ${A} ${B}\n";
    assert_eq!(place(block), [(11, 19, 23), (11, 24, 28)]);
    // Of a block with a tag only the lines are known.
    let tagged = "Fn::Base64: !Sub |\n          #!/bin/sh\n          run ${A}\n";
    assert_eq!(place(tagged), [(9, 1, 1)]);
    // With an escape in it the letters are not those of the file: all of it is the place.
    assert_eq!(place("!Base64 {'Fn::Sub': \"a\\tb ${A}\"}").len(), 1);
}
