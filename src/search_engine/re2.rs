//! What the expressions of this process have and RE2 has not. The search engine takes RE2; an expression that it would read
//! differently, or that would swallow the rest of a joined one (verbose mode makes comments), is refused before it is sent.

use regex_syntax::ast::{self, AssertionKind, Ast, ClassSet, ClassSetItem, Flag, Flags, FlagsItemKind, GroupKind};

/// Names the first part of a valid expression that RE2 lacks.
pub fn check(pattern: &str) -> Result<(), &'static str> {
    // What does not parse is refused where it is compiled.
    ast::parse::Parser::new().parse(pattern).map_or(Ok(()), |parsed| ast::visit(&parsed, Finder))
}

struct Finder;

impl ast::Visitor for Finder {
    type Output = ();
    type Err = &'static str;

    fn finish(self) -> Result<(), &'static str> {
        Ok(())
    }

    fn visit_pre(&mut self, part: &Ast) -> Result<(), &'static str> {
        match part {
            Ast::Flags(set) => flags(&set.flags),
            Ast::Group(group) => match &group.kind {
                GroupKind::NonCapturing(set) => flags(set),
                GroupKind::CaptureIndex(_) | GroupKind::CaptureName { .. } => Ok(()),
            },
            Ast::Assertion(assertion) => match assertion.kind {
                AssertionKind::StartLine
                | AssertionKind::EndLine
                | AssertionKind::StartText
                | AssertionKind::EndText
                | AssertionKind::WordBoundary
                | AssertionKind::NotWordBoundary => Ok(()),
                _ => Err("half word boundaries"),
            },
            Ast::ClassBracketed(class) => match &class.kind {
                ClassSet::BinaryOp(_) => Err("set operations in classes"),
                ClassSet::Item(_) => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), &'static str> {
        match item {
            ClassSetItem::Bracketed(_) => Err("classes inside classes"),
            _ => Ok(()),
        }
    }
}

fn flags(set: &Flags) -> Result<(), &'static str> {
    let known = |kind: &FlagsItemKind| match kind {
        FlagsItemKind::Negation => true,
        FlagsItemKind::Flag(flag) => {
            matches!(flag, Flag::CaseInsensitive | Flag::MultiLine | Flag::DotMatchesNewLine | Flag::SwapGreed)
        }
    };
    if set.items.iter().all(|item| known(&item.kind)) { Ok(()) } else { Err("flags other than i, m, s and U") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_re2_lacks_is_named() {
        for lacking in ["(?x)a # b", "(?x: a)", "(?u)a", "(?R)a", "[a&&b]", "[a[bc]]", r"\b{start}a", "a|(b(?ix)c)"] {
            assert!(check(lacking).is_err(), "{lacking}");
        }
        for known in ["(?i)a", "(?i-s:a)", r"\bfoo\b", "[^a-z[:digit:]]", r"^\pL+$", "(?P<n>a)|(b)", "a{2,3}?"] {
            assert_eq!(check(known), Ok(()), "{known}");
        }
    }
}
