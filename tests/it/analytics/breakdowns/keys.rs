//! Tests of difficult sparkline keys: many, long, and with special characters.

use super::{Case, PAPER, People, SHOP, SMALL, Window, YOUNG};

const DAY: Window = ("2026-10-06", "2026-10-06");
const WEEK: Window = ("2026-10-05", "2026-10-11");

/// Characters that are special in regular expressions, lists, JSON, URLs and CSV.
const SIGNS: &str = r#"\.+*?()|[]{}^$#&-~,;:"'`/<>%=@! é東🦀_"#;

#[tokio::test]
async fn queries_as_people_type_them_have_their_days() {
    let people = People::new().await;
    for (site, least) in [(SHOP, 10), (PAPER, 8), (SMALL, 3), (YOUNG, 3)] {
        let window = if site == SHOP || site == PAPER { DAY } else { WEEK };
        let case = Case::of(site, window);
        let odd = |query: &String| !query.chars().all(|c| c.is_ascii_alphanumeric() || " '-".contains(c));
        let keys: Vec<String> = case.table("queries", window).into_keys().filter(odd).take(50).collect();
        assert!(keys.len() >= least, "{keys:?}");
        case.has_true_sparklines(&people, "queries", &keys).await;
    }
}

#[tokio::test]
async fn a_key_is_text_and_no_expression() {
    let (people, case) = (People::new().await, Case::of(SMALL, WEEK));
    let real = case.some_keys("queries", 5)[..8].to_vec();
    let half = |text: &str| text.chars().take(text.chars().count() - 1).collect::<String>();
    let mut keys = vec![format!("{}|{}", real[0], real[1]), format!("{},{}", real[0], real[1]), half(&real[2])];
    keys.extend([".*", "^", "$", "(?i)plant", "[a-z ]+", "\\", "(", "\\E", "\\Q", "*"].map(str::to_owned));
    keys.extend([format!("{} ", real[3]), format!("^{}$", real[4]), format!("(?:{})", real[5])]);
    keys.extend(real);
    case.has_true_sparklines(&people, "queries", &keys).await;
}

#[tokio::test]
async fn fifty_long_keys_are_answered() {
    let people = People::new().await;
    // Real keys, plus others that do not fit in one expression of 4,096 characters.
    let filler = |number: usize, characters: usize| {
        format!("{number} ") + &SIGNS.chars().cycle().take(characters).collect::<String>()
    };
    let case = Case::of(SMALL, WEEK);
    let mut keys = case.some_keys("queries", 2)[..20].to_vec();
    keys.extend((0..30).map(|number| filler(number, 240 + number)));
    case.has_true_sparklines(&people, "queries", &keys).await;

    let case = Case::of(PAPER, DAY);
    let mut keys = case.some_keys("pages", 7);
    assert_eq!(keys.len(), 50);
    case.has_true_sparklines(&people, "pages", &keys).await;
    keys.truncate(10);
    keys.extend((0..40).map(|number| format!("https://harbourpost.example/news/{}", "a.b-c?d=".repeat(10 + number))));
    case.has_true_sparklines(&people, "pages", &keys).await;
}

#[tokio::test]
async fn a_key_of_2048_characters_is_answered() {
    let (people, case) = (People::new().await, Case::of(SMALL, WEEK));
    let real = case.some_keys("queries", 5)[..5].to_vec();
    for sign in ["a", ".", "(", "\\", "東", ","] {
        let long = sign.repeat(2048);
        case.has_true_sparklines(&people, "queries", std::slice::from_ref(&long)).await;
        let mut keys = real.clone();
        keys.insert(2, long);
        case.has_true_sparklines(&people, "queries", &keys).await;
    }
    // Twenty of them come close to the maximum URL length.
    let mut keys: Vec<String> = ('a'..='t').map(|letter| letter.to_string().repeat(2048)).collect();
    keys.extend(real);
    case.has_true_sparklines(&people, "queries", &keys).await;
}

#[tokio::test]
async fn long_keys_and_a_slice_go_together() {
    let people = People::new().await;
    let alternatives = Case::of(SMALL, WEEK).and("query", "contains", "plant").or("country", "equals", "aus");
    let narrow = Case::of(SMALL, WEEK).and("query", "not_contains", "plant").and("device", "equals", "MOBILE");
    for case in [alternatives, narrow] {
        let mut keys = Case::of(SMALL, WEEK).some_keys("queries", 4)[..20].to_vec();
        keys.extend((0..5).map(|number| format!("{number}{}", ".".repeat(1500))));
        case.has_true_sparklines(&people, "queries", &keys).await;
    }
}

#[tokio::test]
async fn countries_and_devices_that_do_not_exist_are_refused() {
    let (people, case) = (People::new().await, Case::of(SMALL, DAY));
    for (table, keys) in [
        ("countries", r#"["aus","xyz"]"#),
        ("countries", r#"["Australia"]"#),
        ("countries", r#"["aus,usa"]"#),
        ("devices", r#"["MOBILE","WATCH"]"#),
        ("devices", r#"["phone"]"#),
    ] {
        let answer = case.ask(&people, "table-sparklines", &[("table", table), ("keys", keys)]).await.expect(400);
        assert_eq!(answer.code(), "invalid_request", "{table} {keys}");
        assert!(answer.hint().contains("keys"), "{table} {keys}: {}", answer.hint());
    }
}

#[tokio::test]
async fn one_country_in_two_spellings_is_one_key_given_twice() {
    let (people, case) = (People::new().await, Case::of(SMALL, DAY));
    for (table, keys) in [("countries", r#"["aus","AUS"]"#), ("devices", r#"["mobile","MOBILE"]"#)] {
        let answer = case.ask(&people, "table-sparklines", &[("table", table), ("keys", keys)]).await.expect(400);
        assert!(answer.hint().contains("keys"), "{table} {keys}: {}", answer.hint());
    }
}

#[tokio::test]
async fn keys_are_a_json_array_of_1_to_50_different_texts() {
    let (people, case) = (People::new().await, Case::of(SMALL, DAY));
    let many = serde_json::to_string(&(0..51).map(|number| number.to_string()).collect::<Vec<_>>()).unwrap();
    let long = format!("[\"{}\"]", "a".repeat(2049));
    for keys in [" ", "plant", "[]", "{}", "[1]", "[null]", r#"[""]"#, r#"["a","a"]"#, r#""a""#, "[\"a\"", &many, &long]
    {
        for table in ["queries", "pages"] {
            let answer = case.ask(&people, "table-sparklines", &[("table", table), ("keys", keys)]).await.expect(400);
            assert_eq!(answer.code(), "invalid_request");
            assert!(answer.hint().contains("keys"), "{:.60}: {}", keys, answer.hint());
        }
    }
    for (name, value) in [("table", "searchAppearances"), ("table", "Queries"), ("limit", "0"), ("limit", "51")] {
        let answer = case.ask(&people, "table-sparklines", &[(name, value)]).await.expect(400);
        assert!(answer.hint().contains(name), "{name}={value}: {}", answer.hint());
    }
}
