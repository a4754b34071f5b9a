//! What a target can do, as data, and the one function that picks how a slice is replaced there.

use serde::{Deserialize, Serialize};

/// What a target was found to be able to do, probed when it is connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// A commit of the table format can replace the files of one partition.
    pub partition_overwrite: bool,
    /// Several statements can be made visible in one transaction.
    pub transactions: bool,
    /// A merge on a key is atomic.
    pub atomic_merge: bool,
    /// A table can be exchanged with another one atomically.
    pub swap: bool,
    /// Several tables can be published in one commit.
    pub multi_table_commit: bool,
}

/// How a slice is replaced, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Partition overwrite in a commit of the table format.
    PartitionOverwrite,
    /// Delete and insert in one transaction.
    DeleteInsert,
    /// Merge on the key.
    MergeOnKey,
    /// Write beside, then exchange.
    Swap,
}

/// The strongest protocol that the capabilities allow, down the ladder; `None` where a slice can't be replaced
/// atomically at all.
pub fn choose_protocol(capabilities: Capabilities, has_key: bool) -> Option<Protocol> {
    if capabilities.partition_overwrite {
        Some(Protocol::PartitionOverwrite)
    } else if capabilities.transactions {
        Some(Protocol::DeleteInsert)
    } else if capabilities.atomic_merge && has_key {
        Some(Protocol::MergeOnKey)
    } else if capabilities.swap {
        Some(Protocol::Swap)
    } else {
        None
    }
}
