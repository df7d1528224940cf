//! Renders the part of Markdown that CHANGELOG.md is written in: headings, lists, paragraphs, code and emphasis.

use maud::{Markup, html};

/// A block of the text, with its lines joined.
#[derive(Debug, PartialEq, Eq)]
enum Block {
    Heading(String),
    List(Vec<String>),
    Paragraph(String),
}

/// Renders `text` without its first heading, which is the title of the page.
pub(super) fn render(text: &str) -> Markup {
    html! {
        @for block in blocks(text) {
            @match block {
                Block::Heading(title) => h3 { (inline(&title)) },
                Block::List(items) => ul { @for item in items { li { (inline(&item)) } } },
                Block::Paragraph(text) => p { (inline(&text)) },
            }
        }
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let (mut found, mut goes_on) = (Vec::new(), false);
    for line in text.lines().filter(|line| !line.starts_with("# ")) {
        let trimmed = line.trim();
        if let Some(title) = line.strip_prefix("## ") {
            found.push(Block::Heading(title.trim().to_owned()));
        } else if let Some(item) = line.strip_prefix("- ") {
            match found.last_mut() {
                Some(Block::List(items)) => items.push(item.trim().to_owned()),
                _ => found.push(Block::List(vec![item.trim().to_owned()])),
            }
        } else if !trimmed.is_empty() {
            let last = match found.last_mut().filter(|_| goes_on) {
                Some(Block::List(items)) => items.last_mut(),
                Some(Block::Paragraph(text)) => Some(text),
                _ => None,
            };
            match last {
                Some(text) => *text = format!("{text} {trimmed}"),
                None => found.push(Block::Paragraph(trimmed.to_owned())),
            }
        }
        goes_on = !trimmed.is_empty() && !line.starts_with('#');
    }
    found
}

/// Renders code in backticks, and emphasis in asterisks between it.
pub(in crate::web) fn inline(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else {
                @for (index, part) in part.split('*').enumerate() { @if index % 2 == 1 { em { (part) } } @else { (part) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_to_blocks() {
        let text = "# Title\n\nOne\ntwo.\n\n## Next\n\n- a\n  b\n- `c.*` *d* <e>\n\nLast.\n";
        let list = "<ul><li>a b</li><li><code>c.*</code> <em>d</em> &lt;e&gt;</li></ul>";
        assert_eq!(render(text).into_string(), format!("<p>One two.</p><h3>Next</h3>{list}<p>Last.</p>"));
    }

    #[test]
    fn the_projects_own_notes_use_nothing_else() {
        let text = super::super::NOTES;
        for block in blocks(text) {
            let (Block::Heading(text) | Block::Paragraph(text)) = &block else { continue };
            assert!(!text.starts_with(['#', '|', '>', '*', '+']), "{text}");
        }
        assert!(
            !text.contains("](") && !text.contains("```") && !text.contains("**"),
            "links, fences and bold text are not rendered"
        );
        assert_eq!(text.matches('`').count() % 2, 0, "code in backticks has an end");
    }
}
