//! Bytes of a file to text. SQL files come from many editors: UTF-8 with and without its mark, UTF-16, Latin-1.

/// Files beyond this are dumps.
const BYTES_MAX: usize = 256 << 20;

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// What it says.
    pub text: String,
    /// Whether it was written back byte for byte if `text` were, behind `mark`.
    pub faithful: bool,
    /// Whether UTF-8's byte order mark stood before it.
    pub mark: bool,
}

/// Decodes a file.
///
/// # Errors
/// Too large, or binary.
pub fn decode(bytes: Vec<u8>) -> Result<Decoded, String> {
    if bytes.len() > BYTES_MAX {
        return Err(format!("larger than {} MB", BYTES_MAX >> 20));
    }
    let unfaithful = |text: String| Decoded { text, faithful: false, mark: false };
    match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => return Ok(unfaithful(utf16(rest, u16::from_le_bytes))),
        [0xFE, 0xFF, rest @ ..] => return Ok(unfaithful(utf16(rest, u16::from_be_bytes))),
        _ => {}
    }
    if bytes.iter().take(8_000).any(|byte| *byte == 0) {
        return Err("a binary file".to_owned());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(match text.strip_prefix('\u{FEFF}') {
            Some(rest) => Decoded { text: rest.to_owned(), faithful: true, mark: true },
            None => Decoded { text, faithful: true, mark: false },
        }),
        // One byte, one character: places stay right.
        Err(error) => Ok(unfaithful(error.into_bytes().into_iter().map(char::from).collect())),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn texts_of_many_editors() {
        let text =
            |bytes: &[u8]| decode(bytes.to_vec()).map(|found| (found.text, found.faithful, found.mark));
        assert_eq!(text(b"SELECT 1"), Ok(("SELECT 1".to_owned(), true, false)));
        assert_eq!(text(b"\xEF\xBB\xBFSELECT 1"), Ok(("SELECT 1".to_owned(), true, true)));
        assert_eq!(text(b"\xFF\xFEA\0\xE9\0"), Ok(("A\u{e9}".to_owned(), false, false)));
        assert_eq!(text(b"\xFE\xFF\0A"), Ok(("A".to_owned(), false, false)));
        assert_eq!(text(b"'caf\xE9'"), Ok(("'caf\u{e9}'".to_owned(), false, false)));
        assert!(text(b"PAR1\0\0").is_err());
    }
}
