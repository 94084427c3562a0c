//! Suggestions for misspelt names.

/// The candidate closest to a word, where one is close enough to be meant.
pub(crate) fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .filter(|candidate| *candidate != word)
        .filter_map(|candidate| Some((distance(word, candidate)?, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// "did you mean …?", where a candidate is close enough to be meant.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// Like [`did_you_mean`]; where nothing is close, the candidates themselves if there are only a
/// few.
pub fn did_you_mean_or_list<'a>(
    word: &str,
    kind: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(help) = did_you_mean(word, candidates.iter().copied()) {
        return Some(help);
    }
    match candidates.len() {
        0 => None,
        1 => Some(format!("the only {kind} is `{}`", candidates[0])),
        2..=8 => {
            let names: Vec<String> = candidates.iter().map(|name| format!("`{name}`")).collect();
            Some(format!("the {kind}s are {}", names.join(", ")))
        }
        _ => None,
    }
}

/// The edit distance, where it is small for the length of the words. Upper and lower case count as
/// the same.
fn distance(word: &str, candidate: &str) -> Option<usize> {
    let count = |text: &str| if text.is_ascii() { text.len() } else { text.to_lowercase().chars().count() };
    let (length, least) = (count(word).max(count(candidate)), count(word).min(count(candidate)));
    // Long words are compared in quadratic time; nobody misspells a word this long.
    if length > 60 || length - least > length / 3 {
        return None;
    }
    let (word, candidate) = (word.to_lowercase(), candidate.to_lowercase());
    let distance = strsim::damerau_levenshtein(&word, &candidate);
    // Words of one or two letters are alike only if they share the first one.
    let close = match length {
        0 | 1 => distance == 0,
        2 => distance <= 1 && word.chars().next() == candidate.chars().next(),
        _ => distance <= length / 3,
    };
    close.then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses() {
        assert_eq!(closest("thraed", ["domain", "thread"]), Some("thread"));
        assert_eq!(closest("12", ["q1", "q12"]), Some("q12"));
        assert_eq!(closest("lag", ["turn", "flag"]), Some("flag"));
        assert_eq!(closest("r3", ["r1", "s"]), Some("r1"));
        assert_eq!(closest("x", ["y", "z"]), None);
        assert_eq!(closest("worker", ["owner"]), None);
        assert_eq!(did_you_mean_or_list("q", "thread", ["t1", "t2"]).unwrap(), "the threads are `t1`, `t2`");
    }
}
