//! The dbt front end: a project's files in, each model's SQL in both worlds out, with the way back from each
//! byte of it to
//! the template. Knows no rule and no SQL grammar; must not read files, clocks or the environment.
//!
//! Two ways in. `target/manifest.json` brings SQL that dbt compiled, in one of the two worlds; the other is
//! rendered here.
//! Without it both are rendered here, with stubs for what only a warehouse knows.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::spread::{InTurn, Spread};

mod align;
mod clocks;
mod config;
mod context;
mod eval;
mod functions;
mod inputs;
mod judge;
mod knowledge;
mod library;
mod lower;
mod manifest;
mod project;
mod scan;
mod syntax;
mod template;
mod value;

#[cfg(test)]
mod tests;

pub use clocks::{ClockKind, ClockRole, TemplateClock, template_clocks};
pub use config::{Config, Hook};
pub use eval::World;
pub use inputs::{Group, groups};
pub(crate) use judge::lint;
pub use judge::{Judged, Parsed};
pub use knowledge::{Column, Knowledge, Reference, Trust};
pub(crate) use lower::replaces_all;
pub use template::{Argument, Clock, Template};

use eval::{Failure, Render, Unit};
use library::Library;
use value::{Mark, NO_MACRO, Relation, Value};

/// A dbt project, read.
#[derive(Debug)]
pub struct Project {
    /// As `dbt_project.yml` names it.
    pub name: String,
    /// `postgres`, `snowflake`, …; `None` where nothing says.
    pub adapter: Option<String>,
    /// Whether a manifest was read.
    pub has_manifest: bool,
    /// Models and snapshots, by path and name.
    pub nodes: Vec<Node>,
    /// Everything that `ref` and `source` can name, models too.
    pub relations: Vec<KnownRelation>,
    /// Macros that [`Segment::by`] and [`Model::macros`] point at.
    pub macros: Vec<Macro>,
    /// Files that could not be read, and why.
    pub problems: Vec<Problem>,
    library: Library,
}

/// What is known besides the files.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// The adapter that the user names: it goes before what profiles say.
    pub named: Option<String>,
    /// The adapter, where neither manifest nor profiles name one.
    pub adapter: Option<String>,
    /// Whether models may stand anywhere: files without a `dbt_project.yml`.
    pub anywhere: bool,
}

/// A model or snapshot before it is rendered.
#[derive(Debug)]
pub struct Node {
    /// dbt's unique id; made up in its form where there is no manifest.
    pub id: String,
    /// Name that `ref` takes.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// The file that the user edits, relative to the project.
    pub path: String,
    /// Bytes of the file that hold the template: all of it, or the inside of a `{% snapshot %}` block.
    pub template: Range<usize>,
    /// Where it is built.
    pub relation: RelationName,
    /// Its entry in [`Project::relations`], which holds what is known of its columns.
    pub known: usize,
    /// Whether the file differs from what the manifest was made of; then the manifest's SQL is not used.
    pub is_stale: bool,
    base: Map<String, Json>,
    base_is_whole: bool,
    text: Arc<str>,
    file: u32,
    /// No positions: the text is not in the file.
    is_synthetic: bool,
    /// Of a node that is written in YAML: the file's text.
    entry_text: Option<Arc<str>>,
    parsed: Result<Vec<syntax::Node>, syntax::SyntaxError>,
    compiled: Option<String>,
    package: Arc<str>,
}

/// All that decides how it renders and what is made of it, besides what the project's models share.
impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.id, self.kind, &self.path, &self.template, &self.relation, self.is_stale).hash(state);
        (&self.base, self.base_is_whole, &self.text, self.is_synthetic).hash(state);
        (&self.entry_text, &self.compiled, &self.package).hash(state);
    }
}

/// Model or snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A `.sql` file of `models/`.
    Model,
    /// A `{% snapshot %}` block, or an entry `snapshots:` of YAML.
    Snapshot,
}

/// How a relation is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RelationName {
    /// As far as known.
    pub database: Option<String>,
    /// As far as known; `dbt_target` stands for the profile's.
    pub schema: Option<String>,
    /// Alias or name.
    pub identifier: String,
    /// As it stands in rendered SQL, byte for byte: compare with this to resolve `this`, `ref` and `source`.
    pub printed: String,
}

