//! Metrics of the process, under the names that they have in every program. Where the system does not say a value, it is left out.

use std::{fmt, fs};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
};

/// The process.
#[derive(Debug)]
pub struct Process {
    /// Its start, in seconds since 1970.
    pub started: f64,
}

/// The fields of `/proc/self/stat` that are measured.
#[derive(Debug, PartialEq)]
struct Stat {
    cpu_ticks: u64,
    threads: u64,
    resident_pages: u64,
}

impl Stat {
    /// Reads the fields after the name of the program, which may hold anything.
    fn read(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
        Some(Self { cpu_ticks: number(11)? + number(12)?, threads: number(17)?, resident_pages: number(21)? })
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let encoder = &mut encoder;
        gauge(encoder, "process_start_time_seconds", "Start of the process, in seconds since 1970", self.started)?;
        if let Some(stat) = fs::read_to_string("/proc/self/stat").ok().as_deref().and_then(Stat::read) {
            #[cfg(unix)]
            {
                let seconds = stat.cpu_ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
                let help = "Processor time of the process";
                ConstCounter::new(seconds).encode(encoder.encode_descriptor(
                    "process_cpu_seconds",
                    help,
                    None,
                    MetricType::Counter,
                )?)?;
                let bytes = stat.resident_pages as f64 * rustix::param::page_size() as f64;
                gauge(encoder, "process_resident_memory_bytes", "Memory of the process that is not swapped", bytes)?;
            }
            gauge(encoder, "process_threads", "Threads of the process", stat.threads as f64)?;
        }
        if let Ok(open) = fs::read_dir("/proc/self/fd") {
            // One of them reads the folder.
            let open = open.count().saturating_sub(1);
            gauge(encoder, "process_open_fds", "Open file descriptors", open as f64)?;
        }
        #[cfg(unix)]
        if let Some(most) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
            gauge(encoder, "process_max_fds", "File descriptors that may be open", most as f64)?;
        }
        Ok(())
    }
}

fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: f64) -> fmt::Result {
    ConstGauge::new(value).encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_brackets_moves_no_field() {
        let line = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 9 0 100 1000 42 18446744073709551615 1";
        assert_eq!(Stat::read(line), Some(Stat { cpu_ticks: 300, threads: 9, resident_pages: 42 }));
        assert_eq!(Stat::read(""), None);
        assert_eq!(Stat::read("7 (a) S 1"), None);
    }
}
