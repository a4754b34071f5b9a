//! Arguments that commands share.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};
use oncemore_run::assess::Allow;
use oncemore_run::{ClaimOptions, PlanOptions, RangeRequest, RunError, RunOptions, Selection};

use crate::commands::Command;
use crate::render::number::{parse_duration, parse_memory};
use crate::ui::{Color, Output};
use crate::world::{command_line, user};

/// Run it once more. Same result.
///
/// Data pipelines that can be re-run: for any interval, any number of times, after any crash, with any later version
/// of the code, and the tables end up exactly as one clean run would leave them.
#[derive(Debug, Parser)]
#[command(name = "oncemore", version, propagate_version = true, max_term_width = 110, after_help = EXIT_CODES)]
pub struct Cli {
    /// For all commands.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 something to do (`plan --exit-code`), 2 wrong use or a limit, 3 project or SQL wrong, 4 conflict: \
retry, 5 audit failed, 6 outcome unknown: `oncemore resolve`, 7 task failed, 70 a bug of ours, 130 interrupted.";

/// Arguments of every command.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// The project's folder; by default the nearest one upward that holds `oncemore.yml`.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub project: Option<PathBuf>,
    /// Form of the data on stdout.
    #[arg(long, global = true, value_enum, default_value_t = Output::Text, help_heading = "Everywhere")]
    pub output: Output,
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, help_heading = "Everywhere")]
    pub color: Color,
    /// An environment (not built yet).
    #[arg(long, global = true, value_name = "NAME", hide = true)]
    pub env: Option<String>,
}

/// A range of time.
#[derive(Clone, Debug, Default, Args)]
pub struct RangeArgs {
    /// First moment of the range: a date (midnight in each model's zone), a local time or an instant.
    #[arg(long, value_name = "TIME", help_heading = "Range")]
    pub from: Option<String>,
    /// End of the range, exclusive.
    #[arg(long, value_name = "TIME", help_heading = "Range")]
    pub to: Option<String>,
    /// A day `2013-03-01`, month `2013-03`, quarter `2013-Q1`, year `2013` or hour `2013-03-01T05`.
    #[arg(long, value_name = "INTERVAL", conflicts_with_all = ["from", "to"], help_heading = "Range")]
    pub interval: Option<String>,
}

impl RangeArgs {
    /// The range as the planner takes it.
    pub fn request(&self) -> RangeRequest {
        RangeRequest { from: self.from.clone(), to: self.to.clone(), interval: self.interval.clone() }
    }
}

/// Models.
#[derive(Clone, Debug, Default, Args)]
pub struct SelectionArgs {
    /// Models: `m`, `+m` and what it reads, `m+` and its readers, `schema.*`, `tag:x`; all by default.
    #[arg(value_name = "SELECTION")]
    pub include: Vec<String>,
    /// Without these.
    #[arg(long, value_name = "SELECTION")]
    pub exclude: Vec<String>,
}

impl SelectionArgs {
    /// The selection as the planner takes it.
    pub fn selection(&self) -> Selection {
        Selection { include: self.include.clone(), exclude: self.exclude.clone() }
    }
}

/// Order of intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// Earliest interval first.
    Oldest,
    /// Latest interval first.
    Newest,
}

/// What `--stale-parents` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StaleParents {
    /// Read them as they are.
    Ok,
}

/// Arguments that `plan` and `run` share: `run` does what `plan` prints.
#[derive(Clone, Debug, Args)]
pub struct WorkArgs {
    /// Models.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Range of time.
    #[command(flatten)]
    pub range: RangeArgs,
    /// Only slices with this reason.
    #[arg(long, value_delimiter = ',', value_parser = ["never-ran", "code", "input", "gone", "audits", "failed", "forced"])]
    pub reason: Vec<String>,
    /// Run what is fresh, too.
    #[arg(long)]
    pub force: bool,
    /// How to run it.
    #[command(flatten)]
    pub how: HowArgs,
}

/// How slices are run, whichever they are.
#[derive(Clone, Debug, Args)]
pub struct HowArgs {
    /// Run without files that have vanished.
    #[arg(long)]
    pub accept_gone: bool,
    /// Let this code replace what newer code made.
    #[arg(long)]
    pub allow_older_code: bool,
    /// Replace rows that somebody else wrote.
    #[arg(long)]
    pub replace_foreign: bool,
    /// Run although a parent outside the selection is stale.
    #[arg(long, value_enum, value_name = "ok")]
    pub stale_parents: Option<StaleParents>,
    /// Go beyond `limits.tasks`.
    #[arg(long, short)]
    pub yes: bool,
    /// Slices worked on at the same time; by default the number of cores.
    #[arg(long, short, allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Memory for computing, `256MB` or `2GB`; what does not fit spills to disk.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, default_value = "1GB")]
    pub memory: usize,
    /// Which intervals come first.
    #[arg(long, value_enum, default_value_t = Order::Oldest)]
    pub order: Order,
    /// Stop after so many failures.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_failures: Option<u64>,
    /// Name of the request: a retry under the same name keeps its number, so that it never beats a newer request.
    #[arg(long, value_name = "KEY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub request: Option<String>,
    /// Wait so long for other runs that work on the same slices: `90s`, `10m`; without it that ends the run.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub wait: Option<Duration>,
    /// Publish each slice in a commit of its own.
    #[arg(long)]
    pub single_commits: bool,
}