/// A relation and what is known of it.
#[derive(Clone, Debug)]
pub struct KnownRelation {
    /// `model.p.x`, `source.p.a.b`, `seed.p.s`, …
    pub id: String,
    /// How it is written.
    pub name: RelationName,
    /// What is known of its columns.
    pub knowledge: Knowledge,
    /// Index into [`Project::nodes`], where it is one.
    pub node: Option<usize>,
}

/// A macro of the project or one of its packages.
#[derive(Clone, Debug)]
pub struct Macro {
    /// Package it belongs to.
    pub package: String,
    /// Its name.
    pub name: String,
    /// Its file, relative to the project; empty for our stand-ins of dbt's own.
    pub path: String,
    /// Its bytes in that file.
    pub span: Range<usize>,
}

/// A file, or part of it, that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: String,
    /// Bytes, where known.
    pub span: Option<Range<usize>>,
    /// Why, in words.
    pub why: String,
}

/// A model or snapshot, rendered.
#[derive(Clone, Debug)]
pub struct Model {
    /// Configuration of all places, merged.
    pub config: Config,
    /// One rendering for each world; one alone, marked [`Worlds::Both`], where both are equal.
    pub worlds: Vec<Rendered>,
    /// Worlds that could not be rendered.
    pub failed: Vec<NotRendered>,
    /// Clocks of the template.
    pub clocks: Vec<TemplateClock>,
    /// Macros it ran, as indexes into [`Project::macros`]; each once.
    pub macros: Vec<usize>,
}

/// Which worlds a rendering stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Worlds {
    /// Full refresh and steady state are the same text.
    Both,
    /// Only this one.
    One(World),
}

/// SQL of a model.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Which worlds.
    pub worlds: Worlds,
    /// The text.
    pub sql: String,
    /// Where its bytes come from: ascending, without overlap; gaps are white space.
    pub segments: Vec<Segment>,
    /// Whether stub output took part: something in it is a guess.
    pub approximate: bool,
    /// Whether dbt compiled it.
    pub from_manifest: bool,
    /// Queries that the template sends while it renders (`run_query`, `statement`).
    pub queries: Vec<Query>,
}

/// Where a range of rendered SQL comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Bytes of [`Rendered::sql`].
    pub rendered: Range<usize>,
    /// Bytes of the model's file, or of the file of the macro [`Segment::by`].
    pub source: Range<usize>,
    /// Byte for byte what stands there; otherwise `source` is the expression that printed it.
    pub exact: bool,
    /// Made up: a finding within it is worth nothing.
    pub stub: bool,
    /// The macro whose body wrote it, as index into [`Project::macros`].
    pub by: Option<usize>,
    /// Bytes of the model's file that the user sees in its place: the source itself, or the call of the
    /// macro.
    pub shown: Range<usize>,
}

/// A query of the template itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Its SQL.
    pub sql: String,
    /// Bytes of the model's file; `None` where a macro sends it.
    pub span: Option<Range<usize>>,
}

/// Why there is no SQL of a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRendered {
    /// Which worlds.
    pub worlds: Worlds,
    /// Why, in words.
    pub why: String,
    /// The file in which it went wrong: the model's or a macro's.
    pub path: String,
    /// Where in that file.
    pub span: Range<usize>,
}

/// What one run of the interpreter yields.
struct Run {
    text: String,
    marks: Vec<Mark>,
    approximate: bool,
    config: Vec<(Rc<str>, Value)>,
    macros: Vec<u32>,
    world_read: bool,
    queries: Vec<Query>,
}

impl Rendered {
    /// The segment that holds a byte of the SQL.
    pub fn segment_at(&self, byte: usize) -> Option<&Segment> {
        let next = self.segments.partition_point(|segment| segment.rendered.end <= byte);
        self.segments.get(next).filter(|segment| segment.rendered.start <= byte)
    }

