//! Quotes in CSV, seen apart from the fields: `csv-core` glues what stands behind a closing quote to the field. Pure.

use memchr::memchr_iter;

/// Goes over the blocks of one file, in order.
pub(crate) struct Quotes {
    delimiter: u8,
    /// Whether a quoted field is open.
    open: bool,
    /// Whether the block before ended in a quote that closes its field, unless the next byte is one more.
    undecided: bool,
    last: u8,
}

impl Quotes {
    /// At the start of a file.
    pub(crate) fn new(delimiter: u8) -> Self {
        Quotes { delimiter, open: false, undecided: false, last: b'\n' }
    }

    /// The first byte of the next block that stands behind a closing quote, and ends neither the field nor the row.
    /// Where there is one, no further block is understood.
    pub(crate) fn stray(&mut self, block: &[u8]) -> Option<usize> {
        let first = *block.first()?;
        // Of a quote within a quoted field, the second one.
        let mut behind = 0;
        if std::mem::take(&mut self.undecided) {
            match first {
                b'"' => (self.open, behind) = (true, 1),
                end if self.is_end(end) => {}
                _ => return Some(0),
            }
        }
        for at in memchr_iter(b'"', block) {
            if at < behind {
                continue;
            }
            if !self.open {
                // Elsewhere than at the start of a field, a quote is a letter like others.
                let before = at.checked_sub(1).map_or(self.last, |before| block[before]);
                self.open = self.is_end(before);
                continue;
            }
            match block.get(at + 1) {
                Some(b'"') => behind = at + 2,
                Some(end) if !self.is_end(*end) => return Some(at + 1),
                after => (self.open, self.undecided) = (false, after.is_none()),
            }
        }
        self.last = block.last().copied().unwrap_or(first);
        None
    }

    fn is_end(&self, byte: u8) -> bool {
        byte == self.delimiter || byte == b'\n' || byte == b'\r'
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stray byte of a text, however it is cut into blocks.
    fn stray(text: &str) -> Option<usize> {
        let whole = Quotes::new(b',').stray(text.as_bytes());
        for size in 1..text.len() {
            let mut quotes = Quotes::new(b',');
            let mut blocks = text.as_bytes().chunks(size).enumerate();
            let cut = blocks.find_map(|(number, block)| Some(number * size + quotes.stray(block)?));
            assert_eq!(cut, whole, "{text:?} in blocks of {size}");
        }
        whole
    }

    #[test]
    fn behind_a_closing_quote() {
        assert_eq!(stray("a,\"b\"c,d\n"), Some(5));
        assert_eq!(stray("\"\"\"a\"\"\" ,\n"), Some(7));
        assert_eq!(stray("\"a\nb\"c"), Some(5));
        assert_eq!(stray("\"a\",\"b\"\"\" \n"), Some(9));
    }

    #[test]
    fn where_quotes_may_be() {
        for whole in [
            "",
            "\"a\",\"b\"\r\n\"c\"\r\"d\"\n\"e\"",
            "a\"b\",c\"\n",
            " \"a\" \"b\"\n",
            "\"\",\"\"\"\",\"a\"\"b\",\"a,\n\"\n",
            "\"never closed,\n",
        ] {
            assert_eq!(stray(whole), None, "{whole:?}");
        }
    }
}
