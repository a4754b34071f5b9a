//! Templates to trees: the Jinja that dbt accepts, each node with its bytes. Knows no meaning of any name.

use std::sync::Arc;

use super::scan::{Piece, Tok, first_word, pieces, pieces_until_broken, tokens};

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

/// The inside of one tag.
struct Line<'a> {
    text: &'a str,
    span: Span,
    tokens: Vec<(Tok, Span)>,
    at: usize,
    depth: u32,
}

impl<'a> Line<'a> {
    fn new(text: &'a str, span: Span) -> Parsed<Self> {
        Ok(Line { text, span, tokens: tokens(text, span)?, at: 0, depth: 0 })
    }

    fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn here(&self) -> Span {
        let end = Span { start: self.span.end, end: self.span.end };
        self.tokens.get(self.at).map_or(end, |(_, span)| *span)
    }

    fn before(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(self.span, |(_, span)| *span)
    }

    fn fail(&self, why: &str) -> SyntaxError {
        SyntaxError { at: self.here(), why: why.to_owned() }
    }

    fn done(&self) -> Parsed<()> {
        if self.at_end() { Ok(()) } else { Err(self.fail("the expression ends before this")) }
    }

    fn finish(&mut self) -> Parsed<Expr> {
        let expr = self.tuple()?;
        self.done()?;
        Ok(expr)
    }

    fn is(&self, op: &str) -> bool {
        matches!(self.tokens.get(self.at), Some((Tok::Op(found), _)) if *found == op)
    }

    fn accept(&mut self, op: &str) -> bool {
        let found = self.is(op);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, op: &str) -> Parsed<()> {
        if self.accept(op) { Ok(()) } else { Err(self.fail(&format!("`{op}` is due here"))) }
    }