    /// Bytes of the model's file that a range of the SQL stands for.
    pub fn source_of(&self, range: Range<usize>) -> Option<Range<usize>> {
        let first = self.segments.partition_point(|segment| segment.rendered.end <= range.start);
        let mut found: Option<Range<usize>> = None;
        for segment in self.segments[first..].iter().take_while(|segment| segment.rendered.start < range.end)
        {
            let part = if segment.exact && segment.by.is_none() && segment.shown == segment.source {
                let start = range.start.saturating_sub(segment.rendered.start);
                let end = segment.rendered.end.saturating_sub(range.end);
                segment.source.start + start..segment.source.end - end
            } else {
                segment.shown.clone()
            };
            found = Some(match found {
                Some(all) => all.start.min(part.start)..all.end.max(part.end),
                None => part,
            });
        }
        found
    }

    /// Whether a range of the SQL touches stub output.
    pub fn is_stub(&self, range: Range<usize>) -> bool {
        let first = self.segments.partition_point(|segment| segment.rendered.end <= range.start);
        self.segments[first..]
            .iter()
            .take_while(|segment| segment.rendered.start < range.end)
            .any(|part| part.stub)
    }
}

impl Project {
    /// Reads a project from its files: paths relative to the project's folder, with `/`, and texts.
    pub fn read(files: &[(&str, &str)]) -> Self {
        Self::read_with(files, &Hints::default(), &InTurn)
    }

    /// Reads a project, or files that are none by themselves.
    #[must_use]
    pub fn read_with(files: &[(&str, &str)], hints: &Hints, spread: &impl Spread) -> Self {
        project::read(files, hints, spread)
    }

    /// Renders one of [`Project::nodes`] in both worlds; `None` where there is no such node. Nodes can be
    /// rendered by several threads.
    pub fn model(&self, node: usize) -> Option<Model> {
        Some(self.render(self.nodes.get(node)?))
    }

    /// Clocks of a macro, as an index into [`Project::macros`].
    pub fn macro_clocks(&self, index: usize) -> Vec<TemplateClock> {
        let parsed = u32::try_from(index).ok().and_then(|index| self.library.parsed(index));
        let (Some(def), Some(source)) = (parsed, self.library.macros.get(index)) else { return Vec::new() };
        let text = &self.library.files[source.file as usize].1;
        clocks::of_nodes(text, &[syntax::Node::Macro(def)])
    }

    fn render(&self, node: &Node) -> Model {
        let default = match node.kind {
            NodeKind::Model => "view",
            NodeKind::Snapshot => "snapshot",
        };
        let full = self.run(node, World::FullRefresh);
        let read = full.as_ref().map_or(true, |run| run.world_read);
        let steady = if read { Some(self.run(node, World::Steady)) } else { None };
        let mut config = node.base.clone();
        let run = full.as_ref().ok().or(steady.as_ref().and_then(|run| run.as_ref().ok()));
        if let Some(run) = run.filter(|_| !node.base_is_whole) {
            let mut own = Map::new();
            for (key, value) in &run.config {
                own.insert(key.to_string(), value.to_json());
            }
            config::merge(&mut config, &own);
        }
        let mut config = Config::new(config, default);
        if node.kind == NodeKind::Snapshot {
            default.clone_into(&mut config.materialized);
        }
        let mut macros: Vec<usize> = Vec::new();
        for run in [Some(&full), steady.as_ref()].into_iter().flatten().flatten() {
            macros.extend(
                run.macros.iter().map(|index| *index as usize).filter(|i| !self.macros[*i].path.is_empty()),
            );
        }
        macros.sort_unstable();
        macros.dedup();
        let clocks = match &node.parsed {
            Ok(nodes) if !node.is_synthetic => clocks::of_nodes(&node.text, nodes),
            _ => Vec::new(),
        };
        let (worlds, failed) = self.worlds(node, full, steady);
        Model { config, worlds, failed, clocks, macros }
    }

