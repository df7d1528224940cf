//! Markdown as parts of pages. Markup in the text is shown as text, and comments are left out.

use std::collections::BTreeSet;

use maud::{Markup, PreEscaped};
use pulldown_cmark::{Alignment, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html};

/// The ids that the frame of a page has.
const TAKEN: [&str; 1] = ["main"];

/// A text as parts of a page.
#[derive(Debug)]
pub struct Rendered {
    /// The first heading of the first level, without markup.
    pub title: String,
    /// The headings of the second level.
    pub sections: Vec<Section>,
    /// The text without its title.
    pub body: Markup,
}

/// A part of a page that has a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The id of the heading, which is the fragment of its address.
    pub id: String,
    /// The heading, without markup.
    pub title: String,
}

/// The target of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The address.
    pub address: String,
    /// Its title. It replaces the words of a link that are only the name of a file.
    pub name: Option<&'static str>,
}

/// Renders `text`, with headings that are `deeper` by so many levels. `target` says where a link leads: where it leads nowhere, its words
/// stay.
#[must_use]
pub fn render(text: &str, deeper: usize, target: impl Fn(&str) -> Option<Target>) -> Rendered {
    let mut writer = Writer::new(deeper, target);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        writer.take(event);
    }
    let body = html(writer.events.into_iter());
    Rendered { title: writer.title.unwrap_or_default(), sections: writer.sections, body }
}

/// Renders the words of one paragraph: code and emphasis, without links.
#[must_use]
pub fn inline(text: &str) -> Markup {
    let mut writer = Writer::new(0, |_: &str| None);
    let is_word = |event: &Event<'_>| !matches!(event, Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph));
    for event in Parser::new(text).filter(is_word) {
        writer.take(event);
    }
    html(writer.events.into_iter())
}

/// Returns the id of a heading as code hosts make it, so that a link works there and here. A dot between digits stays: `0.1.0` and `0.10`
/// are two versions.
fn slug(heading: &str) -> String {
    let characters: Vec<char> = heading.to_lowercase().chars().collect();
    let is_digit = |index: Option<usize>| index.and_then(|at| characters.get(at)).is_some_and(char::is_ascii_digit);
    let kept = characters.iter().enumerate().filter_map(|(index, character)| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(*character),
        '.' if is_digit(index.checked_sub(1)) && is_digit(Some(index + 1)) => Some('.'),
        other => other.is_alphanumeric().then_some(*other),
    });
    kept.collect()
}

fn html<'t>(events: impl Iterator<Item = Event<'t>>) -> Markup {
    let mut written = String::new();
    push_html(&mut written, events);
    PreEscaped(written)
}

/// Returns `markup` without its comments. One without an end reaches to the end of the text.
fn without_comments(markup: &str) -> String {
    let mut parts = markup.split("<!--");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once("-->").map_or("", |(_, rest)| rest))
}

/// A heading that is being read.
struct Heading<'t> {
    level: HeadingLevel,
    title: String,
    events: Vec<Event<'t>>,
}

/// Makes the events of the page from those of the text.
struct Writer<'t, T> {
    deeper: usize,
    target: T,
    title: Option<String>,
    sections: Vec<Section>,
    ids: BTreeSet<String>,
    events: Vec<Event<'t>>,
    heading: Option<Heading<'t>>,
    /// The markup of a block, as far as it is read.
    markup: Option<String>,
    /// The link around the words, if it leads somewhere.
    link: Option<Target>,
}

impl<'t, T: Fn(&str) -> Option<Target>> Writer<'t, T> {
    fn new(deeper: usize, target: T) -> Self {
        Self {
            deeper,
            target,
            title: None,
            sections: Vec::new(),
            ids: TAKEN.map(str::to_owned).into(),
            events: Vec::new(),
            heading: None,
            markup: None,
            link: None,
        }
    }

