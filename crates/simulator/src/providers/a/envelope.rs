//! The envelope around every answer of provider A, and its codes.

use poem::http::StatusCode;
use serde_json::{Map, Value, json};

use crate::providers::answer::ProviderAnswer;
use crate::providers::values::dollars;
use crate::search::Now;
use crate::world::rng::{child, count, unit};

/// A code of the vendor with its text.
pub(super) type Code = (u32, &'static str);

pub(super) const OK: Code = (20000, "Ok.");
pub(super) const ONE_TASK: Code = (40000, "You can set only one task at a time.");
pub(super) const TOO_MANY_TASKS: Code = (40006, "You can set no more than 100 tasks at a time.");
pub(super) const NOT_AUTHORIZED: Code = (40100, "You are not authorized to access this resource.");
pub(super) const NO_RESULTS: Code = (40102, "No Search Results.");
pub(super) const NOT_VERIFIED: Code = (40104, "Please verify your account before using the API.");
pub(super) const PAYMENT_REQUIRED: Code = (40200, "Payment Required.");
pub(super) const RATE_LIMIT: Code = (40202, "The rate-limit per minute has been exceeded.");
pub(super) const ACCESS_DENIED: Code =
    (40204, "Access denied. Visit Plans and Subscriptions to activate your subscription and get access to this API.");
pub(super) const INSUFFICIENT_FUNDS: Code = (40210, "Insufficient Funds.");
pub(super) const INVALID_PATH: Code = (40402, "Invalid Path.");
pub(super) const DATA_EMPTY: Code = (40502, "POST Data Is Empty.");
pub(super) const DATA_INVALID: Code = (40503, "POST Data Is Invalid.");
pub(super) const INTERNAL: Code = (50000, "Internal Error.");

/// The outcome of a task.
#[derive(Debug)]
pub(super) struct TaskResult {
    pub code: u32,
    pub message: String,
    /// Millionths of a US dollar.
    pub cost: u64,
    /// Absent on failed tasks.
    pub result: Option<Vec<Value>>,
}

impl TaskResult {
    /// A task that failed without costing anything.
    pub fn failed((code, message): Code) -> Self {
        Self { code, message: message.to_owned(), cost: 0, result: None }
    }

    /// The failure of a task whose field `name` is not valid.
    pub fn invalid_field(name: &str) -> Self {
        Self { code: 40501, message: format!("Invalid Field: '{name}'."), cost: 0, result: None }
    }
}

/// Writes answers. The ids and times in them depend on the question alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Envelope {
    /// The random key of the question.
    pub key: u64,
    pub now: Now,
}

impl Envelope {
    fn seconds(&self, axis: u64) -> String {
        format!("0.{:04} sec.", count(unit(child(self.key, axis)) * 4_000.0))
    }

    /// One task. `data` is the question, as the vendor repeats it.
    pub fn task(&self, number: u64, path: &str, data: &Map<String, Value>, outcome: &TaskResult) -> Value {
        let key = child(self.key, 100 + number);
        let id = format!(
            "{}{:02}00-{:04x}-0387-0000-{:012x}",
            self.now.today.format("%m%d"),
            self.now.hour,
            key >> 48,
            key & 0xFFFF_FFFF_FFFF
        );
        json!({
            "id": id,
            "status_code": outcome.code,
            "status_message": outcome.message,
            "time": self.seconds(number),
            "cost": dollars(outcome.cost),
            "result_count": outcome.result.as_ref().map_or(0, Vec::len),
            "path": path.split('/').collect::<Vec<_>>(),
            "data": data,
            "result": outcome.result,
        })
    }

    /// An answer with tasks.
    pub fn tasks(&self, status: StatusCode, (code, message): Code, tasks: &[Value], cost: u64) -> ProviderAnswer {
        let failed = tasks.iter().filter(|task| task["status_code"].as_u64() >= Some(40_000)).count();
        ProviderAnswer::json(status, &self.whole(code, message, cost, failed, Some(tasks)))
    }

    /// A refusal of the whole request, which has no tasks.
    pub fn refusal(&self, status: StatusCode, (code, message): Code) -> ProviderAnswer {
        ProviderAnswer::json(status, &self.whole(code, message, 0, 0, None))
    }

    fn whole(&self, code: u32, message: &str, cost: u64, failed: usize, tasks: Option<&[Value]>) -> Value {
        json!({
            "version": "0.1.20260717",
            "status_code": code,
            "status_message": message,
            "time": self.seconds(99),
            "cost": dollars(cost),
            "tasks_count": tasks.map_or(0, <[Value]>::len),
            "tasks_error": failed,
            "tasks": tasks,
        })
    }
}
