//! The words of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// The reply was lost and the caller retries: does it happen twice?
#[derive(Debug, Parser)]
#[command(name = "nottwice", version, about, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play scenarios against a target and judge it
    Run(Box<Run>),
    /// Read scenario and target files without starting anything
    Check {
        /// Files, or folders of scenarios; the shipped ones if none is named
        files: Vec<PathBuf>,
    },
    /// Show what there is
    List {
        /// What to list
        #[arg(value_enum, default_value = "scenarios")]
        what: Listed,
    },
    /// Say what a clause, scenario, defect, preset or exit code is about
    Explain {
        /// Its name; a preset is named like preset:ietf-07
        name: String,
    },
    /// Judge recorded runs again, without starting anything
    Judge {
        /// Records, as `nottwice run` wrote them
        #[arg(required = true)]
        records: Vec<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Play a recorded run again, with fresh keys
    Replay {
        /// A record, as `nottwice run` wrote it
        record: PathBuf,
        /// The target file, if it is no longer where the record says
        #[arg(long)]
        target: Option<String>,
        #[command(flatten)]
        runs: Runs,
        #[command(flatten)]
        output: Output,
    },
    /// Play every scenario against the reference and each of its defects, and show which clause names which
    Matrix {
        #[command(flatten)]
        jobs: Jobs,
    },
    /// Stand between a client and a server, and do faults to the messages that a file of rules names
    Proxy(Proxy),
    /// Play one defect of the reference server and show the failing report
    Demo {
        /// Which; `nottwice list defects` shows them
        #[arg(default_value = "commits-effect-then-receipt")]
        defect: String,
        #[command(flatten)]
        output: Output,
    },
    /// Hold the write lock of an SQLite database until standard input ends
    #[command(hide = true)]
    HoldLock {
        /// The database
        database: PathBuf,
    },
    /// Serve the embedded reference server
    #[command(hide = true)]
    Serve {
        /// What it is to serve
        arguments: Vec<String>,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Listed {
    Scenarios,
    Targets,
    Clauses,
    Defects,
    Presets,
    Formats,
}

/// How a verdict is shown.
#[derive(Debug, Clone, Args)]
pub(crate) struct Output {
    /// How it is shown; `nottwice list formats` shows the choice
    #[arg(long, default_value = "human")]
    pub(crate) format: String,
}

/// Where runs are recorded.
#[derive(Debug, Clone, Args)]
pub(crate) struct Runs {
    /// The folder in which runs are recorded
    #[arg(long, default_value = "reports/runs")]
    pub(crate) runs: PathBuf,
}

/// How many plans are played side by side.
#[derive(Debug, Clone, Args)]
pub(crate) struct Jobs {
    /// How many plans are played at a time
    #[arg(long)]
    pub(crate) jobs: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The target file, or the name of a shipped one, like reference-stdio or
    /// reference-http+ignores-the-key; the embedded reference over HTTP if none is named
    pub(crate) target: Option<String>,
    /// Only scenarios whose name contains one of these, or that exercise this clause
    pub(crate) filter: Vec<String>,
    /// Scenario files or folders to play instead of the shipped ones
    #[arg(long)]
    pub(crate) scenarios: Vec<PathBuf>,
    /// The seed of every random choice
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// How often each scenario is played, every time with fresh keys
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,
    #[command(flatten)]
    pub(crate) runs: Runs,
    #[command(flatten)]
    pub(crate) jobs: Jobs,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) ad_hoc: AdHoc,
}

#[derive(Debug, Args)]
pub(crate) struct Proxy {
    /// The file of rules
    pub(crate) rules: PathBuf,
    /// The file that the log is written to; standard error if none is named
    #[arg(long)]
    pub(crate) log: Option<PathBuf>,
    /// The command that starts a server of MCP over stdio
    #[arg(last = true, value_name = "COMMAND", required = true)]
    pub(crate) start: Vec<String>,
}

/// A target told in flags, for a first look without a file.
#[derive(Debug, Args)]
#[command(next_help_heading = "A target without a file")]
pub(crate) struct AdHoc {
    /// The base address of a running HTTP server on this machine
    #[arg(long, conflicts_with = "start")]
    pub(crate) url: Option<String>,
    /// The MCP tool, or for HTTP the route, like "POST /notes"
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Its arguments as JSON, with {label} in a text that the store keeps
    #[arg(long)]
    pub(crate) arguments: Option<String>,
    /// Where the key sits: arguments:/pointer, header:NAME or none
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// The server's SQLite database, like "{state}/notes.db"
    #[arg(long)]
    pub(crate) sqlite: Option<String>,
    /// The query that counts effects, with columns id and label
    #[arg(long)]
    pub(crate) effects: Option<String>,
    /// A variable of the server's environment, like "DB={state}/notes.db"; a name alone passes on your own,
    /// whose value is not written down
    #[arg(long = "env", value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,
    /// The command that starts an MCP server over stdio
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) start: Vec<String>,
}

impl AdHoc {
    /// Whether the target is told in flags rather than in a file.
    pub(crate) fn is_used(&self) -> bool {
        self.url.is_some() || self.tool.is_some() || !self.start.is_empty()
    }
}
