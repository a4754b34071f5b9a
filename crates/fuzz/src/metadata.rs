//! Files of a table's metadata: the metadata file, manifest lists and manifests, told apart by what they begin with.

use oncemore_commit::from_disk;

/// Reads the bytes as each kind of file that begins so, and does what a commit would do with it.
pub fn run(bytes: &[u8]) {
    if bytes.starts_with(b"Obj\x01") {
        from_disk::manifest_list(bytes);
        from_disk::manifest(bytes);
    } else {
        from_disk::table_metadata(bytes);
    }
}
