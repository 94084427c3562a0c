//! Programs and nets that are large in one respect.

use palisade::semantics::random::Randomness;

/// An input with what is large about it.
pub(super) struct Input {
    pub(super) file: String,
    pub(super) text: String,
    pub(super) what: String,
    /// Of nets, the file of a question beside it; without a name where the net's file has the
    /// question.
    pub(super) beside: Option<(String, String)>,
}

/// A size: a power of 2 up to 2^most, and a little more or less.
fn size(randomness: &mut Randomness, most: usize) -> u64 {
    let power = 1_u64 << (1 + randomness.below(most));
    (power + randomness.below(5) as u64).saturating_sub(2).max(1)
}

pub(super) fn input(randomness: &mut Randomness) -> Input {
    if randomness.below(4) == 0 { net(randomness) } else { program(randomness) }
}

/// Two threads that meet as in store buffering, with something large between them.
fn around(heading: &str, copies: &str, between: &str, behind: &str) -> String {
    format!(
        "program Large\n{heading}\naddress x, y\nthread one {copies} {{\n  x = 1;\n{between}\n  let seen = y;\n{behind}\n}}\nthread two {{\n  y = 1;\n  let seen = x;\n}}\n"
    )
}

/// The same with orderings, for C11.
fn ordered(heading: &str, copies: &str, between: &str) -> String {
    format!(
        "program Large\n{heading}\naddress x, y\nthread one {copies} {{\n  store(x, 1, relaxed);\n{between}\n  let seen = load(y, acquire);\n}}\nthread two {{\n  store(y, 1, release);\n  let seen = load(x, relaxed);\n}}\n"
    )
}

/// A size that is known to fit.
fn small(size: u64) -> usize {
    usize::try_from(size).expect("it is small")
}

