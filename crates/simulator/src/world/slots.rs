//! Tables of slots (device and country), which many sites share.

use std::collections::HashMap;
use std::sync::Arc;

use super::axes::{BY_TRAFFIC, COUNTRIES, DEVICES, SLOTS, draw_table, slot};
use super::blueprint::Blueprint;

/// The tables made so far, by the shares of devices and the home country.
#[derive(Default)]
pub(super) struct SlotTables(HashMap<([u64; 3], &'static str), Arc<[u8]>>);

impl SlotTables {
    /// The table of a site: 65,536 slots in proportion to their traffic.
    pub fn of(&mut self, site: &Blueprint) -> Arc<[u8]> {
        let devices = site.profile.devices;
        let key = (devices.map(f64::to_bits), site.home);
        Arc::clone(self.0.entry(key).or_insert_with(|| slot_table(&devices, site.home).into()))
    }
}

/// Devices × countries. The home country has 57 %, the others decrease as k^-1.3.
fn slot_table(devices: &[f64; 3], home: &str) -> Vec<u8> {
    let mut countries = [0.0; COUNTRIES.len()];
    let others = BY_TRAFFIC.iter().filter(|country| **country != home);
    let weights: Vec<f64> = (1..COUNTRIES.len()).map(|k| (k as f64).powf(-1.3)).collect();
    let total: f64 = weights.iter().sum();
    for (country, weight) in others.zip(weights) {
        countries[country_index(country)] = 0.43 * weight / total;
    }
    countries[country_index(home)] = 0.57;
    let mut shares = vec![0.0; SLOTS];
    for device in 0..DEVICES.len() {
        for (country, share) in countries.iter().enumerate() {
            shares[slot(device, country)] = devices[device] * share;
        }
    }
    draw_table(&shares, 65_536)
}

fn country_index(code: &str) -> usize {
    COUNTRIES.binary_search(&code).unwrap_or(COUNTRIES.len() - 1)
}