    fn peek_word(&self) -> &'a str {
        match self.tokens.get(self.at) {
            Some((Tok::Name, span)) => &self.text[span.range()],
            _ => "",
        }
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        self.at += usize::from(found);
        found
    }

    fn name(&mut self) -> Parsed<Arc<str>> {
        match self.peek_word() {
            "" => Err(self.fail("a name is due here")),
            name => {
                self.at += 1;
                Ok(name.into())
            }
        }
    }

    fn target(&mut self) -> Parsed<Target> {
        self.accept("(");
        let name = self.name()?;
        let target = if self.accept(".") { Target::Attr(name, self.name()?) } else { Target::Name(name) };
        self.accept(")");
        Ok(target)
    }

    fn params(&mut self) -> Parsed<Vec<(Arc<str>, Option<Expr>)>> {
        let mut params = Vec::new();
        self.expect("(")?;
        while !self.accept(")") {
            let name = self.name()?;
            let value = if self.accept("=") { Some(self.expr()?) } else { None };
            params.push((name, value));
            if !self.accept(",") && !self.is(")") {
                return Err(self.fail("`,` or `)` is due here"));
            }
        }
        Ok(params)
    }

    fn tuple(&mut self) -> Parsed<Expr> {
        let first = self.expr()?;
        if !self.is(",") {
            return Ok(first);
        }
        let start = first.span;
        let mut items = vec![first];
        while self.accept(",") && !self.at_end() && !self.is(")") {
            items.push(self.expr()?);
        }
        Ok(Expr { span: start.to(self.before()), kind: ExprKind::List(items) })
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.fail("nested too deep"));
        }
        let then = self.or()?;
        let mut expr = then;
        while self.word("if") {
            let condition = self.or()?;
            let otherwise = if self.word("else") { Some(Box::new(self.expr()?)) } else { None };
            let span = expr.span.to(self.before());
            expr = Expr { span, kind: ExprKind::If(Box::new(condition), Box::new(expr), otherwise) };
        }
        self.depth -= 1;
        Ok(expr)
    }

    fn or(&mut self) -> Parsed<Expr> {
        let mut left = self.and()?;
        while self.word("or") {
            let right = self.and()?;
            left =
                Expr { span: left.span.to(right.span), kind: ExprKind::Or(Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed<Expr> {
        let mut left = self.not()?;
        while self.word("and") {
            let right = self.not()?;
            left =
                Expr { span: left.span.to(right.span), kind: ExprKind::And(Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed<Expr> {
        let start = self.here();
        if self.word("not") {
            self.depth += 1;
            if self.depth > DEPTH_MAX {
                return Err(self.fail("nested too deep"));
            }
            let inner = self.not()?;
            self.depth -= 1;
            return Ok(Expr { span: start.to(inner.span), kind: ExprKind::Not(Box::new(inner)) });
        }
        self.compare()
    }

    fn compare(&mut self) -> Parsed<Expr> {
        let left = self.add()?;
        let mut rest = Vec::new();
        loop {
            let op = match self.tokens.get(self.at) {
                Some((Tok::Op("=="), _)) => Compare::Eq,
                Some((Tok::Op("!="), _)) => Compare::Ne,
                Some((Tok::Op("<"), _)) => Compare::Lt,
                Some((Tok::Op("<="), _)) => Compare::Le,
                Some((Tok::Op(">"), _)) => Compare::Gt,
                Some((Tok::Op(">="), _)) => Compare::Ge,
                Some((Tok::Name, _)) if self.peek_word() == "in" => Compare::In,
                Some((Tok::Name, _)) if self.peek_word() == "not" => {
                    self.at += 1;
                    if self.peek_word() != "in" {
                        self.at -= 1;
                        break;
                    }
                    Compare::NotIn
                }
                _ => break,
            };
            self.at += 1;
            rest.push((op, self.add()?));
        }
        if rest.is_empty() {
            return Ok(left);
        }
        Ok(Expr { span: left.span.to(self.before()), kind: ExprKind::Compare(Box::new(left), rest) })
    }

    fn add(&mut self) -> Parsed<Expr> {
        let mut left = self.concat()?;
        loop {
            let op = if self.accept("+") {
                Binary::Add
            } else if self.accept("-") {
                Binary::Sub
            } else {
                return Ok(left);
            };
            left = binary(op, left, self.concat()?);
        }
    }

    fn concat(&mut self) -> Parsed<Expr> {
        let mut left = self.multiply()?;
        while self.accept("~") {
            left = binary(Binary::Concat, left, self.multiply()?);
        }
        Ok(left)
    }

    fn multiply(&mut self) -> Parsed<Expr> {
        let mut left = self.unary()?;
        loop {
            let op = if self.accept("*") {
                Binary::Mul
            } else if self.accept("/") {
                Binary::Div
            } else if self.accept("//") {
                Binary::Whole
            } else if self.accept("%") {
                Binary::Rem
            } else {
                return Ok(left);
            };
            left = binary(op, left, self.unary()?);
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let negative = self.accept("-");
        if !negative && !self.accept("+") {
            let expr = self.power()?;
            return Ok(expr);
        }
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.fail("nested too deep"));
        }
        let inner = self.unary()?;
        self.depth -= 1;
        if !negative {
            return Ok(inner);
        }
        Ok(Expr { span: start.to(inner.span), kind: ExprKind::Negative(Box::new(inner)) })
    }

    fn power(&mut self) -> Parsed<Expr> {
        let base = self.postfix()?;
        if !self.accept("**") {
            return Ok(base);
        }
        let exponent = self.unary()?;
        Ok(binary(Binary::Pow, base, exponent))
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut expr = self.primary()?;
        loop {
            if self.accept(".") {
                let name = match self.tokens.get(self.at) {
                    Some((Tok::Int(index), _)) => {
                        let index = *index;
                        self.at += 1;
                        let span = expr.span.to(self.before());
                        let at = Expr { span: self.before(), kind: ExprKind::Int(index) };
                        expr = Expr { span, kind: ExprKind::Item(Box::new(expr), Box::new(at)) };
                        continue;
                    }
                    _ => self.name()?,
                };
                expr = Expr { span: expr.span.to(self.before()), kind: ExprKind::Attr(Box::new(expr), name) };
            } else if self.is("(") {
                let args = self.args()?;
                expr = Expr { span: expr.span.to(self.before()), kind: ExprKind::Call(Box::new(expr), args) };
            } else if self.accept("[") {
                expr = self.index(expr)?;
            } else if self.is("|") {
                match self.filters(Some(expr))? {
                    Some(filtered) => expr = filtered,
                    None => return Err(self.fail("a filter is due here")),
                }
            } else if self.peek_word() == "is" {
                expr = self.test(expr)?;
            } else {
                return Ok(expr);
            }
        }
    }

    fn index(&mut self, of: Expr) -> Parsed<Expr> {
        let mut parts: [Option<Box<Expr>>; 3] = [None, None, None];
        let mut colons = 0;
        while !self.accept("]") {
            if self.accept(":") {
                colons += 1;
            } else if colons < 3 && parts[colons].is_none() {
                parts[colons] = Some(Box::new(self.tuple()?));
            } else {
                return Err(self.fail("`]` is due here"));
            }
        }
        let span = of.span.to(self.before());
        let kind = match (colons, parts) {
            (0, [Some(at), ..]) => ExprKind::Item(Box::new(of), at),
            (0, _) => return Err(self.fail("an index is due here")),
            (_, parts) => ExprKind::Slice(Box::new(of), parts),
        };
        Ok(Expr { span, kind })
    }

    fn test(&mut self, of: Expr) -> Parsed<Expr> {
        self.at += 1;
        let negated = self.word("not");
        let name = self.name()?;
        let args = if self.is("(") {
            self.args()?
        } else {
            match self.tokens.get(self.at) {
                Some((Tok::Str(_) | Tok::Int(_) | Tok::Float(_), _)) | Some((Tok::Op("["), _)) => {
                    Args { plain: vec![self.primary()?], ..Args::default() }
                }
                Some((Tok::Name, _))
                    if !matches!(self.peek_word(), "and" | "or" | "else" | "if" | "is" | "not" | "in") =>
                {
                    Args { plain: vec![self.primary()?], ..Args::default() }
                }
                _ => Args::default(),
            }
        };
        let span = of.span.to(self.before());
        let test = Expr { span, kind: ExprKind::Test(Box::new(of), name, args) };
        Ok(if negated { Expr { span, kind: ExprKind::Not(Box::new(test)) } } else { test })
    }

    /// `| name(args) | name …`; `None` when there is none. A filter block begins with a name.
    fn filters(&mut self, of: Option<Expr>) -> Parsed<Option<Expr>> {
        let mut expr = of;
        let bare = expr.is_none() && !self.is("|");
        let mut first = bare;
        while first || self.accept("|") {
            first = false;
            let start = expr.as_ref().map_or(self.here(), |expr| expr.span);
            let mut name = self.name()?.to_string();
            while self.accept(".") {
                name = format!("{name}.{}", self.name()?);
            }
            let args = if self.is("(") { self.args()? } else { Args::default() };
            let span = start.to(self.before());
            expr = Some(Expr { span, kind: ExprKind::Filter(expr.map(Box::new), name.into(), args) });
        }
        Ok(expr)
    }

    fn args(&mut self) -> Parsed<Args> {
        let mut args = Args::default();
        self.expect("(")?;
        while !self.accept(")") {
            if self.accept("**") {
                args.stars = Some(Box::new(self.expr()?));
            } else if self.accept("*") {
                args.star = Some(Box::new(self.expr()?));
            } else if !self.peek_word().is_empty()
                && matches!(self.tokens.get(self.at + 1), Some((Tok::Op("="), _)))
            {
                let name = self.name()?;
                self.at += 1;
                args.named.push((name, self.expr()?));
            } else {
                args.plain.push(self.expr()?);
            }
            if !self.accept(",") && !self.is(")") {
                return Err(self.fail("`,` or `)` is due here"));
            }
        }
        Ok(args)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let Some((token, _)) = self.tokens.get(self.at).cloned() else {
            return Err(self.fail("an expression is due here"));
        };
        self.at += 1;
        let kind = match token {
            Tok::Name => match &self.text[start.range()] {
                "true" | "True" => ExprKind::Bool(true),
                "false" | "False" => ExprKind::Bool(false),
                "none" | "None" => ExprKind::None,
                name => ExprKind::Name(name.into()),
            },
            Tok::Str(text) => self.strings(text),
            Tok::Int(value) => ExprKind::Int(value),
            Tok::Float(value) => ExprKind::Float(value),
            Tok::Op("(") => {
                if self.accept(")") {
                    ExprKind::List(Vec::new())
                } else {
                    let mut inner = self.tuple()?;
                    self.expect(")")?;
                    inner.span = start.to(self.before());
                    return Ok(inner);
                }
            }
            Tok::Op("[") => {
                let mut items = Vec::new();
                while !self.accept("]") {
                    items.push(self.expr()?);
                    if !self.accept(",") && !self.is("]") {
                        return Err(self.fail("`,` or `]` is due here"));
                    }
                }
                ExprKind::List(items)
            }
            Tok::Op("{") => {
                let mut items = Vec::new();
                while !self.accept("}") {
                    let key = self.expr()?;
                    self.expect(":")?;
                    items.push((key, self.expr()?));
                    if !self.accept(",") && !self.is("}") {
                        return Err(self.fail("`,` or `}` is due here"));
                    }
                }
                ExprKind::Dict(items)
            }
            Tok::Op(op) => {
                self.at -= 1;
                return Err(self.fail(&format!("`{op}` can't begin an expression")));
            }
        };
        Ok(Expr { span: start.to(self.before()), kind })
    }

    /// Texts that stand side by side are one.
    fn strings(&mut self, first: Arc<str>) -> ExprKind {
        let mut text = first;
        while let Some((Tok::Str(next), _)) = self.tokens.get(self.at) {
            text = format!("{text}{next}").into();
            self.at += 1;
        }
        ExprKind::Str(text)
    }
}

fn binary(op: Binary, left: Expr, right: Expr) -> Expr {
    Expr { span: left.span.to(right.span), kind: ExprKind::Binary(op, Box::new(left), Box::new(right)) }
}