    /// Brings the two runs and dbt's own text together.
    fn worlds(
        &self,
        node: &Node,
        full: Result<Run, Failure>,
        steady: Option<Result<Run, Failure>>,
    ) -> (Vec<Rendered>, Vec<NotRendered>) {
        let mut runs: Vec<(Worlds, Result<Run, Failure>)> = match (full, steady) {
            (full, None) => vec![(Worlds::Both, full)],
            (Ok(full), Some(Ok(steady))) if full.text == steady.text => vec![(Worlds::Both, Ok(full))],
            (Err(full), Some(Err(_))) => vec![(Worlds::Both, Err(full))],
            (full, Some(steady)) => {
                vec![(Worlds::One(World::FullRefresh), full), (Worlds::One(World::Steady), steady)]
            }
        };
        let mut rendered = Vec::new();
        if let Some(compiled) = &node.compiled {
            let aligned = |run: &Result<Run, Failure>| match run {
                Ok(run) => align::align(&run.text, &run.marks, compiled),
                Err(_) => (Vec::new(), usize::MAX),
            };
            let (mut at, mut best) = (0, (Vec::new(), usize::MAX));
            for (index, (_, run)) in runs.iter().enumerate() {
                let tried = aligned(run);
                if tried.1 < best.1 {
                    (at, best) = (index, tried);
                }
            }
            let (worlds, run) = runs.remove(at);
            rendered.push(Rendered {
                worlds,
                sql: compiled.clone(),
                // dbt wrote it: none of it is a guess.
                segments: self
                    .segments(node, best.0)
                    .into_iter()
                    .map(|part| Segment { stub: false, ..part })
                    .collect(),
                approximate: false,
                from_manifest: true,
                queries: run.map(|run| run.queries).unwrap_or_default(),
            });
        }
        let mut failed = Vec::new();
        for (worlds, run) in runs {
            match run {
                Ok(run) => rendered.push(Rendered {
                    worlds,
                    sql: run.text,
                    segments: self.segments(node, run.marks),
                    approximate: run.approximate,
                    from_manifest: false,
                    queries: run.queries,
                }),
                Err(failure) => failed.push(NotRendered {
                    worlds,
                    why: failure.why,
                    path: self
                        .library
                        .files
                        .get(failure.file as usize)
                        .map(|(path, _)| path.clone())
                        .unwrap_or_default(),
                    span: failure.at.range(),
                }),
            }
        }
        (rendered, failed)
    }

    fn segments(&self, node: &Node, marks: Vec<Mark>) -> Vec<Segment> {
        if node.is_synthetic {
            return Vec::new();
        }
        marks
            .into_iter()
            .map(|mark| {
                let own = mark.by == NO_MACRO && mark.file == node.file;
                Segment {
                    rendered: mark.start as usize..mark.end as usize,
                    source: mark.source.range(),
                    exact: mark.exact,
                    stub: mark.stub,
                    by: (mark.by != NO_MACRO).then_some(mark.by as usize),
                    shown: if own { mark.source.range() } else { mark.call.range() },
                }
            })
            .collect()
    }

    /// Runs the template; where the warehouse's answers are missed so badly that it raises, once more as dbt
    /// parses.
    fn run(&self, node: &Node, world: World) -> Result<Run, Failure> {
        let nodes = node.parsed.as_ref().map_err(|error| Failure {
            why: error.why.clone(),
            file: node.file,
            at: error.at,
        })?;
        self.run_once(node, nodes, world, true).or_else(|failure| {
            self.run_once(node, nodes, world, false)
                .map_err(|_| failure)
                .map(|run| Run { approximate: true, ..run })
        })
    }

    fn run_once(
        &self,
        node: &Node,
        nodes: &[syntax::Node],
        world: World,
        execute: bool,
    ) -> Result<Run, Failure> {
        let unit =
            Unit { text: node.text.clone(), file: node.file, by: NO_MACRO, package: node.package.clone() };
        let this = Rc::new(Relation {
            database: node.relation.database.clone(),
            schema: node.relation.schema.clone(),
            identifier: node.relation.identifier.clone(),
            printed: node.relation.printed.clone(),
        });
        let mut render = Render::new(&self.library, unit, world, this, &node.base);
        render.execute = execute;
        render.template(nodes).map_err(|failure| *failure)?;
        let stubs = render.out.marks.iter().any(|mark| mark.stub);
        let home = node.file;
        let queries = render.asked.iter().map(|(text, span, file)| Query {
            sql: text.text.to_string(),
            span: (*file == home && !node.is_synthetic).then(|| span.range()),
        });
        Ok(Run {
            approximate: render.approximate || stubs,
            queries: queries.collect(),
            text: render.out.text,
            marks: render.out.marks,
            config: render.config,
            macros: render.macros,
            world_read: render.world_read,
        })
    }
}
