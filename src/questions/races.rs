//! Has a program of threads a triangular race? Without one, and without sections, it is robust;
//! with one it may be.

use super::delay::line;
use super::{About, Evident, Question};
use crate::evidence::Evidence;
use crate::limits::Limits;
use crate::properties::races::{RaceOptions, RaceVerdict, Races, implies_robustness, races};
use crate::report::account::{Account, Answer, Mark, Proof, Rule, Run, Shown};
use crate::report::computation::address_text;
use crate::report::context::instance_words;
use crate::report::races::{Corners, computation};
use crate::report::subject::program_words;
use crate::robustness::Fault;
use crate::semantics::Effect;

/// The question.
pub struct TriangularRaces<'p> {
    /// The program.
    pub about: About<'p>,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
}

/// What is said of programs with sections and without races.
const SECTIONS: &str =
    "sections of several instructions: it need not be robust for that, `--ask robustness` decides it";

impl Evident for Races {
    fn evidence(&self, about: &About<'_>) -> Vec<(String, Evidence)> {
        let found = match &self.verdict {
            RaceVerdict::Free(set) => ("race-free", Evidence::RaceFree(about.subject(), set.clone())),
            RaceVerdict::Racy(race) => ("race", Evidence::Race(about.subject(), race.witness())),
            RaceVerdict::Unknown(_) => return Vec::new(),
        };
        vec![(found.0.to_owned(), found.1)]
    }
}

impl Question for TriangularRaces<'_> {
    type Found = Races;

    fn about(&self) -> About<'_> {
        self.about
    }

    fn asked(&self) -> Vec<Account<'_>> {
        let subject = program_words(self.about.program, self.about.changed);
        let account = Account::new("races", Rule::TRIANGULAR_RACE, "free of triangular races", subject);
        vec![Account { heading: "races", ..account }]
    }

    fn decide(&self, limits: &Limits) -> Result<Races, Fault> {
        races(self.about.program, &RaceOptions { values: self.values, limits: limits.clone() })
    }

    fn tell<'a>(&'a self, found: &'a Races, accounts: &mut [Account<'a>]) {
        let [account] = accounts else { return };
        let program = self.about.program;
        account.explored = found.states;
        let race = match &found.verdict {
            RaceVerdict::Free(_) => {
                "free of triangular races".clone_into(&mut account.verdict);
                "free of triangular races".clone_into(&mut account.phrase);
                "no triangular race".clone_into(&mut account.message);
                account.answer = Answer::Holds(Proof::default());
                if implies_robustness(program) {
                    account.note(0, "so", "robust: no load shows whether an earlier store has reached memory");
                } else {
                    account.note(0, "note", SECTIONS);
                }
                return;
            }
            RaceVerdict::Unknown(reason) => {
                account.leave_open("unknown", reason.to_string());
                account.note(0, "reason", reason.to_string());
                return;
            }
            RaceVerdict::Racy(race) => race,
        };
        let corners = Corners::of(race);
        let (reader, writer) = corners.threads;
        let (load, store, racing) = (
            program.place(reader, corners.load),
            program.place(reader, corners.store),
            program.place(writer, corners.racing),
        );
        let span = |thread, instruction| program.thread(thread).instruction(instruction).span;
        let Effect::Load { address, .. } = race.events[race.load_step].effect else {
            unreachable!("the step is a load")
        };
        "triangular-race".clone_into(&mut account.verdict);
        account.phrase = format!("a triangular race: {load} with {racing}");
        account.message = format!(
            "the load at {load} comes after the store at {store} without a fence and races with the store at {racing}"
        );
        account.place = Some(span(reader, corners.load));
        account.note(0, "load", load.clone());
        account.note(0, "after", store);
        account.note(0, "with", racing.clone());
        account.marks = vec![
            (line(program, reader, corners.store), Mark::Earlier, "store before the load".to_owned()),
            (line(program, reader, corners.load), Mark::Later, "load of the race".to_owned()),
            (line(program, writer, corners.racing), Mark::Racing, String::new()),
        ];
        let copies = program.threads.iter().zip(race.instance.counts());
        let instance = instance_words(program, &race.instance, race.instance_minimal);
        account.answer = Answer::Violated(Shown {
            headline: format!(
                "race: the load at {load} reads `{}` immediately before the store at {racing}",
                address_text(program, address)
            ),
            above: instance.map(|words| format!("instance: {words}")).into_iter().collect(),
            run: Run::Threads(computation(program, race)),
            below: Vec::new(),
            cycle: None,
            instance: copies.map(|(thread, count)| (thread.name.as_str(), *count)).collect(),
            instance_minimal: Some(race.instance_minimal),
            shortest: false,
            attacker: None,
            related: vec![
                (span(reader, corners.store), "the store before it"),
                (span(writer, corners.racing), "the store that it races with"),
            ],
        });
    }
}
