//! The proof obligations of program certificates.
//!
//! The state space is that of the instrumented program, in all its phases, with the numbers of
//! threads in the certificate's states as variables; a step into anything that the certificate does
//! not list leads `outside`. Cuts of the control flow are stages of their own. A fourth script,
//! `tables`, holds the two claims that the others take for granted: which registers are live, and
//! what threads settle to.

use super::Script;
use super::attack_nets::attack_net_scripts;
use super::tables::{Stage, Tables};
use super::terms::{conjunction, disjunction, equal, line, negation, sum};
use palisade_evidence::RobustCertificate;
use palisade_model::program::{Copies, Program};
use palisade_verify::CheckFailure;

/// The obligations of a certificate; its numbers must be those of the program. Fails where the
/// certificate has a proof about a net that the checker cannot list, or about places that this net
/// does not have.
pub fn program_scripts(program: &Program, certificate: &RobustCertificate) -> Result<Vec<Script>, CheckFailure> {
    let tables = Tables::new(program, certificate);
    let head = |obligation: &str, what: &str| {
        let logic = if tables.is_linear() { "QF_LIA" } else { "QF_NIA" };
        let mut text = format!("; {obligation}: unsat iff there is not {what}\n(set-logic {logic})\n");
        tables.legend(&mut text);
        text
    };

    let mut initial = head("initial", "an initial state outside the certificate's sets");
    tables.declare_state(&mut initial, "");
    tables.define_memories(&mut initial);
    tables.define_settling(&mut initial);
    line(&mut initial, &format!("(assert {})", tables.is_initial()));
    line(&mut initial, &format!("(assert {})", negation(&tables.invariant(""))));

    let mut inductive = head("inductive", "a step that leaves the certificate's sets");
    tables.declare_state(&mut inductive, "");
    tables.declare_state(&mut inductive, "_");
    tables.define_memories(&mut inductive);
    line(&mut inductive, &format!("(assert {})", tables.invariant("")));
    tables.assert_step(&mut inductive);
    line(&mut inductive, &format!("(assert {})", negation(&tables.invariant("_"))));

    let mut safe = head("safe", "a success in the certificate's sets, or control that passes a cut");
    tables.declare_state(&mut safe, "");
    tables.define_memories(&mut safe);
    tables.define_by_address(&mut safe, ("level", "Int", "0"), |place| format!("v{place}"));
    line(&mut safe, &format!("(assert {})", tables.invariant("")));
    line(&mut safe, &format!("(assert {})", tables.is_success()));

    let mut claims = head("tables", "a wrong claim about live registers or settling");
    tables.define_settling(&mut claims);
    line(&mut claims, &tables.define_live());
    line(&mut claims, &format!("(assert {})", negation(&conjunction(tables.claims()))));

    let on_nets = attack_net_scripts(program, certificate)?;
    Ok([("tables", claims), ("initial", initial), ("inductive", inductive), ("safe", safe)]
        .into_iter()
        .map(|(obligation, mut text)| {
            line(&mut text, "(check-sat)");
            Script { obligation: obligation.to_owned(), text }
        })
        .chain(on_nets)
        .collect())
}

impl Tables<'_> {
    /// An initial configuration, where a search is needed at all, or the target of a store at the
    /// start of a cut.
    fn is_initial(&self) -> String {
        let mut starts = Vec::new();
        if !self.infeasible.is_empty() {
            let memory = self.places().map(|(place, address)| {
                equal(format!("m{place}"), super::terms::integer(self.program.initial_value(address)))
            });
            let mut conditions = vec![equal("stage", 0), negation("locked")];
            conditions.extend(memory);
            let mut unlisted = Vec::new();
            for (thread, own) in self.program.thread_ids() {
                let states: Vec<usize> =
                    (0..self.listed).filter(|state| self.states[*state].thread == thread).collect();
                let start = self.number_of(&self.start(thread)).filter(|_| own.copies != Copies::Exactly(0));
                for state in &states {
                    let may = start.map_or_else(|| "false".to_owned(), |start| format!("(settles {start} {state})"));
                    conditions.push(format!("(=> (> n{state} 0) {may})"));
                }
                let Some(start) = start else { continue };
                if self.settled[start].iter().any(|settled| *settled >= self.listed) {
                    unlisted.push("true".to_owned());
                } else if let Copies::Exactly(copies) = own.copies
                    && !self.settled[start].is_empty()
                {
                    conditions.push(equal(sum(states.iter().map(|state| format!("n{state}"))), copies));
                }
            }
            conditions.push(equal("outside", disjunction(unlisted)));
            starts.push(conjunction(conditions));
        }
        for (number, stage) in self.stages.iter().enumerate() {
            let Stage::Flow(thread, store, ..) = stage else { continue };
            let target = self.program.thread(*thread).instruction(*store).target;
            let outside = negation("outside");
            starts.push(conjunction([equal("stage", number), equal("point", target.index()), outside]));
        }
        disjunction(starts)
    }

    /// Success ([ESOP13, Eq. 13]), or the load at the end of a cut.
    fn is_success(&self) -> String {
        let helped = self.is_stage(|stage| matches!(stage, Stage::Helped(_)));
        let mut ends = vec![conjunction([helped, negation("locked"), "(>= (level origin) 1)".to_owned()])];
        for (number, stage) in self.stages.iter().enumerate() {
            let Stage::Flow(thread, _, load, _) = stage else { continue };
            let source = self.program.thread(*thread).instruction(*load).source;
            ends.push(conjunction([equal("stage", number), equal("point", source.index())]));
        }
        disjunction(ends)
    }

    /// The live registers, by the numbers of thread, label and register.
    fn define_live(&self) -> String {
        let mut cases = Vec::new();
        for (thread, labels) in self.certificate.live.iter().enumerate() {
            for (label, registers) in labels.iter().enumerate() {
                let own = registers.iter().map(|register| equal("register", register.index()));
                cases.push(conjunction([equal("thread", thread), equal("label", label), disjunction(own)]));
            }
        }
        let body = disjunction(cases);
        format!("(define-fun live ((thread Int) (label Int) (register Int)) Bool {body})")
    }
}
