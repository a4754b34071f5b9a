//! How deep an expression goes, told from its tokens, before anything walks it by recursion.

use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Deepest expression that is taken on. Parsers and planners go down by recursion, and a chain of a thousand ANDs is a
/// thousand levels to them.
const DEPTH_MAX: usize = 1_000;

/// The first token that lies too deep.
pub(crate) fn too_deep(tokens: &[TokenWithSpan]) -> Option<&TokenWithSpan> {
    let mut open = vec![Level::default()];
    let mut depth = 0;
    for token in tokens {
        match kind(&token.token) {
            Kind::Opens => open.push(Level::default()),
            Kind::Closes if open.len() > 1 => {
                let closed = open.pop().unwrap_or_default();
                depth -= closed.depth();
            }
            Kind::Chains => {
                depth += 1;
                open.last_mut().unwrap_or(&mut Level::default()).chain += 1;
            }
            Kind::Stacks => {
                depth += 1;
                open.last_mut().unwrap_or(&mut Level::default()).stack += 1;
            }
            Kind::Separates => {
                if let Some(level) = open.last_mut() {
                    depth -= std::mem::take(&mut level.chain);
                }
            }
            Kind::Closes | Kind::Other => {}
        }
        if depth + open.len() > DEPTH_MAX {
            return Some(token);
        }
    }
    None
}

/// What is open between two parentheses.
#[derive(Default)]
struct Level {
    /// Operators of the expression under way.
    chain: usize,
    /// Set operations and joins, which end with the parenthesis alone.
    stack: usize,
}

impl Level {
    fn depth(&self) -> usize {
        self.chain + self.stack
    }
}

enum Kind {
    Opens,
    Closes,
    Chains,
    Stacks,
    Separates,
    Other,
}

fn kind(token: &Token) -> Kind {
    match token {
        Token::LParen | Token::LBracket => Kind::Opens,
        Token::RParen | Token::RBracket => Kind::Closes,
        Token::Plus | Token::Minus | Token::Mul | Token::Div | Token::Mod | Token::StringConcat => {
            Kind::Chains
        }
        Token::Comma | Token::SemiColon => Kind::Separates,
        Token::Word(word) if word.quote_style.is_none() => match word.value.to_ascii_uppercase().as_str() {
            "CASE" => Kind::Opens,
            "END" => Kind::Closes,
            "AND" | "OR" | "NOT" => Kind::Chains,
            "UNION" | "EXCEPT" | "INTERSECT" | "JOIN" => Kind::Stacks,
            "SELECT" | "FROM" | "WHERE" | "GROUP" | "HAVING" | "ORDER" | "LIMIT" | "WHEN" | "THEN"
            | "ELSE" | "ON" | "WITH" | "VALUES" => Kind::Separates,
            _ => Kind::Other,
        },
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use sqlparser::tokenizer::Tokenizer;

    use super::{DEPTH_MAX, too_deep};

    fn is_too_deep(sql: &str) -> bool {
        let tokens = Tokenizer::new(&super::super::DIALECT, sql).tokenize_with_location();
        tokens.is_ok_and(|tokens| too_deep(&tokens).is_some())
    }

    #[test]
    fn chains_and_nests_are_counted_and_lists_are_not() {
        let times = |part: &str, number: usize| part.repeat(number);
        assert!(is_too_deep(&format!("SELECT 1{}", times(" + 1", 20_000))));
        assert!(is_too_deep(&format!("SELECT a FROM t WHERE a = 0{}", times(" OR a = 1", DEPTH_MAX))));
        assert!(is_too_deep(&format!("SELECT {}1{}", times("(", 2_000), times(")", 2_000))));
        assert!(is_too_deep(&format!("SELECT 1{}", times(" UNION ALL SELECT 1", 2_000))));
        assert!(!is_too_deep(&format!("SELECT 1{}", times(" + 1", DEPTH_MAX - 2))));
        assert!(!is_too_deep(&format!("SELECT 1{}", times(", a + 1", 20_000))));
        assert!(!is_too_deep(&format!(
            "SELECT CASE{} END",
            times(" WHEN a = 1 AND b = 2 THEN a + b", 20_000)
        )));
        assert!(!is_too_deep(&format!("SELECT a FROM t WHERE a IN (0{})", times(", 1 + 1", 20_000))));
        assert!(!is_too_deep("SELECT 1) END ] + 1"));
    }
}
