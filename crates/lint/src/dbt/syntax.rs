//! Templates to trees: the Jinja that dbt accepts, each node with its bytes. Knows no meaning of any name.

mod line;

use std::sync::Arc;

use line::Line;

use super::scan::{Piece, first_word, pieces, pieces_until_broken};

/// Deepest nesting of expressions and blocks.
const DEPTH_MAX: u32 = 120;

/// Bytes of a file, half open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    pub(super) fn new(start: usize, end: usize) -> Self {
        Span { start: u32::try_from(start).unwrap_or(u32::MAX), end: u32::try_from(end).unwrap_or(u32::MAX) }
    }
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
    pub(super) fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }
}

/// Why a template can't be read, and where.
#[derive(Clone, Debug)]
pub(super) struct SyntaxError {
    pub(super) at: Span,
    pub(super) why: String,
}

pub(super) type Parsed<T> = Result<T, SyntaxError>;

#[derive(Debug)]
pub(super) struct Expr {
    pub(super) span: Span,
    pub(super) kind: ExprKind,
}

#[derive(Debug)]
pub(super) enum ExprKind {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Arc<str>),
    Name(Arc<str>),
    List(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    Attr(Box<Expr>, Arc<str>),
    Item(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, [Option<Box<Expr>>; 3]),
    Call(Box<Expr>, Args),
    Filter(Option<Box<Expr>>, Arc<str>, Args),
    Test(Box<Expr>, Arc<str>, Args),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// Comparisons in a chain: `a < b < c`.
    Compare(Box<Expr>, Vec<(Compare, Expr)>),
    /// Condition, then, otherwise.
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Whole,
    Rem,
    Pow,
    Concat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    NotIn,
}

#[derive(Debug, Default)]
pub(super) struct Args {
    pub(super) plain: Vec<Expr>,
    pub(super) named: Vec<(Arc<str>, Expr)>,
    pub(super) star: Option<Box<Expr>>,
    pub(super) stars: Option<Box<Expr>>,
}

impl Args {
    /// All expressions, in the order written within their kind.
    pub(super) fn all(&self) -> impl Iterator<Item = &Expr> {
        self.plain
            .iter()
            .chain(self.named.iter().map(|(_, value)| value))
            .chain(self.star.as_deref())
            .chain(self.stars.as_deref())
    }
}

#[derive(Debug)]
pub(super) struct MacroDef {
    pub(super) name: Arc<str>,
    pub(super) params: Vec<(Arc<str>, Option<Expr>)>,
    pub(super) body: Vec<Node>,
}

#[derive(Debug)]
pub(super) enum Node {
    Text(Span),
    Print(Expr, Span),
    If(Vec<(Expr, Vec<Node>)>, Vec<Node>),
    For {
        names: Vec<Arc<str>>,
        over: Expr,
        only: Option<Expr>,
        body: Vec<Node>,
        otherwise: Vec<Node>,
    },
    Set(Vec<Target>, Expr),
    SetBlock {
        target: Target,
        filter: Option<Expr>,
        body: Vec<Node>,
    },
    Do(Expr),
    Macro(Arc<MacroDef>),
    /// A call that is handed a body, which it knows as `caller`.
    Call {
        body: Arc<MacroDef>,
        call: Expr,
        span: Span,
    },
    FilterBlock(Expr, Vec<Node>, Span),
    With(Vec<(Target, Expr)>, Vec<Node>),
    Scope(Vec<Node>),
    Break,
    Continue,
}

#[derive(Debug)]
pub(super) enum Target {
    Name(Arc<str>),
    Attr(Arc<str>, Arc<str>),
}

/// A block of a file that dbt names: `{% macro x() %}`, `{% snapshot x %}`.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// With its tags.
    pub(super) outer: Span,
    /// Without its tags.
    pub(super) inner: Span,
}

/// Parses `text[range]` of a file.
pub(super) fn parse(text: &str, range: std::ops::Range<usize>) -> Parsed<Vec<Node>> {
    let pieces = pieces(text, range)?;
    let mut parser = Parser { text, pieces, next: 0, depth: 0 };
    let (nodes, end) = parser.nodes(&[])?;
    match end {
        Some(end) => Err(SyntaxError { at: end.outer, why: format!("`{}` closes nothing", end.word) }),
        None => Ok(nodes),
    }
}

