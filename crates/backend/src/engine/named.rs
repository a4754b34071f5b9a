//! What a query that somebody typed names: its tables, and columns that `*` is to leave out.
//!
//! Works on the parsed text alone; knows no table.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    ExcludeSelectItem, Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, Query, Select,
    SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableFactor, Visit, VisitMut, Visitor, VisitorMut,
    WildcardAdditionalOptions,
};

use super::{EngineError, analysis};

/// What a query names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Names in FROM, CTEs among them; unquoted parts in lower case, joined by dots.
    pub tables: Vec<String>,
    /// Whether one of the hidden columns is named.
    pub hidden: bool,
}

/// What `sql` names.
///
/// # Errors
/// Text that is not one SELECT.
pub fn named(sql: &str, hidden: &[&str]) -> Result<Named, EngineError> {
    let mut names = Names { hidden, found: Named::default() };
    let _ = analysis::parse(sql)?.visit(&mut names);
    names.found.tables.sort_unstable();
    names.found.tables.dedup();
    Ok(names.found)
}

/// `sql` with each `*` over one of the tables `wide` leaving the columns `hidden` out.
///
/// # Errors
/// Text that is not one SELECT.
pub fn with_narrow_stars(sql: &str, wide: &[String], hidden: &[&str]) -> Result<String, EngineError> {
    let mut statement = analysis::parse(sql)?;
    let _ = VisitMut::visit(&mut statement, &mut Stars { wide, hidden });
    Ok(statement.to_string())
}

struct Names<'a> {
    hidden: &'a [&'a str],
    found: Named,
}

impl Visitor for Names<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.found.tables.push(text(relation));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let last = match expr {
            Expr::Identifier(ident) => Some(ident),
            Expr::CompoundIdentifier(parts) => parts.last(),
            _ => None,
        };
        self.found.hidden |= last.is_some_and(|last| self.hidden.contains(&plain(last).as_str()));
        ControlFlow::Continue(())
    }
}

fn plain(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_ascii_lowercase() }
}

fn text(name: &ObjectName) -> String {
    name.0.iter().filter_map(|part| part.as_ident()).map(plain).collect::<Vec<_>>().join(".")
}

struct Stars<'a> {
    wide: &'a [String],
    hidden: &'a [&'a str],
}

impl VisitorMut for Stars<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.body(&mut query.body);
        ControlFlow::Continue(())
    }
}

/// What one name in FROM stands for.
struct Factor {
    qualifier: ObjectName,
    wide: bool,
}

impl Stars<'_> {
    /// Queries inside are visited on their own.
    fn body(&self, body: &mut SetExpr) {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left);
                self.body(right);
            }
            _ => {}
        }
    }

    fn select(&self, select: &mut Select) {
        let joins: Vec<&Join> = select.from.iter().flat_map(|from| &from.joins).collect();
        let relations = select.from.iter().map(|from| &from.relation);
        let all: Vec<Option<Factor>> = relations
            .chain(joins.iter().map(|join| &join.relation))
            .map(|factor| self.factor(factor))
            .collect();
        // A column that a join has made one is no longer any side's: then the star stays one.
        let splits = all.iter().all(Option::is_some) && !joins.iter().any(|join| merges(join));
        let factors: Vec<Factor> = all.into_iter().flatten().collect();
        if !factors.iter().any(|factor| factor.wide) {
            return;
        }
        let mut items = Vec::with_capacity(select.projection.len());
        for item in std::mem::take(&mut select.projection) {
            match item {
                SelectItem::Wildcard(options) if splits => items.extend(factors.iter().map(|factor| {
                    let kind = SelectItemQualifiedWildcardKind::ObjectName(factor.qualifier.clone());
                    SelectItem::QualifiedWildcard(kind, self.narrowed(options.clone(), factor.wide))
                })),
                SelectItem::Wildcard(options) => {
                    items.push(SelectItem::Wildcard(self.narrowed(options, true)))
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    let wide =
                        factors.iter().any(|factor| factor.wide && text(&factor.qualifier) == text(&name));
                    let kind = SelectItemQualifiedWildcardKind::ObjectName(name);
                    items.push(SelectItem::QualifiedWildcard(kind, self.narrowed(options, wide)));
                }
                other => items.push(other),
            }
        }
        select.projection = items;
    }

    fn factor(&self, factor: &TableFactor) -> Option<Factor> {
        match factor {
            TableFactor::Table { name, alias, .. } => Some(Factor {
                qualifier: alias.as_ref().map_or_else(|| name.clone(), |alias| alias.name.clone().into()),
                wide: self.wide.contains(&text(name)),
            }),
            TableFactor::Derived { alias: Some(alias), .. } => {
                Some(Factor { qualifier: alias.name.clone().into(), wide: false })
            }
            _ => None,
        }
    }

    fn narrowed(&self, mut options: WildcardAdditionalOptions, wide: bool) -> WildcardAdditionalOptions {
        if wide {
            let mut left_out = match options.opt_exclude.take() {
                Some(ExcludeSelectItem::Single(column)) => vec![column],
                Some(ExcludeSelectItem::Multiple(columns)) => columns,
                None => Vec::new(),
            };
            left_out.extend(self.hidden.iter().map(|column| Ident::new(*column)));
            options.opt_exclude = Some(ExcludeSelectItem::Multiple(left_out));
        }
        options
    }
}

/// Whether a join makes one column of two.
fn merges(join: &Join) -> bool {
    use JoinOperator as J;
    let (J::Join(by)
    | J::Inner(by)
    | J::Left(by)
    | J::LeftOuter(by)
    | J::Right(by)
    | J::RightOuter(by)
    | J::FullOuter(by)) = &join.join_operator
    else {
        return false;
    };
    matches!(by, JoinConstraint::Using(_) | JoinConstraint::Natural)
}
