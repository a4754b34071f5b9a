//! YAML to a tree of nodes that know their bytes. Knows no key of ours: see [`crate::decode`].
//!
//! Our own tree rather than a library's: it keeps duplicate keys (to point at both), never recurses on nested input
//! while parsing, and refuses what a configuration has no use for: anchors, tags, several documents.

use std::borrow::Cow;

use oncemore_core::{Diagnostic, Location};
use saphyr_parser::{Event, Parser, ScalarStyle, Span};

/// Deepest nesting; the deepest that means anything is six.
const DEPTH_MAX: usize = 32;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    pub(crate) path: &'a str,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) data: Data<'a>,
}

/// What a node holds.
#[derive(Clone, Debug)]
pub(crate) enum Data<'a> {
    /// Text, and whether it was written without quotes, so that it may be a number or null.
    Scalar(Cow<'a, str>, bool),
    List(Vec<Node<'a>>),
    Map(Vec<(Node<'a>, Node<'a>)>),
}

impl Node<'_> {
    pub(crate) fn location(&self) -> Location {
        Location { path: self.path.to_owned(), start: self.start, end: self.end }
    }

    /// Whether nothing was written.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.data, Data::Scalar(text, true) if matches!(text.as_ref(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The kind of value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.data {
            _ if self.is_null() => "nothing",
            Data::Scalar(text, true) if text.parse::<u64>().is_ok() => "a whole number",
            Data::Scalar(text, true) if text.parse::<i64>().is_ok() => "a negative number",
            Data::Scalar(text, true) if matches!(text.as_ref(), "true" | "false") => "true or false",
            Data::Scalar(..) => "text",
            Data::List(_) => "a list",
            Data::Map(_) => "a mapping",
        }
    }
}

/// Parses `text[start..end]` of the file `path`: one document, `None` where it is empty.
pub(crate) fn parse<'a>(
    path: &'a str,
    text: &'a str,
    start: usize,
    end: usize,
) -> Result<Option<Node<'a>>, Diagnostic> {
    let part = &text[start..end];
    let offsets = Offsets::new(part, start);
    let mut builder = Builder { path, text, offsets, open: Vec::new(), root: None };
    let mut parser = Parser::new_from_str(part);
    while let Some(event) = parser.next_event() {
        match event {
            Ok((Event::StreamEnd, _)) => break,
            Ok((event, span)) => builder.event(event, span)?,
            Err(error) => {
                let at = builder.offsets.byte(error.marker().index());
                return Err(builder.fail(at, at, format!("YAML: {}", error.info()), None));
            }
        }
    }
    Ok(builder.root)
}

/// From characters, in which the parser counts, to bytes of the file.
struct Offsets {
    base: usize,
    len: usize,
    /// Byte of each character, where some character is longer than a byte.
    bytes: Option<Vec<usize>>,
}

impl Offsets {
    fn new(part: &str, base: usize) -> Self {
        let bytes = (!part.is_ascii()).then(|| part.char_indices().map(|(byte, _)| byte).collect());
        Offsets { base, len: part.len(), bytes }
    }

    fn byte(&self, index: usize) -> usize {
        let byte = match &self.bytes {
            Some(bytes) => bytes.get(index).copied().unwrap_or(self.len),
            None => index.min(self.len),
        };
        self.base + byte
    }
}

struct Builder<'a> {
    path: &'a str,
    text: &'a str,
    offsets: Offsets,
    /// Lists and mappings that are not complete, each with the key that waits for its value.
    open: Vec<(Node<'a>, Option<Node<'a>>)>,
    root: Option<Node<'a>>,
}

impl<'a> Builder<'a> {
    fn event(&mut self, event: Event<'a>, span: Span) -> Result<(), Diagnostic> {
        let (start, end) = (self.offsets.byte(span.start.index()), self.offsets.byte(span.end.index()));
        match event {
            Event::Scalar(_, _, anchor, tag) if anchor > 0 || tag.is_some() => self.refuse(start, end),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag)
                if anchor > 0 || tag.is_some() =>
            {
                self.refuse(start, end)
            }
            Event::Alias(_) => self.refuse(start, end),
            Event::Scalar(text, style, ..) => {
                let plain = style == ScalarStyle::Plain;
                self.add(Node { path: self.path, start, end, data: Data::Scalar(text, plain) })
            }
            Event::SequenceStart(..) => self.open(start, Data::List(Vec::new())),
            Event::MappingStart(..) => self.open(start, Data::Map(Vec::new())),
            Event::SequenceEnd | Event::MappingEnd => self.close(end),
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(self.fail(start, end, "a second YAML document".to_owned(), Some("one document a file")))
            }
            _ => Ok(()),
        }
    }

    fn refuse(&self, start: usize, end: usize) -> Result<(), Diagnostic> {
        let message = "anchors, aliases and tags of YAML are not used here".to_owned();
        Err(self.fail(start, end, message, Some("write the value out")))
    }

    fn fail(&self, start: usize, end: usize, message: String, help: Option<&str>) -> Diagnostic {
        let location = Location { path: self.path.to_owned(), start, end: end.max(start) };
        let error = Diagnostic::error("yaml", message, location);
        match help {
            Some(help) => error.help(help),
            None => error,
        }
    }

    fn open(&mut self, start: usize, data: Data<'a>) -> Result<(), Diagnostic> {
        if self.open.len() >= DEPTH_MAX {
            return Err(self.fail(start, start, "nested too deeply".to_owned(), None));
        }
        self.open.push((Node { path: self.path, start, end: start, data }, None));
        Ok(())
    }

    fn close(&mut self, end: usize) -> Result<(), Diagnostic> {
        let Some((mut node, _)) = self.open.pop() else { return Ok(()) };
        // The end of an indented block lies at the next token: give back the white space and comments between.
        let last = match &node.data {
            Data::List(items) => items.last().map(|item| item.end),
            Data::Map(entries) => entries.last().map(|(_, value)| value.end),
            Data::Scalar(..) => None,
        };
        let flow = self.text[node.start..].starts_with(['[', '{']);
        node.end = if flow { end } else { last.unwrap_or(end) };
        self.add(node)
    }

    fn add(&mut self, node: Node<'a>) -> Result<(), Diagnostic> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some((Node { data: Data::List(items), .. }, _)) => items.push(node),
            Some((Node { data: Data::Map(entries), .. }, key)) => match key.take() {
                Some(name) => entries.push((name, node)),
                None => *key = Some(node),
            },
            Some(_) => {}
        }
        Ok(())
    }
}
