//! The local disk as an object store whose reads fail by plan. Decorates what tables are read through; writes of ours do
//! not go this way.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use oncemore_core::fault::When;

use crate::faults::{Faulty, Verb, What, said};

/// The local disk, by absolute paths; each read asks a plan before and after.
#[derive(Debug)]
pub struct FaultyObjects {
    inner: LocalFileSystem,
    faults: Arc<Faulty>,
}

impl FaultyObjects {
    /// The local disk with the faults of a plan.
    pub fn new(faults: Arc<Faulty>) -> Self {
        FaultyObjects { inner: LocalFileSystem::new(), faults }
    }

    async fn ask(&self, when: When) -> Result<()> {
        let source: Box<dyn std::error::Error + Send + Sync> = match self.faults.ask(Verb::Object, when) {
            None => return Ok(()),
            Some(What::Late(millis)) => {
                tokio::time::sleep(Duration::from_millis(millis)).await;
                return Ok(());
            }
            Some(What::Errno(number)) => Box::new(io::Error::from_raw_os_error(number)),
            Some(What::Status(status)) => said(status).into(),
        };
        Err(Error::Generic { store: "faulty", source })
    }
}

impl fmt::Display for FaultyObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with faults", self.inner)
    }
}

#[async_trait]
impl ObjectStore for FaultyObjects {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.ask(When::Before).await?;
        let found = self.inner.get_opts(location, options).await?;
        self.ask(When::After).await?;
        Ok(found)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.ask(When::Before).await?;
        let found = self.inner.get_ranges(location, ranges).await?;
        self.ask(When::After).await?;
        Ok(found)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