    fn take(&mut self, event: Event<'t>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Html(markup) | Event::InlineHtml(markup) => match &mut self.markup {
                Some(block) => block.push_str(&markup),
                None => self.push(Event::Text(without_comments(&markup).into())),
            },
            Event::Text(words) if self.link.is_some() && words.ends_with(".md") => {
                let name = self.link.as_ref().and_then(|target| target.name);
                self.push(Event::Text(name.map_or(words, CowStr::from)));
            }
            event => {
                if let (Event::Text(words) | Event::Code(words), Some(heading)) = (&event, &mut self.heading) {
                    heading.title.push_str(words);
                }
                self.push(event);
            }
        }
    }

    fn start(&mut self, tag: Tag<'t>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.heading = Some(Heading { level, title: String::new(), events: Vec::new() });
            }
            Tag::HtmlBlock => self.markup = Some(String::new()),
            // Its description stays.
            Tag::Image { .. } => {}
            Tag::Link { link_type, dest_url, title, id } => {
                // A heading is a link to itself.
                self.link = if self.heading.is_some() { None } else { (self.target)(&dest_url) };
                if let Some(Target { address, .. }) = &self.link {
                    let dest_url = address.clone().into();
                    self.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
            }
            Tag::CodeBlock(_) => self.raw("<pre tabindex=\"0\"><code>"),
            Tag::Table(columns) => {
                self.raw("<div class=\"scroll\" tabindex=\"0\">");
                // An alignment would be a style, which the policy of pages forbids.
                let columns = columns.iter().map(|_| Alignment::None).collect();
                self.push(Event::Start(Tag::Table(columns)));
            }
            tag => self.push(Event::Start(tag)),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => self.end_heading(),
            TagEnd::HtmlBlock => {
                let markup = without_comments(&self.markup.take().unwrap_or_default());
                if !markup.trim().is_empty() {
                    self.push(Event::Start(Tag::Paragraph));
                    self.push(Event::Text(markup.trim().to_owned().into()));
                    self.push(Event::End(TagEnd::Paragraph));
                }
            }
            TagEnd::Image => {}
            TagEnd::Link if self.link.take().is_none() => {}
            TagEnd::CodeBlock => self.raw("</code></pre>\n"),
            TagEnd::Table => {
                self.push(Event::End(tag));
                self.raw("</div>\n");
            }
            tag => self.push(Event::End(tag)),
        }
    }

    fn end_heading(&mut self) {
        let Some(Heading { level, title, events }) = self.heading.take() else { return };
        if level == HeadingLevel::H1 && self.title.is_none() {
            self.title = Some(title);
            return;
        }
        let (id, shown) = (self.id(&title), (level as usize + self.deeper).min(6));
        self.raw(format!("<h{shown} id=\"{id}\"><a href=\"#{id}\">"));
        self.events.extend(events);
        self.raw(format!("</a></h{shown}>\n"));
        if level == HeadingLevel::H2 {
            self.sections.push(Section { id, title });
        }
    }

    /// An id that no heading before has: a number tells headings with the same words apart.
    fn id(&mut self, title: &str) -> String {
        let slug = slug(title);
        let numbered = (1..).map(|number| format!("{slug}-{number}"));
        let id =
            std::iter::once(slug.clone()).chain(numbered).find(|id| !self.ids.contains(id)).unwrap_or(slug.clone());
        self.ids.insert(id.clone());
        id
    }

    fn raw(&mut self, markup: impl Into<CowStr<'t>>) {
        self.push(Event::Html(markup.into()));
    }

    fn push(&mut self, event: Event<'t>) {
        match &mut self.heading {
            Some(heading) => heading.events.push(event),
            None => self.events.push(event),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> String {
        let target = |link: &str| Target { address: link.replace(".md", ""), name: Some("A guide") };
        render(text, 0, |link| (!link.ends_with("gone.md")).then(|| target(link))).body.into_string()
    }

    #[test]
    fn headings_have_addresses_and_the_first_is_the_title() {
        let text = "# The *title*\n\n## One `x`: y?\n\n### Deep\n\n## One x y\n\n## [b.md](b.md)\n\n## main\n";
        let rendered = render(text, 1, |link| Some(Target { address: link.to_owned(), name: None }));
        let sections: Vec<_> = rendered.sections.iter().map(|one| (one.id.as_str(), one.title.as_str())).collect();
        assert_eq!(rendered.title, "The title");
        assert_eq!(sections, [("one-x-y", "One x: y?"), ("one-x-y-1", "One x y"), ("bmd", "b.md"), ("main-1", "main")]);
        let html = rendered.body.into_string();
        assert!(html.starts_with("<h3 id=\"one-x-y\"><a href=\"#one-x-y\">One <code>x</code>: y?</a></h3>"), "{html}");
        assert!(html.contains("<h4 id=\"deep\"><a href=\"#deep\">Deep</a></h4>"), "{html}");
        assert!(html.contains("<h3 id=\"bmd\"><a href=\"#bmd\">b.md</a></h3>") && !html.contains("<h1"), "{html}");
    }

    #[test]
    fn a_heading_has_the_id_that_code_hosts_give_it() {
        for (heading, id) in [
            ("Data, keys, backups", "data-keys-backups"),
            ("Quirks: do not copy", "quirks-do-not-copy"),
            ("Why … more clicks?", "why--more-clicks"),
            ("`meta.coverage`", "metacoverage"),
            ("Über a_b", "über-a_b"),
            ("0.1.0", "0.1.0"),
            ("Version 2.", "version-2"),
            ("<\"&'>", ""),
        ] {
            assert_eq!(slug(&heading.replace('`', "")), id, "{heading}");
        }
    }

    #[test]
    fn a_link_to_nothing_leaves_its_words() {
        let text = "[The *guide*](GUIDE.md#begin), [decision 4](gone.md) and <https://a.example/?b=1&c=2>.";
        assert_eq!(
            body(text),
            "<p><a href=\"GUIDE#begin\">The <em>guide</em></a>, decision 4 and \
             <a href=\"https://a.example/?b=1&amp;c=2\">https://a.example/?b=1&amp;c=2</a>.</p>\n"
        );
    }

    #[test]
    fn a_link_that_names_a_file_names_what_it_leads_to() {
        assert_eq!(
            body("[GUIDE.md](GUIDE.md), [gone.md](gone.md), GUIDE.md"),
            "<p><a href=\"GUIDE\">A guide</a>, gone.md, GUIDE.md</p>\n"
        );
    }

    #[test]
    fn markup_is_text_and_comments_are_left_out() {
        let text = "<!-- not run: a > b\nsecond line -->\n<script>x()</script>\n\nA <!-- inner --> <b onclick=\"y\">b</b>.\n\n\
                    <!-- a --> <img src=x> <!-- b -->\n\n![A picture](x.png)\n";
        let html = body(text);
        for absent in ["<script", "<b", "<img", "not run", "second line", "inner", "-->", "x.png"] {
            assert!(!html.contains(absent), "{absent}: {html}");
        }
        for text in
            ["&lt;script&gt;x()&lt;/script&gt;", "&lt;b onclick=\"y\"&gt;b&lt;/b&gt;", "&lt;img src=x&gt;", "A picture"]
        {
            assert!(html.contains(text), "{text}: {html}");
        }
    }

    #[test]
    fn wide_parts_scroll_and_carry_no_style() {
        let html = body("| a | b |\n| ---: | :-: |\n| 1 | `x\\|y` |\n\n```sh\na < b && c\n```\n\n    indented\n");
        assert!(
            html.contains("<div class=\"scroll\" tabindex=\"0\"><table>") && html.contains("</table>\n</div>"),
            "{html}"
        );
        assert!(html.contains("<td><code>x|y</code></td>") && !html.contains("style"), "{html}");
        assert!(html.contains("<pre tabindex=\"0\"><code>a &lt; b &amp;&amp; c\n</code></pre>"), "{html}");
        assert!(html.contains("<pre tabindex=\"0\"><code>indented\n</code></pre>"), "{html}");
    }

    #[test]
    fn words_stand_without_a_paragraph() {
        assert_eq!(inline("`c.*` *d* <e> [f](g)").into_string(), "<code>c.*</code> <em>d</em> &lt;e&gt; f");
    }
}
