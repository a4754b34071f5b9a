//! A walk over Thrift's compact encoding that believes no length: run before a footer or a page is decoded,
//! because a decoder reserves memory for as many elements as a list, and as many bytes as a page, claims to
//! have, and a failed reservation ends the process.

/// Deepest nesting.
const MAX_DEPTH: usize = 64;

/// Whether `bytes` begin with one struct whose lists and strings fit into `bytes`.
///
/// # Errors
/// What is wrong.
pub fn check(bytes: &[u8]) -> Result<(), &'static str> {
    Walk { bytes, at: 0 }.fields(0)
}

/// What the header of a page says.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Bytes of the header itself.
    pub header: u64,
    /// Bytes that follow it.
    pub packed: u64,
    /// Bytes that they unpack to.
    pub unpacked: u64,
}

/// Reads the header of a page at the start of `bytes`.
///
/// # Errors
/// What is wrong.
pub fn page(bytes: &[u8]) -> Result<Page, &'static str> {
    const NO_SIZE: &str = "it has no size";
    let mut walk = Walk { bytes, at: 0 };
    let (mut id, mut unpacked, mut packed) = (0, None, None);
    loop {
        let head = walk.byte()?;
        if head == 0 {
            break;
        }
        id = match head >> 4 {
            0 => walk.signed()?,
            ahead => id + i64::from(ahead),
        };
        if i16::try_from(id).is_err() {
            return Err("a field has no number");
        }
        match (id, head & 0x0f) {
            (2, 5) => unpacked = Some(walk.signed()?),
            (3, 5) => packed = Some(walk.signed()?),
            (_, 1 | 2) => {}
            (_, kind) => walk.value(kind, 0)?,
        }
    }
    let size = |size: Option<i64>| u32::try_from(size.ok_or(NO_SIZE)?).map(u64::from).map_err(|_| NO_SIZE);
    Ok(Page { header: walk.at as u64, packed: size(packed)?, unpacked: size(unpacked)? })
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

const CUT_OFF: &str = "it is cut off";

impl Walk<'_> {
    fn byte(&mut self) -> Result<u8, &'static str> {
        let byte = *self.bytes.get(self.at).ok_or(CUT_OFF)?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, &'static str> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number is too long")
    }

    fn signed(&mut self) -> Result<i64, &'static str> {
        let zigzag = self.varint()?;
        Ok((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
    }

    fn skip(&mut self, length: u64) -> Result<(), &'static str> {
        let left = self.bytes.len() - self.at;
        match usize::try_from(length) {
            Ok(length) if length <= left => {
                self.at += length;
                Ok(())
            }
            _ => Err("a length goes beyond its end"),
        }
    }

    fn fields(&mut self, depth: usize) -> Result<(), &'static str> {
        if depth > MAX_DEPTH {
            return Err("it is nested too deeply");
        }
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            if head >> 4 == 0 {
                self.varint()?;
            }
            // A boolean field's value is in its type.
            if !matches!(head & 0x0f, 1 | 2) {
                self.value(head & 0x0f, depth)?;
            }
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result<(), &'static str> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => self.list(depth),
            11 => self.map(depth),
            12 => self.fields(depth + 1),
            _ => Err("it holds an unknown type"),
        }
    }

    fn list(&mut self, depth: usize) -> Result<(), &'static str> {
        let head = self.byte()?;
        let size = match head >> 4 {
            15 => self.varint()?,
            short => u64::from(short),
        };
        self.elements(size, &[head & 0x0f], depth)
    }

    fn map(&mut self, depth: usize) -> Result<(), &'static str> {
        let size = self.varint()?;
        if size == 0 {
            return Ok(());
        }
        let kinds = self.byte()?;
        self.elements(size, &[kinds >> 4, kinds & 0x0f], depth)
    }

    /// Every element takes a byte at least, so a list can't have more than bytes are left.
    fn elements(&mut self, size: u64, kinds: &[u8], depth: usize) -> Result<(), &'static str> {
        if depth > MAX_DEPTH {
            return Err("it is nested too deeply");
        }
        if size > (self.bytes.len() - self.at) as u64 {
            return Err("a list claims more elements than there are bytes");
        }
        if size > 0 && kinds.iter().any(|kind| matches!(kind, 1 | 2)) {
            // Neither footers nor headers have one, and a decoder that skips it goes on in the middle of its values.
            return Err("it holds a list of booleans");
        }
        for _ in 0..size {
            for kind in kinds {
                self.value(*kind, depth + 1)?;
            }
        }
        Ok(())
    }
}
