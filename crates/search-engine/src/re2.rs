//! Checks that an expression is valid for both this program and the search engine (RE2).
//!
//! The search engine answers an expression it cannot parse with no rows and no error, so the expression has to be refused
//! here. Everything that the `regex` crate supports beyond RE2 is refused: class set operations, nested classes, `x`, `R`
//! and `u` flags, word-edge assertions, `\u…` escapes, property names other than RE2's, counts over 1,000.

use regex_syntax::ast::{
    self, AssertionKind, Ast, ClassPerl, ClassSetItem, ClassUnicode, ClassUnicodeKind, Flag, Flags, FlagsItemKind,
    GroupKind, HexLiteralKind, LiteralKind, RepetitionKind, RepetitionRange, SpecialLiteralKind, Visitor,
};

/// The maximum compiled size in bytes.
const SIZE_LIMIT: usize = 1 << 20;

/// RE2's maximum repetition count.
const MAX_REPEAT: u32 = 1000;

const CATEGORIES: [&str; 36] = [
    "C", "Cc", "Cf", "Co", "Cs", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl", "No", "P",
    "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs",
];

const SCRIPTS: [&str; 30] = [
    "Arabic",
    "Armenian",
    "Bengali",
    "Bopomofo",
    "Common",
    "Cyrillic",
    "Devanagari",
    "Ethiopic",
    "Georgian",
    "Greek",
    "Gujarati",
    "Gurmukhi",
    "Han",
    "Hangul",
    "Hebrew",
    "Hiragana",
    "Kannada",
    "Katakana",
    "Khmer",
    "Lao",
    "Latin",
    "Malayalam",
    "Mongolian",
    "Myanmar",
    "Oriya",
    "Sinhala",
    "Tamil",
    "Telugu",
    "Thai",
    "Tibetan",
];

/// Validates `expression`. The error describes the problem.
pub fn check(expression: &str) -> Result<(), String> {
    let ast = ast::parse::Parser::new().parse(expression).map_err(|error| error.kind().to_string())?;
    ast::visit(&ast, Subset { counts: Vec::new() })?;
    regex::RegexBuilder::new(expression).size_limit(SIZE_LIMIT).build().map(drop).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
        other => other.to_string().lines().last().unwrap_or_default().to_owned(),
    })
}

struct Subset {
    /// The repetition counts of the groups around the current part.
    counts: Vec<u32>,
}

impl Visitor for Subset {
    type Output = ();
    type Err = String;

    fn finish(self) -> Result<(), String> {
        Ok(())
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), String> {
        match ast {
            Ast::Flags(set) => flags(&set.flags),
            Ast::Group(group) => match &group.kind {
                GroupKind::NonCapturing(set) => flags(set),
                GroupKind::CaptureName { starts_with_p: false, .. } => Err("name groups as (?P<name>…)".to_owned()),
                GroupKind::CaptureName { name, .. } if !is_plain(&name.name) => {
                    Err("group names are letters, digits and _".to_owned())
                }
                _ => Ok(()),
            },
            Ast::Literal(found) => literal(found),
            Ast::Assertion(found) => match found.kind {
                AssertionKind::StartLine
                | AssertionKind::EndLine
                | AssertionKind::StartText
                | AssertionKind::EndText
                | AssertionKind::WordBoundary
                | AssertionKind::NotWordBoundary => Ok(()),
                _ => Err("only the word assertions \\b and \\B are known".to_owned()),
            },
            Ast::ClassUnicode(class) => unicode(class),
            Ast::Repetition(repetition) => self.enter(repetition),
            _ => Ok(()),
        }
    }

