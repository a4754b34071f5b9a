//! Digests of meaning: what a slice's content depends on, as a hash that is stable over releases.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Raised when an upgrade of the engine or of our own functions may change results, or the hashes of rows. Part of every
/// code version; what was added up of other hashes is added up anew.
pub const SEMANTICS: u32 = 2;

/// A SHA-256 digest, shown as 64 hex digits, in talk as the first twelve.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(pub [u8; 32]);

/// What a model means: query, settings that change its output, views and variables it reads, [`SEMANTICS`].
pub type CodeVersion = Digest;

impl Digest {
    /// The digest of one byte string.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    /// The first twelve hex digits, for people.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short())
    }
}

/// A text that is not 64 hex digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no digest: 64 hex digits expected")]
pub struct DigestError(String);

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let mut bytes = [0; 32];
        let read = |(byte, [high, low]): (&mut u8, &[u8; 2])| {
            *byte = digit(*high)? << 4 | digit(*low)?;
            Some(())
        };
        let whole = pairs.len() == bytes.len() && rest.is_empty();
        match bytes.iter_mut().zip(pairs).try_for_each(|pair| read(pair).ok_or(())) {
            Ok(()) if whole => Ok(Digest(bytes)),
            _ => Err(DigestError(text.to_owned())),
        }
    }
}

fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        b'A'..=b'F' => Some(letter - b'A' + 10),
        _ => None,
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestError;

    fn try_from(text: String) -> Result<Self, DigestError> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

/// Feeds a digest with named, length-prefixed fields, so that no two field lists look alike.
#[derive(Clone, Debug)]
pub struct Digester(Sha256);

impl Digester {
    /// A digest of the kind `domain`; digests of differing kinds never meet.
    pub fn new(domain: &str) -> Self {
        Digester(Sha256::new()).field("domain", domain)
    }

    /// Adds a field.
    #[must_use]
    pub fn field(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        for part in [name.as_bytes(), value.as_ref()] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
        self
    }

    /// The digest of all that was fed.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}