impl WorkArgs {
    /// What is to be planned.
    pub fn plan_options(&self) -> PlanOptions {
        let plan = self.how.plan_options();
        PlanOptions {
            range: self.range.request(),
            selection: self.selection.selection(),
            reasons: self.reason.clone(),
            allow: Allow { force: self.force, ..plan.allow },
            ..plan
        }
    }

    /// How to run it.
    pub fn run_options(&self, cores: usize) -> RunOptions {
        RunOptions { plan: self.plan_options(), ..self.how.run_options(cores) }
    }
}

impl HowArgs {
    fn plan_options(&self) -> PlanOptions {
        PlanOptions {
            allow: Allow {
                gone: self.accept_gone,
                older_code: self.allow_older_code,
                foreign: self.replace_foreign,
                force: false,
            },
            newest_first: self.order == Order::Newest,
            ..PlanOptions::default()
        }
    }

    /// How to run whatever is to be run.
    pub fn run_options(&self, cores: usize) -> RunOptions {
        RunOptions {
            plan: self.plan_options(),
            jobs: self.jobs.map_or(cores, usize::from),
            max_failures: self.max_failures.map(|number| usize::try_from(number).unwrap_or(usize::MAX)),
            request: self.request.clone(),
            yes: self.yes,
            stale_parents_ok: self.stale_parents.is_some(),
            single_commits: self.single_commits,
            claims: ClaimOptions { user: user(), command: command_line(), wait: self.wait },
        }
    }
}

impl Global {
    /// Refuses what is designed and not built yet, and what a command can't write.
    ///
    /// # Errors
    /// `--env`; `--output sarif` or `github` of another command than `lint`.
    pub fn check(&self, command: &Command) -> Result<(), RunError> {
        if matches!(self.output, Output::Sarif | Output::Github) && !matches!(command, Command::Lint(_)) {
            return Err(RunError::usage(
                "only `lint` writes SARIF and annotations of GitHub",
                "write `--output json`, or leave it out",
            ));
        }
        match &self.env {
            None => Ok(()),
            Some(name) => Err(RunError::usage(
                format!("environments are not built yet: `--env {name}`"),
                "leave it out: every command works on the project's own tables",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

    use clap::{CommandFactory, Parser};

    use super::Cli;
    use crate::commands::{Command, NOT_BUILT, not_built};

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn plan_and_run_take_the_same_flags() {
        let line = "gold.* +silver.x --exclude tag:slow --from 2013-03-01 --to 2013-04-01 --reason code,input --force \
                    --accept-gone --allow-older-code --replace-foreign --stale-parents ok --yes --jobs 4 --memory 256MB \
                    --order newest --max-failures 3 --request nightly --wait 10m --single-commits --output json";
        let parse =
            |verb: &str| Cli::try_parse_from(["oncemore", verb].into_iter().chain(line.split_whitespace()));
        let (Command::Plan(plan), Command::Run(run)) =
            (parse("plan").unwrap().command, parse("run").unwrap().command)
        else {
            panic!("other commands than asked for");
        };
        assert_eq!(format!("{:?}", plan.work), format!("{:?}", run.work));
        let options = run.work.run_options(2);
        assert_eq!((options.jobs, options.max_failures, options.yes), (4, Some(3), true));
        assert_eq!(options.plan.selection.include, ["gold.*", "+silver.x"]);
        assert!(options.plan.newest_first && options.plan.allow.gone && options.plan.allow.force);
        assert_eq!(run.work.how.memory, 256 << 20);
    }

    #[test]
    fn what_is_not_built_is_no_command() {
        let built = Cli::command();
        for name in NOT_BUILT {
            assert!(built.find_subcommand(name).is_none(), "`{name}` is built: take it off the list");
            let error = Cli::try_parse_from(["oncemore", name, "--flag", "word"]).unwrap_err();
            let said = not_built(&error).unwrap();
            assert!(said.contains(&format!("`{name}` is not built yet")), "{said}");
        }
        let unknown = Cli::try_parse_from(["oncemore", "rnu"]).unwrap_err();
        assert_eq!(not_built(&unknown), None);
        let jobs = Cli::try_parse_from(["oncemore", "run", "--jobs", "-1"]).unwrap_err().to_string();
        assert!(jobs.contains("-1 is not in 1..=1024"), "{jobs}");
    }

    #[test]
    fn wrong_use_is_refused() {
        let refused = |line: &str| Cli::try_parse_from(line.split_whitespace()).is_err();
        assert!(refused("oncemore plan --interval 2013 --from 2013-01-01"));
        assert!(refused("oncemore run --memory lots"));
        assert!(refused("oncemore run --memory 1KB"));
        assert!(refused("oncemore run --reason whim"));
        assert!(refused("oncemore run --jobs 0"));
        assert!(refused("oncemore accept silver.x --interval 2013"));
        assert!(refused("oncemore accept silver.x --interval 2013 --because="));
        assert!(refused("oncemore run --request="));
        let with_env = Cli::try_parse_from(["oncemore", "status", "--env", "dev"]).unwrap();
        let sarif = Cli::try_parse_from(["oncemore", "status", "--output", "sarif"]).unwrap();
        assert!(sarif.global.check(&sarif.command).is_err());
        assert!(with_env.global.check(&with_env.command).unwrap_err().message.contains("not built yet"));
    }
}
