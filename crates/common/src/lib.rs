//! Small parts that every crate may use: time, randomness, digests, sealing, addresses, text and answers of others, caches,
//! rate limits, disks and locks.

pub mod addresses;
pub mod allowance;
pub mod base_url;
pub mod bounded;
pub mod byte_budget;
pub mod byte_cache;
pub mod clock;
pub mod compute;
pub mod descriptors;
pub mod digest;
pub mod disk;
pub mod entity_tags;
pub mod file_lock;
pub mod json;
pub mod mail_address;
pub mod memory;
pub mod metrics;
pub mod names;
pub mod numbers;
pub mod places;
pub mod plain_text;
pub mod private_files;
pub mod random;
pub mod rate_limit;
pub mod scope;
pub mod secrets;
pub mod single_flight;
pub mod strict_json;
pub mod urls;
pub mod waiting;