fn program(randomness: &mut Randomness) -> Input {
    let copies = ["", "[2]", "[*]"][randomness.below(3)];
    let wraps = ["", " wrap"][randomness.below(2)];
    let ensure = "  ensure seen <= 1;";
    let (what, text) = match randomness.below(20) {
        0 => {
            let values = size(randomness, 62);
            let body = format!("  let r = 0;\n  while (r < {}) {{ r++; }}", values - 1);
            (format!("a loop to {values}"), around(&format!("domain 0..{values}{wraps}"), copies, &body, ensure))
        }
        1 => {
            let values = size(randomness, 62);
            let body = "  let r = *;\n  x = r;";
            (format!("a choice among {values}"), around(&format!("domain 0..{values}{wraps}"), copies, body, ensure))
        }
        2 => {
            let (choices, values) = (size(randomness, 5), size(randomness, 10));
            let body: String = (0..choices).map(|number| format!("  let r{number} = *;\n")).collect();
            let sum: Vec<String> = (0..choices).map(|number| format!("r{number}")).collect();
            let body = format!("{body}  x = ({}) & 1;", sum.join(" ^ "));
            (
                format!("{choices} choices among {values}"),
                around(&format!("domain 0..{values}{wraps}"), copies, &body, ensure),
            )
        }
        3 => {
            let many = size(randomness, 40);
            (format!("{many} copies"), around("domain 0..3", &format!("[{many}]"), "", ensure))
        }
        4 => {
            let labels = size(randomness, 14);
            let body: String = (0..labels).map(|number| format!("  x = {};\n", number % 2)).collect();
            (format!("{labels} stores"), around("domain 0..3", copies, &body, ensure))
        }
        5 => {
            let labels = size(randomness, 13);
            let body: String =
                (0..labels).map(|number| format!("  x = {};\n  let l{number} = y;\n", number % 2)).collect();
            (format!("{labels} stores and loads"), around("domain 0..3", copies, &body, ensure))
        }
        6 => {
            let depth = small(size(randomness, 12));
            let body = format!("{} x = 0; {}", "if (x == 1) {".repeat(depth), "}".repeat(depth));
            (format!("{depth} conditions within each other"), around("domain 0..3", copies, &body, ensure))
        }
        7 => {
            let depth = small(size(randomness, 12));
            let body = format!("  x = {}1{};", "(0 + ".repeat(depth), ")".repeat(depth));
            (format!("{depth} parentheses within each other"), around("domain 0..3", copies, &body, ensure))
        }
        8 => {
            let properties = size(randomness, 12);
            let body: String =
                (0..properties).map(|number| format!("  ensure seen <= {};\n", number % 7 + 1)).collect();
            (format!("{properties} properties"), around("domain 0..7", copies, "", &body))
        }
        9 => {
            let length = small(size(randomness, 20));
            let name = "n".repeat(length);
            let body = format!("  let {name} = 1;\n  x = {name};");
            (format!("a name of {length} letters"), around("domain 0..3", copies, &body, ensure))
        }
        10 => {
            let threads = size(randomness, 9);
            let own = |number: u64| {
                format!(
                    "thread t{number} {{ m{number} = 1; let seen = m{}; ensure seen <= 1; }}\n",
                    (number + 1) % threads
                )
            };
            let addresses: Vec<String> = (0..threads).map(|number| format!("m{number}")).collect();
            let body: String = (0..threads).map(own).collect();
            (
                format!("{threads} threads"),
                format!("program Large\ndomain 0..3\naddress {}\n{body}", addresses.join(", ")),
            )
        }
        11 => {
            let length = size(randomness, 31);
            let text = format!(
                "program Large\ndomain 0..3\naddress a[{length}], x\nthread one {copies} {{ a[1] = 1; let r = *; let seen = a[r]; {ensure} }}\nthread two {{ x = 1; let seen = a[0]; }}\n"
            );
            (format!("an array of {length}"), text)
        }
        12 => {
            let rounds = size(randomness, 40);
            let body = format!("  let r = 0;\n  while (r < {rounds}) {{ x = r; r++; }}");
            (format!("a loop of {rounds} stores"), around("", copies, &body, ensure))
        }
        13 => {
            let waits = size(randomness, 11);
            let body: String = (0..waits).map(|number| format!("  await (x == {});\n", number % 2)).collect();
            (format!("{waits} waits"), around("domain 0..3", copies, &body, ensure))
        }
        14 => {
            let sections = size(randomness, 10);
            let body: String = "  lock(m);\n  x = 1;\n  unlock(m);\n".repeat(small(sections));
            (format!("{sections} sections under a lock"), around("domain 0..3\naddress m", copies, &body, ensure))
        }
        15 => {
            let sleepers = size(randomness, 40);
            let text = format!(
                "program Large\ndomain 0..3\naddress x\nthread sleeper [{sleepers}] {{ while (x == 0) {{ wait(x, 0); }} }}\nthread waker {{ x = 1; wake(x, 1); }}\n"
            );
            (format!("{sleepers} sleepers"), text)
        }
        16 => {
            let (labels, words) = (size(randomness, 10), ["relaxed", "release", "seq_cst"]);
            let body: String = (0..labels)
                .map(|number| {
                    let word = words[randomness.below(3)];
                    format!("  store(x, {}, {word});\n  let l{number} = load(y, relaxed);\n", number % 2)
                })
                .collect();
            (format!("{labels} ordered stores and loads"), ordered("domain 0..3", copies, &body))
        }
        17 => {
            let values = size(randomness, 62);
            let body = "  let r = fetch_add(x, 1, relaxed);\n  store(y, r, release);";
            (format!("ordered sums among {values}"), ordered(&format!("domain 0..{values} wrap"), copies, body))
        }
        18 => {
            let (slots, values) = (size(randomness, 12), size(randomness, 3));
            let text = format!(
                "program Large\naddress head, tail, slot[{slots}]\nthread put {copies} {{ while (true) {{ let h = head; let t = tail; if (t - h < {slots}) {{ if (cas(tail, t, t + 1) == t) {{ slot[t % {slots}] = {values}; }} }} }} }}\nthread get {{ while (true) {{ let h = head; let t = tail; if (h < t) {{ let seen = slot[h % {slots}]; head = h + 1; }} }} }}\n"
            );
            (format!("a ring of {slots}"), text)
        }
        _ => {
            let (tasks, values) = (size(randomness, 6), size(randomness, 40));
            let own = |number: u64| {
                format!(
                    "task t{number}(v) regs s init a begin\n  a: mem[x] <- v; goto b;\n  b: s <- mem[y]; goto c;\n  c: post main t{}(s); goto d;\nend\n",
                    (number + 1) % tasks
                )
            };
            let body: String = (0..tasks).map(own).collect();
            let text = format!(
                "program Large\ndomain 0..{values}\naddress x, y\nevent e {copies} regs q init a begin\n  a: q <- *; goto b;\n  b: mem[y] <- q; goto c;\n  c: post any t0(q); goto d;\nend\n{body}"
            );
            (format!("{tasks} tasks over {values} values"), text)
        }
    };
    let what = format!("{what}, copies `{copies}`");
    Input { file: "large.pal".to_owned(), text, what, beside: None }
}

