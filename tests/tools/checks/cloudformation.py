"""CloudFormation: cfn-lint finds nothing, both forms say the same, and every user-data in it does what `inspect` says."""

import json
import pathlib
import subprocess
import sys

import products
import sandbox
import yaml
from checks import cloud_init, ignition
from real_cloud_init import without_base64

TEMPLATES = products.TOP / "target/debug/examples/templates"
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


def linted(*paths):
    command = [CFN_LINT, "--non-zero-exit-code", "informational", "--include-checks", "I", "--format", "parseable", *paths]
    done = subprocess.run(command, capture_output=True, timeout=120, text=True)
    if done.returncode != 0 or done.stdout.strip():
        raise products.Differs(f"cfn-lint: exit {done.returncode}\n{(done.stdout + done.stderr).strip()}")


def equal(path):
    ours = yaml.load(path.read_text(), Template)
    products.same(ours, json.loads(path.with_suffix(".json").read_text()), "YAML and JSON")


def user_data(value):
    """The bytes of a UserData property; what a substitution would put in is left as it is written."""
    if isinstance(value, str):
        return value.encode()
    (function, argument), = value.items()
    if function == "Fn::Join":
        return argument[0].encode().join(user_data(item) for item in argument[1])
    if function == "Fn::Sub" and isinstance(argument, list):
        argument = argument[0]
    return user_data(argument)


def pieces(path):
    """Each user-data of a template by the logical id of its resource."""
    template = yaml.load(path.read_text(), Template)
    found = {}
    for name, resource in template.get("TemplateBody", template)["Resources"].items():
        properties = resource.get("Properties", {})
        data = properties.get("LaunchTemplateData", properties).get("UserData")
        if data is not None:
            found[name] = without_base64(user_data(data))
    return found


def applied(path, running):
    """Every user-data of the template does what `inspect` says of its part."""
    ours, found = products.inspect(path), pieces(path)
    parts = ours.get("parts", [ours])
    if "parts" in ours:
        products.same([part["name"] for part in parts], list(found), "parts")
    assert len(parts) == len(found) > 0, f"{len(parts)} parts of {len(found)} resources with user-data"
    for part, data in zip(parts, found.values()):
        if data.lstrip().startswith(b"{"):
            ignition.agrees(part, data)
        else:
            cloud_init.agrees(part, data, running=running)


def variants(folder):
    """Templates of node groups of more kinds than the examples have."""
    folder.mkdir()
    for name, forms in json.loads(sandbox.run([TEMPLATES], 60)).items():
        for form, text in forms.items():
            (folder / f"{name}.{form}").write_text(text)
        equal(folder / f"{name}.yaml")
    linted(*sorted(folder.iterdir()))


def cases(made):
    yield "cfn-lint many kinds of group", lambda: variants(made.scratch / "templates")
    for name, path in products.foreign("cloudformation"):
        yield f"user-data of {name}", lambda path=path: applied(path, None)
    for name, path in made.files("template.yaml", "template.json"):
        # A call of the image's script has nothing of ours in it.
        whose = None if "BootstrapArguments" in path.read_text() else "ours"
        yield f"user-data of {name}", lambda path=path, whose=whose: applied(path, whose)
    # All in one run: most of its time is the start.
    paths = [path for _, path in made.files("template.yaml", "template.json")]
    yield f"cfn-lint {len(paths)} templates of the examples", lambda: linted(*paths)
    for name, path in made.files("template.yaml"):
        if path.with_suffix(".json").exists():
            yield f"forms {name}", lambda path=path: equal(path)