/// The named blocks of a file, found without parsing what they hold.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    const KINDS: [(&str, &str); 6] = [
        ("macro", "endmacro"),
        ("snapshot", "endsnapshot"),
        ("materialization", "endmaterialization"),
        ("test", "endtest"),
        ("data_test", "enddata_test"),
        ("docs", "enddocs"),
    ];
    let mut found = Vec::new();
    let mut open: Option<(&'static str, &'static str, String, Span)> = None;
    let Ok(pieces) = pieces_until_broken(text, 0..text.len()) else { return found };
    for piece in pieces {
        let Piece::Tag { inner, outer } = piece else { continue };
        let tag = text[inner.range()].trim();
        let word = first_word(tag);
        match &open {
            None => {
                if let Some((kind, end)) = KINDS.iter().find(|(kind, _)| *kind == word) {
                    let name = first_word(tag[word.len()..].trim_start());
                    open = Some((kind, end, name.to_owned(), outer));
                }
            }
            Some((kind, end, name, start)) if *end == word => {
                found.push(Block {
                    kind,
                    name: name.clone(),
                    outer: start.to(outer),
                    inner: Span { start: start.end, end: outer.start },
                });
                open = None;
            }
            Some(_) => {}
        }
    }
    found
}

struct End {
    word: String,
    inner: Span,
    outer: Span,
}

struct Parser<'a> {
    text: &'a str,
    pieces: Vec<Piece>,
    next: usize,
    depth: u32,
}