    fn visit_post(&mut self, ast: &Ast) -> Result<(), String> {
        if matches!(ast, Ast::Repetition(_)) {
            self.counts.pop();
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), String> {
        match item {
            ClassSetItem::Bracketed(_) => Err("a class inside a class is not known".to_owned()),
            ClassSetItem::Literal(found) => literal(found),
            ClassSetItem::Range(range) => literal(&range.start).and_then(|()| literal(&range.end)),
            ClassSetItem::Unicode(class) => unicode(class),
            ClassSetItem::Empty(_)
            | ClassSetItem::Ascii(_)
            | ClassSetItem::Perl(ClassPerl { .. })
            | ClassSetItem::Union(_) => Ok(()),
        }
    }

    fn visit_class_set_binary_op_pre(&mut self, _: &ast::ClassSetBinaryOp) -> Result<(), String> {
        Err("set operations inside a class are not known".to_owned())
    }
}

fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn flags(flags: &Flags) -> Result<(), String> {
    let known = |kind: &FlagsItemKind| match kind {
        FlagsItemKind::Negation => true,
        FlagsItemKind::Flag(flag) => {
            matches!(flag, Flag::CaseInsensitive | Flag::MultiLine | Flag::DotMatchesNewLine | Flag::SwapGreed)
        }
    };
    if flags.items.iter().all(|item| known(&item.kind)) {
        return Ok(());
    }
    Err("only the flags i, m, s and U are known".to_owned())
}

fn literal(found: &ast::Literal) -> Result<(), String> {
    match &found.kind {
        LiteralKind::HexFixed(kind) | LiteralKind::HexBrace(kind) if *kind != HexLiteralKind::X => {
            Err("write code points as \\x{…}".to_owned())
        }
        _ if found.c == '_' && found.kind != LiteralKind::Verbatim => {
            Err("a backslash before _ is not known".to_owned())
        }
        LiteralKind::Special(SpecialLiteralKind::Space) => Err("a backslash before a space is not known".to_owned()),
        _ => Ok(()),
    }
}

fn unicode(class: &ClassUnicode) -> Result<(), String> {
    let known = match &class.kind {
        ClassUnicodeKind::OneLetter(letter) => CATEGORIES.contains(&letter.to_string().as_str()),
        ClassUnicodeKind::Named(name) => {
            let name = name.trim_start_matches('^');
            CATEGORIES.contains(&name) || SCRIPTS.contains(&name)
        }
        ClassUnicodeKind::NamedValue { .. } => false,
    };
    if known { Ok(()) } else { Err("only short categories and scripts are known after \\p".to_owned()) }
}

impl Subset {
    fn enter(&mut self, repetition: &ast::Repetition) -> Result<(), String> {
        if matches!(*repetition.ast, Ast::Repetition(_)) {
            return Err("a repetition of a repetition needs brackets".to_owned());
        }
        self.counts.push(largest_count(&repetition.op.kind));
        let together = self.counts.iter().fold(1_u32, |product, count| product.saturating_mul(*count));
        if together <= MAX_REPEAT {
            Ok(())
        } else {
            Err(format!("the counts of nested repetitions must multiply to at most {MAX_REPEAT}"))
        }
    }
}

fn largest_count(kind: &RepetitionKind) -> u32 {
    match kind {
        RepetitionKind::Range(
            RepetitionRange::Exactly(n) | RepetitionRange::AtLeast(n) | RepetitionRange::Bounded(_, n),
        ) => (*n).max(1),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn re2_expressions_pass() {
        for expression in [
            r"^(?:a|b)$",
            r"(?i:shoes?)",
            r"\bbuy\b",
            r"\d{2,4}",
            r"[^\p{L}\p{N}]",
            r"\pL+",
            r"\x{1F600}|\x41",
            r"(?P<x>a)",
            r"[[:alpha:]]+",
            r"a*?b+?",
            r"\p{Greek}",
            r"(?is)a.b",
            r"\.\-\/",
            r"\Aa\z",
            "(?:a+)*b?",
            "(?:a{30}){30}",
            "a_b",
        ] {
            assert_eq!(check(expression), Ok(()), "{expression}");
        }
    }

    #[test]
    fn syntax_of_only_one_engine_is_refused() {
        for expression in [
            "(",
            "a(?=b)",
            "(?<!a)b",
            r"(a)\1",
            "(?x)a b",
            r"[a&&b]",
            r"[a[bc]]",
            r"\u0041",
            r"\b{start}a",
            "(?<n>a)",
            "a{1001}",
            r"\p{Alphabetic}",
            r"\p{sc=Greek}",
            r"\Qa\E",
            "[a",
            "*a",
            r"((a{100}){100}){100}",
            "a**",
            "a++",
            "x*?+",
            "a{2}{3}",
            "(?:a{500}){3}",
            r"\_",
            "(?P<a.b>x)",
        ] {
            assert!(check(expression).is_err(), "{expression}");
        }
    }
}