fn net(randomness: &mut Randomness) -> Input {
    let in_its_file = Some((String::new(), String::new()));
    let spec = |places: &str, rules: &str, init: &str, target: &str| {
        format!("vars\n {places}\nrules\n{rules}init\n {init}\ntarget\n {target}\n")
    };
    let (what, text) = match randomness.below(7) {
        0 => {
            let digits = small(size(randomness, 13));
            let tokens = "9".repeat(digits);
            let rules = " a >= 1 -> b' = b + 2;\n b >= 3 -> b' = b - 3, a' = a + 1;\n";
            (format!("a target of {digits} digits"), spec("a b", rules, "a = 1, b = 0", &format!("b >= {tokens}")))
        }
        1 => {
            let tokens = size(randomness, 62);
            let rules = " a >= 1 -> a' = a - 1, b' = b + 1;\n b >= 2 -> b' = b - 2, c' = c + 1;\n c >= 1, a >= 1 -> c' = c - 1, a' = a + 3;\n";
            (
                format!("{tokens} tokens"),
                spec("a b c", rules, &format!("a = {tokens}, b = 0, c = 0"), "c >= 77, b >= 1000000"),
            )
        }
        2 => {
            let places = size(randomness, 14);
            let names: Vec<String> = (0..places).map(|number| format!("p{number}")).collect();
            let rule = |number: u64| {
                let next = (number + 1) % places;
                format!(" p{number} >= 1 -> p{number}' = p{number} - 1, p{next}' = p{next} + 1;\n")
            };
            let rules: String = (0..places).map(rule).collect();
            let init: Vec<String> =
                (0..places).map(|number| format!("p{number} = {}", u64::from(number % 3 == 0))).collect();
            (
                format!("{places} places"),
                spec(&names.join(" "), &rules, &init.join(", "), &format!("p{} >= 3, p0 >= 2", places / 2)),
            )
        }
        3 => {
            let places = size(randomness, 9);
            let names: Vec<String> = (0..places).map(|number| format!("p{number}")).collect();
            let rule = |first: u64| {
                let needs: Vec<String> =
                    (0..places).map(|number| format!("p{number} >= {}", (number + first) % 2)).collect();
                let changes: Vec<String> = (0..places)
                    .map(|number| {
                        format!("p{number}' = p{number} {} 1", if (number + first) % 2 == 1 { '-' } else { '+' })
                    })
                    .collect();
                format!(" {} -> {};\n", needs.join(", "), changes.join(", "))
            };
            let rules: String = (0..2).map(rule).collect();
            let init: Vec<String> = names.iter().map(|name| format!("{name} = 5")).collect();
            (
                format!("{places} arcs at a transition"),
                spec(&names.join(" "), &rules, &init.join(", "), "p0 >= 11, p1 >= 11"),
            )
        }
        4 => {
            let length = small(size(randomness, 20));
            let name = "p".repeat(length);
            let rules = format!(" {name} >= 1 -> {name}' = {name} - 1, q' = q + 1;\n");
            (
                format!("a name of {length} letters"),
                spec(&format!("{name} q"), &rules, &format!("{name} = 1, q = 0"), "q >= 2"),
            )
        }
        5 => {
            let targets = size(randomness, 12);
            let rules = " a >= 1 -> a' = a - 1, b' = b + 1;\n b >= 1 -> b' = b - 1, a' = a + 1;\n";
            let target: Vec<String> =
                (0..targets).map(|number| format!("a >= {}, b >= {}", number + 1, targets - number)).collect();
            (format!("{targets} targets"), spec("a b", rules, "a = 3, b = 0", &target.join("\n ")))
        }
        _ => return formulas(randomness),
    };
    Input { file: "large.spec".to_owned(), text, what, beside: in_its_file }
}

/// A small net with large questions.
fn formulas(randomness: &mut Randomness) -> Input {
    let text = r#"<pnml><net id="r" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g"><place id="p"><initialMarking><text>3</text></initialMarking></place><place id="q"/><transition id="t"/><arc id="a" source="p" target="t"/><arc id="b" source="t" target="q"/></page></net></pnml>"#;
    let at_least = |low: u64| {
        format!(
            "<integer-le><integer-constant>{low}</integer-constant><tokens-count><place>q</place></tokens-count></integer-le>"
        )
    };
    let property = |id: u64, formula: &str| {
        format!(
            "<property><id>f{id}</id><formula><exists-path><finally>{formula}</finally></exists-path></formula></property>"
        )
    };
    let (what, query) = if randomness.below(2) == 0 {
        let properties = size(randomness, 10);
        let query: String = (0..properties).map(|id| property(id, &at_least(id % 7))).collect();
        (format!("{properties} properties"), query)
    } else {
        let depth = size(randomness, 12);
        let formula = (0..depth).fold(at_least(1), |inner, number| {
            let word = ["conjunction", "disjunction"][usize::from(number % 2 == 0)];
            format!("<{word}>{}{inner}</{word}>", at_least(number % 5))
        });
        (format!("a formula of depth {depth}"), property(0, &formula))
    };
    let query = format!("<property-set>{query}</property-set>");
    Input { file: "large.pnml".to_owned(), text: text.to_owned(), what, beside: Some(("large.xml".to_owned(), query)) }
}
