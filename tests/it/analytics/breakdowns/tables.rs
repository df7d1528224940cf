//! Tests of the tables of the performance response, which exports repeat: rows, order, comparison and coverage.

use serde_json::Value;
use simulator::SearchType;

use super::{Case, Class, PAPER, People, SMALL, SOFTWARE, Window, YOUNG};

const WEEK: Window = ("2026-10-05", "2026-10-11");
const DAY: Window = ("2026-10-06", "2026-10-06");

#[tokio::test]
async fn every_row_of_every_table_is_the_sum_of_its_cells_in_both_windows() {
    let people = People::new().await;
    let cases = [
        Case::of(SMALL, WEEK),
        Case::of(SMALL, DAY).against(("2026-09-01", "2026-09-28")),
        Case::of(SMALL, WEEK).class(Class::Segment).against(DAY),
        Case::of(SMALL, WEEK).class(Class::Topic).against(DAY),
        Case::of(SMALL, WEEK).and("query", "not_contains", "plant").and("page", "contains", "/blog/"),
        Case::of(YOUNG, WEEK).against(("2025-10-01", "2025-10-03")),
        Case::of(SMALL, ("2026-11-15", "2026-11-21")).against(("2026-11-08", "2026-11-14")),
        Case::of(SMALL, WEEK).against(("2026-11-16", "2026-11-21")),
        Case::of(SMALL, ("2026-11-19", "2026-11-21")).against(WEEK),
        Case::of(SOFTWARE, DAY).against(("2026-10-05", "2026-10-05")),
        Case::of(PAPER, DAY).search_type(SearchType::GoogleNews).against(WEEK),
    ];
    for case in &cases {
        for limit in [5, 5000] {
            case.has_true_tables(&people, limit).await;
        }
    }
}

impl Case {
    async fn has_true_tables(&self, people: &People, limit: usize) {
        let text = limit.to_string();
        let more = [("scope", "all"), ("queryLimit", &*text), ("pageLimit", &*text)];
        let json = self.ask(people, "performance", &more).await.expect(200).json;
        let total = |window| self.total(self.count(), window);
        let (data, before) = (&json["data"], self.compared().map(|[_, before]| total(before)));
        self.totals(&data["totals"], total(self.counted()), before);
        self.meta(&json["meta"], self.count());
        for table in ["queries", "pages", "countries", "devices"] {
            let (said, coverage) = (&data["tables"][table], &json["meta"]["coverage"][table]);
            if self.search_type.is_feed() && table == "queries" {
                assert_eq!((said, &coverage["available"]), (&Value::Null, &false.into()));
                continue;
            }
            let limited = matches!(table, "queries" | "pages");
            let expected = self.rows(table, if limited { limit } else { usize::MAX });
            self.table_rows(said, &expected.rows);
            self.coverage_of(coverage, table, expected.capped, (expected.shown(), expected.known));
        }
    }
}
