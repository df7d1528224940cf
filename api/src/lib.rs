//! The contract: traits that declare every operation, the wire types, and the `OpenAPI` document made of them.
