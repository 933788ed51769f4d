//! What was typed. Reading it touches nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

/// From first boot to a registered, healthy Kubernetes node.
///
/// One document says what the nodes of a cluster are. `bringup build` compiles it to a plan for each kind of node and
/// renders what carries the plan there: cloud-init user-data, Ignition, CloudFormation, a bundle.
#[derive(Debug, Parser)]
#[command(name = "bringup", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// When to use colour; `NO_COLOR` is respected
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorWish::Auto, alias = "colour")]
    pub(crate) color: ColorWish,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  good, warnings included
  1  the answer is no: over budget, differs, failed
  2  the call or the input is wrong
  3  not finished: paused, in progress";

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWish {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Validate, compile and render every node group, and write a report
    Build(Build),
    /// Render one node group in one form to standard output
    Render(Render),
    /// Decode anybody's user-data, Ignition config or template and show what it would do, in order
    Inspect(Inspect),
    /// Show what changes on the nodes between two documents, plans or carriers
    Diff(Diff),
    /// Say where each value of a plan came from, or what a finding means
    Explain(Explain),
    /// Write a document to begin with
    Init(Init),
    /// Print the JSON Schema of a document or of an output
    Schema(Schema),
    /// Write another system's documents as Bringup's
    Convert(Convert),
    /// Boot it for real in a container and say whether the node comes up, and in which order
    Try(Box<TryOut>),
    /// Lay out plans and agents for upload and print their addresses and digests
    Publish(Publish),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Write the manual pages
    #[command(hide = true)]
    Man(Man),
}

impl Command {
    /// How the result is to be told, a failure included.
    pub(crate) fn form(&self) -> ReportForm {
        let form = match self {
            Self::Build(arguments) => return arguments.output,
            Self::Inspect(arguments) => arguments.output,
            Self::Diff(arguments) => arguments.output,
            Self::Explain(arguments) => arguments.output,
            Self::Init(arguments) => arguments.output,
            Self::Publish(arguments) => arguments.output,
            Self::Try(arguments) => arguments.output,
            Self::Convert(_) | Self::Render(_) | Self::Schema(_) | Self::Completions(_) | Self::Man(_) => {
                Form::Human
            }
        };
        match form {
            Form::Human => ReportForm::Human,
            Form::Json => ReportForm::Json,
        }
    }
}

/// An address that files can be laid out beneath.
fn base_url(text: &str) -> Result<String, String> {
    let authority = ["https://", "http://", "s3://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let names_host = authority
        .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '['));
    // Names of files are put behind it, which would become part of a query.
    let breaks = |letter: char| letter.is_whitespace() || letter.is_control() || matches!(letter, '?' | '#');
    if names_host && !text.contains(breaks) {
        return Ok(text.to_owned());
    }
    Err("it is no address; write one such as `https://mirror.example/bringup`".to_owned())
}

/// How to tell results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    Human,
    /// For programs: see `bringup schema`
    Json,
}

/// How to tell results that are mostly findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportForm {
    /// For people
    Human,
    /// For programs: see `bringup schema build`
    Json,
    /// Findings for code hosts, SARIF 2.1.0
    Sarif,
}

/// Which node groups of a document are meant, and where its files are.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Selection {
    /// Only this cluster, where a file has several
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
    /// Only this node group
    #[arg(long, value_name = "NAME")]
    pub(crate) group: Option<String>,
    /// Where `src` of files and parts is looked up [default: the document's folder]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) files_dir: Option<PathBuf>,
    /// A further file of the same input: another system's instance groups, or `Additions` to its documents
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) with: Vec<PathBuf>,
    /// A value for a parameter of a CloudFormation template, as who deploys it gives it
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter)]
    pub(crate) parameter: Vec<(String, String)>,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Selection {
    /// Values for parameters of templates.
    pub(crate) fn parameters(&self) -> BTreeMap<String, String> {
        self.parameter.iter().cloned().collect()
    }
}

/// What to convert to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// The Bringup document
    Bringup,
}

/// `bringup convert`
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// Documents of eksctl, kops or tkestack, Ignition configs, units or a directory of them; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// What to write
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Target::Bringup)]
    pub(crate) to: Target,
    /// Where to write [default: standard output]
    #[arg(short = 'o', long = "output-file", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: Selection,
}

