//! Annotations that the product brings: ranking updates that the search engine has confirmed, and known incidents of its data.
//!
//! The list is `known.csv`. An operator adds to it by a file of the same form. Both are read once, at start.

use std::{fs, sync::Arc};

use api::{
    analytics::{ExplainedEvent, OverlappedWindow},
    annotations::{Annotation, AnnotationSource},
    models::Window,
};
use chrono::{NaiveDate, NaiveTime};
use csv::{ReaderBuilder, StringRecord};
use sha2::{Digest as _, Sha256};
use url::Url;
use uuid::{Builder, Uuid};

use super::change::etag;
use crate::{config::Annotations as Settings, error::Error};

const KNOWN: &str = include_str!("known.csv");
/// The columns of a list. `end` may be empty: the event then has one day.
const COLUMNS: [&str; 5] = ["start", "end", "category", "text", "source"];
/// The category of incidents of the search engine's data.
const DATA_INCIDENT: &str = "data incident";
/// The maximum number of characters of a category and of a text, as for annotations of people.
const MOST_CHARACTERS: [(usize, usize); 2] = [(2, 50), (3, 2000)];

/// The annotations, newest first.
#[derive(Debug, Clone)]
pub struct SystemAnnotations(Arc<[Annotation]>);

impl SystemAnnotations {
    /// Reads the list, and the operator's file if the settings name one.
    ///
    /// # Errors
    /// The file cannot be read or a line of it is wrong.
    pub fn load(settings: &Settings) -> Result<Self, Error> {
        let mut all = read(KNOWN).map_err(Error::invalid)?;
        if let Some(path) = &settings.system_file {
            let named = |error: String| Error::invalid(format!("annotations.system_file: {path}: {error}"));
            let text = fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
            all.extend(read(&text).map_err(named)?);
        }
        all.sort_by(|a, b| b.date.cmp(&a.date).then(b.id.cmp(&a.id)));
        all.dedup_by_key(|annotation| annotation.id);
        Ok(Self(all.into()))
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Annotation] {
        &self.0
    }

    /// Returns the incidents of the search engine's data that overlap one of the windows, newest first.
    pub fn data_incidents<'a>(&'a self, windows: &'a [Window]) -> impl Iterator<Item = &'a Annotation> {
        let incidents = self.0.iter().filter(|annotation| annotation.category.as_deref() == Some(DATA_INCIDENT));
        incidents.filter(|annotation| windows.iter().any(|window| touches(annotation, *window)))
    }

    /// Returns the days of the incidents of the search engine's data that overlap `window`.
    #[must_use]
    pub fn incident_days(&self, window: Window) -> Vec<Window> {
        let days = |incident: &Annotation| Window {
            start_date: incident.date,
            end_date: incident.end_date.unwrap_or(incident.date),
        };
        self.data_incidents(&[window]).map(days).collect()
    }

    /// Returns the annotations that overlap `current` or `previous`, as events.
    #[must_use]
    pub fn overlapping(&self, current: Window, previous: Option<Window>) -> Vec<ExplainedEvent> {
        self.0.iter().filter_map(|annotation| event(annotation, current, previous)).collect()
    }
}

/// Returns whether a day of the annotation is in the window.
fn touches(annotation: &Annotation, window: Window) -> bool {
    annotation.date <= window.end_date && annotation.end_date.unwrap_or(annotation.date) >= window.start_date
}

/// Returns an annotation as an event, if it overlaps `current` or `previous`.
#[must_use]
pub fn event(annotation: &Annotation, current: Window, previous: Option<Window>) -> Option<ExplainedEvent> {
    let touches = |window| touches(annotation, window);
    let overlaps = match (touches(current), previous.is_some_and(touches)) {
        (true, true) => OverlappedWindow::Both,
        (true, false) => OverlappedWindow::Current,
        (false, true) => OverlappedWindow::Previous,
        (false, false) => return None,
    };
    Some(ExplainedEvent {
        id: annotation.id,
        date: annotation.date,
        end_date: annotation.end_date,
        text: annotation.text.clone(),
        category: annotation.category.clone(),
        source: annotation.source,
        source_url: annotation.source_url.clone(),
        overlaps,
    })
}

/// Reads a list. An error names the line.
fn read(text: &str) -> Result<Vec<Annotation>, String> {
    let mut reader = ReaderBuilder::new().from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?;
    if header != COLUMNS.as_slice() {
        return Err(format!("line 1: must be {}", COLUMNS.join(",")));
    }
    reader
        .records()
        .map(|record| {
            let record = record.map_err(|error| error.to_string())?;
            let line = record.position().map_or(0, csv::Position::line);
            annotation(&record).map_err(|error| format!("line {line}: {error}"))
        })
        .collect()
}

