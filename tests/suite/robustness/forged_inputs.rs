//! What the jobs of [`forged_results`](super::forged_results) are about.

pub(super) const BROKEN: &str = "program Broken
thread a regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[y]; goto l2;
end
thread b [2] regs r init l0 begin
  l0: mem[y] <- 1; goto l1;
  l1: r <- mem[x]; goto l2;
end
";

/// Robust; both properties hold under TSO, the second one not under PSO.
pub(super) const STATED: &str = "program Stated
thread a regs r init l0 begin
  l0: mem[data] <- 1; goto l1;
  l1: mem[flag] <- 1; goto l2;
end
thread b regs f, d init l0 begin
  l0: f <- mem[flag]; goto l1;
  l1: d <- mem[data]; goto l2;
  l2: ensure d < 2; goto l3;
  l3: ensure f = 0 || d = 1; goto l4;
end
";

/// Store buffering: the property fails under TSO, and holds with a fence in each thread.
pub(super) const EXCLUSION: &str = "program Exclusion
address x, y, a_in, b_in
thread a regs r, s init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[y]; goto l2;
  l2: assume r = 0; goto l3;
  l3: mem[a_in] <- 1; goto l4;
  l4: s <- mem[b_in]; goto l5;
  l5: ensure s = 0; goto l6;
end
thread b regs r init l0 begin
  l0: mem[y] <- 1; goto l1;
  l1: r <- mem[x]; goto l2;
  l2: assume r = 0; goto l3;
  l3: mem[b_in] <- 1; goto l4;
end
";

/// Both threads look before the other's store is there, and one waits for ever.
pub(super) const FLAGS: &str = "program Flags
address x, y, kick
thread a { x = 1; if (y == 1) { kick = 1; } }
thread b { y = 1; if (x == 0) { await (kick == 1); } }
";

/// The writer releases what it has stored, and the reader acquires it.
pub(super) const PASSED: &str = "program Passed
plain data
address flag
thread writer { data = 1; store(flag, 1, release); }
thread reader { let seen = load(flag, acquire); if (seen == 1) { let got = data; } }
";

pub(super) const EVENTS: &str = "program Events
domain 0..1
address query, list
event onText [*] regs q init a begin
  a: q <- *;
  b: mem[query] <- q;
  c: post any search();
end
task search() regs s init a begin
  a: s <- mem[query];
  b: post main show(s);
end
task show(s) begin
  a: mem[list] <- s;
end
";

pub(super) const QUIET_EVENTS: &str = "program Quiet
domain 0..1
address x
event one [2] init a begin
  a: mem[x] <- 1;
end
";

pub(super) const EXISTS: &str = "X86 exists
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
";

pub(super) const NET: &str =
    "vars\n p q\nrules\n p >= 1 -> p' = p - 1, q' = q + 1;\ninit\n p = 1, q = 0\ntarget\n q >= TOKENS\n";

pub(super) const RING: &str = r#"<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="ring" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="a"><initialMarking><text>1</text></initialMarking></place><place id="b"/>
<transition id="ab"/><transition id="ba"/>
<arc id="1" source="a" target="ab"/><arc id="2" source="ab" target="b"/>
<arc id="3" source="b" target="ba"/><arc id="4" source="ba" target="a"/>
</page></net></pnml>
"#;

/// Whether so many tokens are ever on places.
pub(super) fn property(id: &str, low: u32, places: &str) -> String {
    let places: String = places.chars().map(|place| format!("<place>{place}</place>")).collect();
    format!(
        "<property><id>{id}</id><formula><exists-path><finally><integer-le><integer-constant>{low}</integer-constant>\
         <tokens-count>{places}</tokens-count></integer-le></finally></exists-path></formula></property>"
    )
}