/// `bringup build`
#[derive(Debug, Args)]
pub(crate) struct Build {
    /// Documents; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// Where to write
    #[arg(short = 'o', long = "output-dir", value_name = "DIR", default_value = "bringup-out", value_hint = ValueHint::DirPath)]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Where nodes fetch what `bringup publish` lays out
    #[arg(long, value_name = "URL", value_parser = base_url, value_hint = ValueHint::Url)]
    pub(crate) base_url: Option<String>,
    /// Fail if there are warnings
    #[arg(long)]
    pub(crate) strict: bool,
    /// How to tell the result
    #[arg(long, value_enum, value_name = "FORM", default_value_t = ReportForm::Human)]
    pub(crate) output: ReportForm,
}

/// What `render` can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// One cloud-config document
    CloudInit,
    /// Multipart MIME user-data
    Multipart,
    /// An Ignition config
    Ignition,
    /// A CloudFormation template in YAML
    Cloudformation,
    /// A CloudFormation template in JSON
    CloudformationJson,
    /// A tar for SSH and for images
    Bundle,
    /// User-data for the node agent of EKS images
    Nodeconfig,
    /// The plan itself
    Plan,
}

/// `bringup render`
#[derive(Debug, Args)]
pub(crate) struct Render {
    /// The document; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// What to make
    #[arg(long = "as", value_enum, value_name = "KIND")]
    pub(crate) kind: Kind,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Where nodes fetch what `bringup publish` lays out
    #[arg(long, value_name = "URL", value_parser = base_url, value_hint = ValueHint::Url)]
    pub(crate) base_url: Option<String>,
    /// Compress it
    #[arg(long)]
    pub(crate) gzip: bool,
    /// Encode it in base64, after compression, even if the document does not ask for it
    #[arg(long)]
    pub(crate) base64: bool,
}

/// `bringup inspect`
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// User-data, an Ignition config, a template, a bundle or a plan, however encoded; `-` is standard input
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
    /// How to tell the result; JSON holds commands as they are run, unmasked
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Human)]
    pub(crate) output: Form,
}

/// `bringup diff`
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// A document, a directory of `build`, a plan or a carrier; `-` is standard input
    #[arg(value_name = "OLD", value_hint = ValueHint::AnyPath)]
    pub(crate) old: PathBuf,
    /// The same, as it is to be
    #[arg(value_name = "NEW", value_hint = ValueHint::AnyPath)]
    pub(crate) new: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How to tell the result
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Human)]
    pub(crate) output: Form,
}

/// `bringup explain`
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A document, or the code of a finding such as `kubelet/flag-removed`
    #[arg(value_name = "FILE|CODE", value_hint = ValueHint::FilePath)]
    pub(crate) what: PathBuf,
    /// Only values whose subject, origin or path contains this
    #[arg(value_name = "SUBJECT")]
    pub(crate) subject: Option<String>,
    /// Draw what runs at boot and what waits for what, instead
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "subject")]
    pub(crate) graph: Option<GraphForm>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How to tell the result
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Human, conflicts_with = "graph")]
    pub(crate) output: Form,
}

/// How to draw a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphForm {
    /// For a terminal
    Text,
    /// For pages that draw Mermaid
    Mermaid,
    /// A picture
    Svg,
    /// For Graphviz
    Dot,
}

/// What `init` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Starter {
    /// Workers of an EKS cluster
    Eks,
    /// Nodes that join with kubeadm
    Kubeadm,
    /// Flatcar with Ignition
    Flatcar,
}

/// `bringup init`
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The file, or the directory for a `cluster.yaml`
    #[arg(value_name = "FILE|DIR", default_value = ".", value_hint = ValueHint::AnyPath)]
    pub(crate) place: PathBuf,
    /// What kind of nodes to begin with
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Starter::Eks)]
    pub(crate) starter: Starter,
    /// The cluster's name
    #[arg(long, value_name = "NAME", default_value = "example")]
    pub(crate) name: String,
    /// The version of Kubernetes
    #[arg(long, value_name = "VERSION", default_value = "1.33")]
    pub(crate) kubernetes: String,
    /// How to tell the result
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Human)]
    pub(crate) output: Form,
}

