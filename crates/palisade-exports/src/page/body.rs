//! Sections that several pages have: warnings, evidence.

use super::{line_link, worded};
use palisade_model::text::escaped;
use palisade_report::documents::{ConfirmationDocument, EvidenceVerdict, EvidenceWord, Finding};

/// What is doubtful in the program.
pub(super) fn warnings(findings: &[Finding<'_>]) -> String {
    let item = |finding: &Finding<'_>| {
        let place = finding.line.map(|line| format!(" ({})", line_link(line))).unwrap_or_default();
        let help = finding.help.map(|help| format!("<br><small>{}</small>", worded(help))).unwrap_or_default();
        format!("<li>{}{place}{help}</li>\n", worded(finding.message))
    };
    let items: String = findings.iter().map(item).collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}

/// How the evidence of an answer fared, in a sentence.
pub(super) fn confirmation_words(checked: Option<&ConfirmationDocument>) -> &'static str {
    match checked.map(|checked| checked.verdict) {
        Some(EvidenceVerdict::Accepted) => {
            "The checker, which shares no code with the search, accepted the evidence for this answer."
        }
        Some(EvidenceVerdict::Rejected) => "The checker REJECTED the evidence for this answer. Do not rely on it.",
        Some(EvidenceVerdict::Unknown) => "A limit was reached before the evidence was checked.",
        None => "The evidence was not checked in this run.",
    }
}

/// Where a command writes evidence: a file for each claim into a folder, or one file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Written {
    /// `--certificate DIR`.
    Folder,
    /// `--certificate FILE`.
    File,
    /// There is no answer, and so no evidence.
    Nowhere,
}

/// The evidence for the claims of a repair; `incomplete` says why not all of it was checked.
pub(super) fn evidence_for_claims(
    found: Option<EvidenceWord>,
    incomplete: &str,
    certificates: &[String],
    command: &str,
) -> String {
    let words = match found {
        Some(EvidenceWord::Accepted) => {
            "The checker, which shares no code with the search, accepted the evidence for every claim on this page."
        }
        Some(EvidenceWord::Incomplete) => incomplete,
        None => return evidence(certificates, "", command, Written::Nowhere),
    };
    evidence(certificates, words, command, Written::Folder)
}

/// The evidence, how it fared, and how to check it. The command is what asks the question, without
/// an option for evidence.
pub(super) fn evidence(certificates: &[String], words: &str, command: &str, written: Written) -> String {
    let mut out = format!("<p>{words}</p>\n");
    if certificates.is_empty() {
        out.push_str("<p>To write the evidence and check it again:</p>\n");
        let (target, files) = match written {
            Written::Folder => ("evidence", "evidence/*.json"),
            Written::File => ("evidence.json", "evidence.json"),
            Written::Nowhere => return "<p>There is no evidence for this answer.</p>\n".to_owned(),
        };
        let command = escaped(format!("{command} --certificate {target}"));
        out.push_str(&format!("<pre class=\"command\">{command}\npalisade verify {files}</pre>\n"));
    } else {
        out.push_str("<p>The evidence is in these files, which anybody can check again:</p>\n");
        let lines: String = certificates.iter().map(|path| format!("palisade verify {}\n", escaped(path))).collect();
        out.push_str(&format!("<pre class=\"command\">{lines}</pre>\n"));
    }
    out
}
