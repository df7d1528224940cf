//! The tables of the service's own records, one file each, with finders that are scoped to an owner.