/// `bringup schema`
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Of what: `cluster` is the document; leave it out for a list
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// `bringup publish`
#[derive(Debug, Args)]
pub(crate) struct Publish {
    /// A directory that `build` wrote
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) directory: PathBuf,
    /// Where to write what is to be uploaded [default: DIR/publish]
    #[arg(short = 'o', long = "output-dir", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) target: Option<PathBuf>,
    /// The address that the upload will have
    #[arg(long, value_name = "URL", value_parser = base_url, value_hint = ValueHint::Url)]
    pub(crate) base_url: Option<String>,
    /// An agent to publish, `bringup-node-x86_64` or `bringup-node-aarch64`; may be given several times
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) agent: Vec<PathBuf>,
    /// How to tell the result
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Human)]
    pub(crate) output: Form,
}

/// `bringup try`
#[derive(Clone, Debug, Args)]
pub(crate) struct TryOut {
    /// A document, or anybody's user-data
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// The agent [default: the one beside this program]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) agent: Option<PathBuf>,
    /// A kubelet to run; without it, a stand-in records how it was called and answers health
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) kubelet: Option<PathBuf>,
    /// A folder with kubelet, kube-apiserver, kube-controller-manager and kubectl: the node joins a cluster of its own
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "stand_in")]
    pub(crate) kubernetes: Option<PathBuf>,
    /// How the stand-in misbehaves: `dies-after=N`, `never-answers`, `answers-500`, `starts-early`
    #[arg(long, value_name = "HOW", conflicts_with = "kubelet")]
    pub(crate) stand_in: Option<String>,
    /// The instance type that the metadata service tells
    #[arg(long, value_name = "TYPE")]
    pub(crate) instance_type: Option<String>,
    /// The instance's id
    #[arg(long, value_name = "ID")]
    pub(crate) instance_id: Option<String>,
    /// Where to keep the machine's disk; one that is there is booted again
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) machine: Option<PathBuf>,
    /// What a URL gives inside the container; may be given several times
    #[arg(long, value_name = "URL=FILE")]
    pub(crate) serve: Vec<String>,
    /// A file that the image has; may be given several times
    #[arg(long, value_name = "PATH=FILE")]
    pub(crate) file: Vec<String>,
    /// How often to boot again after the node came up
    #[arg(long, value_name = "TIMES", default_value_t = 0, default_missing_value = "1", num_args = 0..=1)]
    pub(crate) reboot: u32,
    /// Cuts the power when this step begins, or this unit starts, once, and boots again; may be given several times
    #[arg(long, value_name = "STEP")]
    pub(crate) power_cut: Vec<String>,
    /// Kills the agent, or what runs the steps without it, when this step begins or this unit starts, once; may be given several times
    #[arg(long, value_name = "STEP")]
    pub(crate) kill: Vec<String>,
    /// Makes the first N attempts at a step fail
    #[arg(long, value_name = "STEP=N")]
    pub(crate) fail: Vec<String>,
    /// Makes each attempt at a step take so much longer
    #[arg(long, value_name = "STEP=T")]
    pub(crate) slow: Vec<String>,
    /// Ends a boot once this was seen: a step or unit, and what happened to it; several: all of them
    #[arg(long, value_name = "WHO=WHAT")]
    pub(crate) until: Vec<String>,
    /// How the metadata service fails: `down=T`, `401`, `403`, `404`, `429`, `500`, `slow=T`, `garbage`
    #[arg(long, value_name = "HOW")]
    pub(crate) metadata_fault: Option<String>,
    /// Opens a shell in the machine when there is nothing more to see, or when the agent waits for you
    #[arg(long, conflicts_with = "output")]
    pub(crate) shell: bool,
    /// How many seconds one boot may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) patience: u64,
    /// Where to write the timeline as JSON, SVG and HTML
    #[arg(short = 'o', long = "output-dir", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
    /// How to tell the result
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Human)]
    pub(crate) output: Form,
}

/// `bringup completions`
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// `bringup man`
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The directory to write the pages to; without it, the main page goes to standard output
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
}
