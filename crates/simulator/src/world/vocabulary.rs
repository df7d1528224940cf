//! The words of queries and page URLs.

/// The words of one topic area.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    /// Subjects. A query and the pages shown for it share one.
    pub subjects: &'static [&'static str],
    /// Words before a subject. The first is empty.
    pub before: &'static [&'static str],
    /// Words after a subject. The first is empty.
    pub after: &'static [&'static str],
    /// Queries with characters that must survive JSON, CSV, HTML and regular expressions.
    pub odd: &'static [&'static str],
}

/// Outdoor goods.
pub(crate) static OUTDOOR: Vocabulary = Vocabulary {
    subjects: &[
        "rain jacket",
        "hiking boots",
        "tent",
        "sleeping bag",
        "backpack",
        "trekking poles",
        "camping stove",
        "headlamp",
        "fleece",
        "climbing rope",
        "thermos",
        "hammock",
        "map case",
        "gaiters",
        "down vest",
        "cool box",
        "bivvy bag",
        "water filter",
        "trail shoes",
        "wool socks",
    ],
    before: &[
        "",
        "best",
        "cheap",
        "lightweight",
        "waterproof",
        "mens",
        "womens",
        "kids",
        "ultralight",
        "second hand",
        "heavy duty",
        "winter",
        "summer",
        "black",
        "green",
        "large",
        "small",
        "folding",
        "insulated",
        "recycled",
        "family",
        "two person",
        "four season",
        "compact",
        "how to clean",
        "how to choose",
        "where to buy",
        "what size",
        "can you wash",
        "is a",
    ],
    after: &[
        "",
        "sale",
        "review",
        "near me",
        "size guide",
        "uk",
        "2026",
        "vs gore tex",
        "under 100",
        "for beginners",
        "repair",
        "for hiking",
        "online",
        "outlet",
        "offers",
        "for travel",
        "for cold weather",
        "with hood",
        "set",
        "returns",
        "weight",
        "for dogs",
        "alternatives",
        "brands",
        "care",
        "accessories",
        "dimensions",
        "test",
        "black friday",
        "comparison",
    ],
    odd: &[
        "=rain jacket size calculator",
        "tent (2.5m) [sale]",
        "c++ hiking boots?",
        "größe wanderschuhe",
        "東京 レインコート",
        "café stove 50% off",
        "+cheap -used tents",
        "@outdoor deals",
        "\"waterproof jacket\" $100",
        "tents, tarps; poles",
        "boots a\\b|c",
        "куртка от дождя",
        "<b>fleece</b> & hat",
        "t.e.n.t.",
        "sac à dos randonnée 40l",
    ],
};

/// Bookkeeping software.
pub(crate) static BOOKKEEPING: Vocabulary = Vocabulary {
    subjects: &[
        "invoice template",
        "bank reconciliation",
        "general ledger",
        "expense report",
        "payroll",
        "vat return",
        "audit trail",
        "cash flow forecast",
        "purchase order",
        "chart of accounts",
        "month end close",
        "accounts payable",
    ],
    before: &[
        "",
        "free",
        "best",
        "automated",
        "what is",
        "how to do",
        "small business",
        "enterprise",
        "simple",
        "online",
        "monthly",
        "example of",
        "open source",
        "cloud",
        "excel",
    ],
    after: &[
        "",
        "software",
        "api",
        "pricing",
        "tutorial",
        "vs spreadsheet",
        "for startups",
        "integration",
        "checklist",
        "process",
        "definition",
        "error",
        "export csv",
        "for nonprofits",
        "template pdf",
        "webhook",
        "best practices",
        "automation",
        "tools",
        "explained",
    ],
    odd: &[
        "=sum(invoice)",
        "accounts payable (ap)",
        "vat 20%?",
        "facture modèle gratuit",
        "a/b ledger",
        "[object object] payroll",
        "rechnung größer 100€",
        "ledger.csv.*",
        "audit^2",
        "會計 軟體",
    ],
};

/// News of a harbour town.
pub(crate) static TOWN: Vocabulary = Vocabulary {
    subjects: &[
        "ferry timetable",
        "council election",
        "harbour festival",
        "weather warning",
        "school closures",
        "football results",
        "house prices",
        "road works",
        "local obituaries",
        "concert tickets",
        "train strike",
        "fish market",
        "museum opening",
        "tide times",
        "storm damage",
        "planning application",
        "hospital waiting times",
        "marathon route",
    ],
    before: &[
        "",
        "latest",
        "today",
        "live",
        "when is",
        "what happened",
        "why is the",
        "who won",
        "best",
        "free",
        "weekend",
        "breaking",
        "monday",
        "friday",
        "christmas",
        "summer",
        "map of",
        "photos of",
        "history of",
        "cancelled",
    ],
    after: &[
        "",
        "news",
        "today",
        "2026",
        "live",
        "update",
        "results",
        "near me",
        "map",
        "times",
        "dates",
        "tickets",
        "forecast",
        "statement",
        "video",
        "photos",
        "cost",
        "explained",
        "tomorrow",
        "this weekend",
        "delay",
        "interview",
        "winner",
        "route",
        "contact",
        "opinion",
        "history",
        "schedule",
    ],
    odd: &[
        "=ferry times",
        "score 3-0 (aet)",
        "what's on?",
        "élection résultats",
        "weather [amber]",
        "港 祭り",
        "road a1|a2",
        "50% council tax",
        "\"harbour\" festival",
        "über fähre",
    ],
};

/// A garden and home business.
pub(crate) static GARDEN: Vocabulary = Vocabulary {
    subjects: &["fern", "terrarium", "house plant", "moss wall", "repotting", "plant delivery", "kettle", "tea set"],
    before: &["", "best", "small", "rare", "how to water", "cheap", "indoor", "hanging"],
    after: &["", "near me", "care", "gift", "price", "workshop", "repair", "for beginners", "online"],
    odd: &["=fern price", "plant (small)", "farne pflege größe", "moss*wall"],
};

impl Vocabulary {
    /// The number of distinct plain queries.
    pub fn combinations(&self) -> usize {
        self.subjects.len() * self.before.len() * self.after.len()
    }

    /// Plain query number `n` (taken modulo [`Self::combinations`]) and the index of its subject.
    pub fn query(&self, n: usize) -> (String, usize) {
        // A step coprime to the number of combinations visits each once, and neighbours in rank look unrelated.
        let total = self.combinations();
        let n = (n % total) * coprime_step(total) % total;
        let (subject, rest) = (n % self.subjects.len(), n / self.subjects.len());
        let (before, after) = (self.before[rest % self.before.len()], self.after[rest / self.before.len()]);
        let words = [before, self.subjects[subject], after];
        let text = words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(" ");
        (text, subject)
    }
}

/// A number near 0.618 × `total` that shares no factor with it.
fn coprime_step(total: usize) -> usize {
    let divides = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (total * 618 / 1000 + 1..total).find(|&step| divides(total, step) == 1).unwrap_or(1)
}
