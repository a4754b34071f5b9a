//! Wrong projects and wrong data, each with all that is said about it.
