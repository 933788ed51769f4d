//! What may be typed.

use std::ffi::OsString;
use std::path::PathBuf;

use bringup_spec::Phase;
use clap::{Args, Parser, Subcommand};

use crate::preflight;

/// Brings this machine up to a Kubernetes node.
#[derive(Debug, Parser)]
#[command(name = "bringup-node", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Follows the plan
    Up(Up),
    /// Shows what `up` would do now, and does nothing; ends with 1 if something would change
    Explain(Explain),
    /// Undoes what `up` did, asking first
    Reset(Reset),
    /// Says what happened, what is happening and why it is stuck
    Status(Status),
    /// Prints a bearer token for an EKS cluster, made from the instance's credentials
    Token(Token),
    /// Joins an EKS cluster as the image's `bootstrap.sh` does, with all of its flags
    #[command(disable_help_flag = true, override_usage = "bringup-node bootstrap CLUSTER [FLAGS]", after_help = crate::commands::bootstrap::help())]
    Bootstrap(Bootstrap),
    /// Tells a CloudFormation stack how something ended, as `cfn-signal` does
    Signal(Signal),
    /// Becomes another program whose output goes to a file
    #[command(hide = true)]
    Exec(Exec),
    /// Prints completions for a shell
    Completions(Completions),
    /// Writes the manual pages
    Man(Man),
}

/// The machine, or a directory that stands for it.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Works beneath this directory instead of `/`: files only, no units and no programs
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub(crate) root: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Up {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Starts with this phase
    #[arg(long, value_name = "PHASE", value_parser = phase)]
    pub(crate) from: Option<Phase>,
    /// Ends with this phase
    #[arg(long, value_name = "PHASE", value_parser = phase)]
    pub(crate) until: Option<Phase>,
    /// Takes facts from this file instead of asking the platform
    #[arg(long, value_name = "FILE")]
    pub(crate) facts: Option<PathBuf>,
    /// Follows this plan instead of `/etc/bringup/plan.json`
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Follows the plan of these NodeConfigs, laid over each other: files, directories, `imds://user-data`
    #[arg(long, value_name = "SOURCE", num_args = 1.., conflicts_with = "plan")]
    pub(crate) config: Vec<String>,
    /// Tries again what was given up in this boot
    #[arg(long)]
    pub(crate) again: bool,
    /// Goes on although these checks fail; `all` stands for every one
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = check)]
    pub(crate) ignore_preflight: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Ends with this phase
    #[arg(long, value_name = "PHASE", value_parser = phase)]
    pub(crate) until: Option<Phase>,
    /// Takes facts from this file instead of asking the platform
    #[arg(long, value_name = "FILE")]
    pub(crate) facts: Option<PathBuf>,
    /// Looks at this plan instead of `/etc/bringup/plan.json`
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Looks at the plan of these NodeConfigs, as `up` does
    #[arg(long, value_name = "SOURCE", num_args = 1.., conflicts_with = "plan")]
    pub(crate) config: Vec<String>,
    /// How it is printed
    #[arg(long, value_name = "FORM", default_value = "human", value_parser = ["human", "json"])]
    pub(crate) output: String,
}

#[derive(Debug, Args)]
pub(crate) struct Reset {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Asks nobody
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Prints `status.json` as it is
    #[arg(long, value_name = "FORM", default_value = "human", value_parser = ["human", "json"])]
    pub(crate) output: String,
}

#[derive(Debug, Args)]
pub(crate) struct Token {
    /// The cluster's name
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: String,
    /// Its region
    #[arg(long, value_name = "REGION")]
    pub(crate) region: String,
    /// The role that the cluster knows, where it is not the instance's own
    #[arg(long, value_name = "ARN")]
    pub(crate) role: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Bootstrap {
    /// The cluster's name, and flags as the script has them
    #[arg(value_name = "WORD", allow_hyphen_values = true, trailing_var_arg = true)]
    pub(crate) words: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Signal {
    /// How it ended: 0 is a success
    #[arg(long, short = 'e', value_name = "CODE")]
    pub(crate) exit_code: u32,
    /// The stack's name
    #[arg(long, value_name = "NAME")]
    pub(crate) stack: String,
    /// The resource that waits
    #[arg(long, value_name = "NAME")]
    pub(crate) resource: String,
    /// The stack's region, where it is not the instance's own
    #[arg(long, value_name = "REGION")]
    pub(crate) region: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// The file that its output is added to
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "WORD")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The directory to write the pages to; without it, the main page goes to standard output
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

pub(crate) fn phase(text: &str) -> Result<Phase, String> {
    Phase::ALL.iter().copied().find(|phase| phase.to_string() == text).ok_or_else(|| {
        let names: Vec<String> = Phase::ALL.iter().map(ToString::to_string).collect();
        format!("no phase has this name; there are {}", names.join(", "))
    })
}

fn check(text: &str) -> Result<String, String> {
    if text == preflight::ALL || preflight::names().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    let names: Vec<&str> = preflight::names().chain([preflight::ALL]).collect();
    Err(format!("no check has this name; there are {}", names.join(", ")))
}
