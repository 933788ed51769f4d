"""CloudFormation: cfn-lint finds nothing, and the YAML and JSON forms say the same."""

import json
import pathlib
import subprocess
import sys

import products
import yaml

CFN_LINT = pathlib.Path(sys.executable).with_name("cfn-lint")


class Template(yaml.SafeLoader):
    """YAML with CloudFormation's short tags, which become the long form that JSON has."""


def long_form(loader, suffix, node):
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


Template.add_multi_constructor("!", long_form)
# A version such as 2010-09-09 is text to CloudFormation.
Template.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in Template.yaml_implicit_resolvers.items()
}


def linted(path):
    command = [CFN_LINT, "--non-zero-exit-code", "informational", "--include-checks", "I", "--format", "parseable", path]
    done = subprocess.run(command, capture_output=True, timeout=120, text=True)
    if done.returncode != 0 or done.stdout.strip():
        raise products.Differs(f"cfn-lint: exit {done.returncode}\n{(done.stdout + done.stderr).strip()}")


def equal(path):
    ours = yaml.load(path.read_text(), Template)
    products.same(ours, json.loads(path.with_suffix(".json").read_text()), "YAML and JSON")


def cases(made):
    for name, path in made.files("template.yaml", "template.json"):
        yield f"cfn-lint {name}", lambda path=path: linted(path)
    for name, path in made.files("template.yaml"):
        if path.with_suffix(".json").exists():
            yield f"forms {name}", lambda path=path: equal(path)