impl Parser<'_> {
    /// Nodes up to a tag whose word is one of `until`, or to the end.
    fn nodes(&mut self, until: &[&str]) -> Parsed<(Vec<Node>, Option<End>)> {
        self.depth += 1;
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.get(self.next) {
            self.next += 1;
            match *piece {
                Piece::Text(span) => nodes.push(Node::Text(span)),
                Piece::Expr { inner, outer } => {
                    let mut line = Line::new(self.text, inner)?;
                    let expr = line.tuple()?;
                    line.done()?;
                    nodes.push(Node::Print(expr, outer));
                }
                Piece::Tag { inner, outer } => {
                    if self.depth > DEPTH_MAX {
                        return Err(SyntaxError { at: outer, why: "nested too deep".to_owned() });
                    }
                    let word = first_word(self.text[inner.range()].trim_start()).to_owned();
                    if until.contains(&word.as_str()) || word.starts_with("end") || is_middle(&word) {
                        self.depth -= 1;
                        return Ok((nodes, Some(End { word, inner, outer })));
                    }
                    if let Some(node) = self.tag(&word, inner, outer)? {
                        nodes.push(node);
                    }
                }
            }
        }
        self.depth -= 1;
        Ok((nodes, None))
    }

    /// The nodes of a block and the tag that ends them, which must be one of `until`.
    fn body(&mut self, until: &[&str], open: Span) -> Parsed<(Vec<Node>, End)> {
        match self.nodes(until)? {
            (nodes, Some(end)) if until.contains(&end.word.as_str()) => Ok((nodes, end)),
            (_, Some(end)) => Err(SyntaxError {
                at: end.outer,
                why: format!("`{}` where `{}` is due", end.word, until.join("` or `")),
            }),
            (_, None) => Err(SyntaxError { at: open, why: format!("no `{}` follows", until.join("` or `")) }),
        }
    }

    fn tag(&mut self, word: &str, inner: Span, outer: Span) -> Parsed<Option<Node>> {
        let mut line = Line::new(self.text, inner)?;
        line.at = 1;
        let node = match word {
            "if" => self.if_tag(line, outer)?,
            "for" => self.for_tag(line, outer)?,
            "set" => self.set_tag(line, outer)?,
            "do" => Node::Do(line.finish()?),
            "macro" => {
                let (def, _) = self.macro_tag(line, outer)?;
                Node::Macro(Arc::new(def))
            }
            "call" => {
                let params = if line.is("(") { line.params()? } else { Vec::new() };
                let call = line.finish()?;
                let (body, end) = self.body(&["endcall"], outer)?;
                let body = Arc::new(MacroDef { name: "caller".into(), params, body });
                Node::Call { body, call, span: outer.to(end.outer) }
            }
            "filter" => {
                let filter = line.filters(None)?;
                line.done()?;
                let (body, end) = self.body(&["endfilter"], outer)?;
                match filter {
                    Some(filter) => Node::FilterBlock(filter, body, outer.to(end.outer)),
                    None => Node::Scope(body),
                }
            }
            "with" => {
                let mut values = Vec::new();
                while !line.at_end() {
                    let target = line.target()?;
                    line.expect("=")?;
                    values.push((target, line.expr()?));
                    line.accept(",");
                }
                Node::With(values, self.body(&["endwith"], outer)?.0)
            }
            "break" => Node::Break,
            "continue" => Node::Continue,
            "snapshot" | "block" | "autoescape" | "materialization" | "test" | "data_test" | "docs" => {
                let end = format!("end{word}");
                let (body, _) = self.body(&[&end], outer)?;
                match word {
                    "materialization" | "test" | "data_test" | "docs" => return Ok(None),
                    _ => Node::Scope(body),
                }
            }
            "import" | "from" | "include" | "extends" => return Ok(None),
            other => return Err(SyntaxError { at: outer, why: format!("no tag is called `{other}`") }),
        };
        Ok(Some(node))
    }

    fn if_tag(&mut self, line: Line<'_>, outer: Span) -> Parsed<Node> {
        let mut arms = Vec::new();
        let mut line = line;
        let mut condition = line.finish()?;
        loop {
            let (body, end) = self.body(&["elif", "else", "endif"], outer)?;
            arms.push((condition, body));
            match end.word.as_str() {
                "elif" => {
                    let mut line = Line::new(self.text, end.inner)?;
                    line.at = 1;
                    condition = line.finish()?;
                }
                "else" => return Ok(Node::If(arms, self.body(&["endif"], outer)?.0)),
                _ => return Ok(Node::If(arms, Vec::new())),
            }
        }
    }

    fn for_tag(&mut self, mut line: Line<'_>, outer: Span) -> Parsed<Node> {
        let mut names = Vec::new();
        loop {
            line.accept("(");
            names.push(line.name()?);
            line.accept(")");
            if !line.accept(",") {
                break;
            }
        }
        if !line.word("in") {
            return Err(line.fail("`in` is due here"));
        }
        let mut over = line.or()?;
        if line.is(",") {
            let mut items = vec![over];
            while line.accept(",") && !line.at_end() {
                items.push(line.or()?);
            }
            over = Expr { span: items[0].span, kind: ExprKind::List(items) };
        }
        let only = if line.word("if") { Some(line.expr()?) } else { None };
        line.word("recursive");
        line.done()?;
        let (body, end) = self.body(&["else", "endfor"], outer)?;
        let otherwise = match end.word.as_str() {
            "else" => self.body(&["endfor"], outer)?.0,
            _ => Vec::new(),
        };
        Ok(Node::For { names, over, only, body, otherwise })
    }

    fn set_tag(&mut self, mut line: Line<'_>, outer: Span) -> Parsed<Node> {
        let mut targets = vec![line.target()?];
        while line.accept(",") {
            targets.push(line.target()?);
        }
        if line.accept("=") {
            let value = line.tuple()?;
            line.done()?;
            return Ok(Node::Set(targets, value));
        }
        let filter = if line.accept("|") {
            line.at -= 1;
            line.filters(None)?
        } else {
            None
        };
        line.done()?;
        let (body, _) = self.body(&["endset"], outer)?;
        let target = targets.swap_remove(0);
        Ok(Node::SetBlock { target, filter, body })
    }

    fn macro_tag(&mut self, mut line: Line<'_>, outer: Span) -> Parsed<(MacroDef, Span)> {
        let name = line.name()?;
        let params = if line.is("(") { line.params()? } else { Vec::new() };
        line.done()?;
        let (body, end) = self.body(&["endmacro"], outer)?;
        Ok((MacroDef { name, params, body }, outer.to(end.outer)))
    }
}

fn is_middle(word: &str) -> bool {
    matches!(word, "else" | "elif")
}
