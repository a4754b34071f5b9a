//! The inside of one tag, `{{ … }}` or `{% … %}`: its tokens to expressions.

use std::sync::Arc;

use super::super::scan::{Tok, tokens};
use super::{Args, Binary, Compare, DEPTH_MAX, Expr, ExprKind, Parsed, Span, SyntaxError, Target};

/// The inside of one tag.
pub(super) struct Line<'a> {
    text: &'a str,
    span: Span,
    tokens: Vec<(Tok, Span)>,
    pub(super) at: usize,
    depth: u32,
}

impl<'a> Line<'a> {
    pub(super) fn new(text: &'a str, span: Span) -> Parsed<Self> {
        Ok(Line { text, span, tokens: tokens(text, span)?, at: 0, depth: 0 })
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn here(&self) -> Span {
        let end = Span { start: self.span.end, end: self.span.end };
        self.tokens.get(self.at).map_or(end, |(_, span)| *span)
    }

    fn before(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(self.span, |(_, span)| *span)
    }

    pub(super) fn fail(&self, why: &str) -> SyntaxError {
        SyntaxError { at: self.here(), why: why.to_owned() }
    }

    pub(super) fn done(&self) -> Parsed<()> {
        if self.at_end() { Ok(()) } else { Err(self.fail("the expression ends before this")) }
    }

    pub(super) fn finish(&mut self) -> Parsed<Expr> {
        let expr = self.tuple()?;
        self.done()?;
        Ok(expr)
    }

    pub(super) fn is(&self, op: &str) -> bool {
        matches!(self.tokens.get(self.at), Some((Tok::Op(found), _)) if *found == op)
    }

    pub(super) fn accept(&mut self, op: &str) -> bool {
        let found = self.is(op);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, op: &str) -> Parsed<()> {
        if self.accept(op) { Ok(()) } else { Err(self.fail(&format!("`{op}` is due here"))) }
    }

    fn peek_word(&self) -> &'a str {
        match self.tokens.get(self.at) {
            Some((Tok::Name, span)) => &self.text[span.range()],
            _ => "",
        }
    }

    pub(super) fn word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        self.at += usize::from(found);
        found
    }

    pub(super) fn name(&mut self) -> Parsed<Arc<str>> {
        match self.peek_word() {
            "" => Err(self.fail("a name is due here")),
            name => {
                self.at += 1;
                Ok(name.into())
            }
        }
    }

    pub(super) fn target(&mut self) -> Parsed<Target> {
        self.accept("(");
        let name = self.name()?;
        let target = if self.accept(".") { Target::Attr(name, self.name()?) } else { Target::Name(name) };
        self.accept(")");
        Ok(target)
    }

    pub(super) fn params(&mut self) -> Parsed<Vec<(Arc<str>, Option<Expr>)>> {
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

    pub(super) fn tuple(&mut self) -> Parsed<Expr> {
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

    pub(super) fn expr(&mut self) -> Parsed<Expr> {
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

    pub(super) fn or(&mut self) -> Parsed<Expr> {
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
    pub(super) fn filters(&mut self, of: Option<Expr>) -> Parsed<Option<Expr>> {
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