fn annotation(record: &StringRecord) -> Result<Annotation, String> {
    let field = |index: usize| record.get(index).unwrap_or_default().trim();
    let date = |index: usize| -> Result<NaiveDate, String> {
        field(index).parse().map_err(|_| format!("{}: must be a date such as 2026-06-24", COLUMNS[index]))
    };
    let first = date(0)?;
    let last = if field(1).is_empty() { first } else { date(1)? };
    if last < first {
        return Err("end: must not be before start".to_owned());
    }
    for (index, most) in MOST_CHARACTERS {
        let characters = field(index).chars().count();
        if characters == 0 || characters > most || field(index).contains(char::is_control) {
            return Err(format!("{}: must be 1 to {most} characters in one line", COLUMNS[index]));
        }
    }
    let source = Url::parse(field(4)).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
    let source = source.ok_or("source: must be a URL that begins with https:// or http://")?;
    let noted_at = last.and_time(NaiveTime::MIN).and_utc();
    let id = id(first, record);
    Ok(Annotation {
        id,
        date: first,
        end_date: (last != first).then_some(last),
        text: field(3).to_owned(),
        category: Some(field(2).to_owned()),
        source: AnnotationSource::System,
        created_by: None,
        source_url: Some(source.into()),
        etag: etag(&(id, last)),
        created_at: noted_at.into(),
        updated_at: noted_at.into(),
    })
}

/// Returns the id of an event: the time of its first day, and a digest of its category and text. It stays the same when the end is
/// corrected.
fn id(first: NaiveDate, record: &StringRecord) -> Uuid {
    let digest = Sha256::digest(format!("{}\n{}", &record[2], &record[3]));
    let mut random = [0; 10];
    random.copy_from_slice(&digest[..10]);
    let millis = first.and_time(NaiveTime::MIN).and_utc().timestamp_millis();
    Builder::from_unix_timestamp_millis(u64::try_from(millis).unwrap_or_default(), &random).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(start: &str, end: &str) -> Window {
        Window { start_date: start.parse().unwrap(), end_date: end.parse().unwrap() }
    }

    #[test]
    fn the_list_is_sound_and_sourced() {
        let known = SystemAnnotations::load(&Settings::default()).unwrap();
        assert!(known.all().len() > 10);
        for annotation in known.all() {
            let source = annotation.source_url.as_deref().unwrap();
            assert!(source.starts_with("https://"), "{annotation:?}");
            let category = annotation.category.as_deref().unwrap();
            assert!(["ranking update", "data incident"].contains(&category), "{annotation:?}");
            assert_eq!(annotation.id.get_version_num(), 7);
        }
        assert!(known.all().is_sorted_by(|a, b| a.date >= b.date), "newest first");
    }

    #[test]
    fn events_say_which_window_they_overlap() {
        let known = SystemAnnotations::load(&Settings::default()).unwrap();
        let overlaps = |current, previous| {
            let events = known.overlapping(current, previous);
            events.iter().map(|event| (event.date.to_string(), event.overlaps)).collect::<Vec<_>>()
        };
        let (before, during, after) = (
            window("2026-06-03", "2026-06-23"),
            window("2026-06-26", "2026-07-01"),
            window("2026-06-27", "2026-07-01"),
        );
        let date = || "2026-06-24".to_owned();
        assert_eq!(overlaps(before, None), []);
        assert_eq!(overlaps(during, None), [(date(), OverlappedWindow::Current)]);
        assert_eq!(overlaps(after, Some(during)), [(date(), OverlappedWindow::Previous)]);
        assert_eq!(overlaps(during, Some(during)), [(date(), OverlappedWindow::Both)]);
    }

    #[test]
    fn a_wrong_line_is_named_with_its_column() {
        let header = COLUMNS.join(",");
        for (lines, expected) in [
            ("2026-01-02,,release,New shop,https://a.test/", None),
            ("\"2026-01-02\",2026-01-03,release,\"New, \"\"better\"\" shop\",http://a.test/", None),
            ("2026-01-32,,release,New shop,https://a.test/", Some("line 2: start: must be a date such as 2026-06-24")),
            ("2026-01-02,2026-01-01,release,New,https://a.test/", Some("line 2: end: must not be before start")),
            ("2026-01-02,,,New shop,https://a.test/", Some("line 2: category: must be 1 to 50 characters in one line")),
            ("2026-01-02,,release,,https://a.test/", Some("line 2: text: must be 1 to 2000 characters in one line")),
            (
                "2026-01-02,,release,New,a.test",
                Some("line 2: source: must be a URL that begins with https:// or http://"),
            ),
            ("2026-01-02,,release,New,javascript:1", Some("line 2: source: must be a URL")),
        ] {
            let found = read(&format!("{header}\n{lines}\n")).err();
            match expected {
                None => assert_eq!(found, None, "{lines}"),
                Some(expected) => {
                    assert!(found.as_deref().is_some_and(|error| error.starts_with(expected)), "{found:?}");
                }
            }
        }
        assert!(read("date,text\n").unwrap_err().starts_with("line 1: must be start,end,category"));
        assert!(read(&format!("{header}\n2026-01-02,release\n")).unwrap_err().contains("line"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_with_its_setting() {
        let settings = Settings { system_file: Some("no/such/file.csv".to_owned()) };
        let error = SystemAnnotations::load(&settings).unwrap_err().to_string();
        assert!(error.contains("annotations.system_file: no/such/file.csv: "), "{error}");
    }

    #[test]
    fn an_event_keeps_its_id_when_its_end_is_corrected() {
        let of = |end: &str| read(&format!("{}\n2026-01-02,{end},a,b,https://c.test/\n", COLUMNS.join(","))).unwrap();
        let (open, corrected) = (of(""), of("2026-01-09"));
        assert_eq!(open[0].id, corrected[0].id);
        assert_ne!(open[0].etag, corrected[0].etag);
    }
}
