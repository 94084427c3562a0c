//! Is a program with events or tasks robust against TSO?

use super::concurrency::QueueOrder;
use super::{About, Evident, Question};
use crate::evidence::Evidence;
use crate::limits::{Limits, StopReason};
use crate::program::Program;
use crate::report::account::{Account, Answer, Mark, Proof, Rule, Run, Shown};
use crate::report::interleaving::queue_words;
use crate::report::scene::Scene;
use crate::report::tso::{Computation, instance_words, with_words};
use crate::robustness::{Fault, TaskCheck, Verdict, check_tasks, is_task_witness_in_order, tasks_in_order};
use crate::semantics::Model;

/// The question.
pub struct EventRobustness<'p> {
    /// The program.
    pub about: About<'p>,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
    /// In which order the main thread takes tasks.
    pub queue: QueueOrder,
}

impl Evident for TaskCheck {
    fn evidence(&self, about: &About<'_>) -> Vec<(String, Evidence)> {
        let found = match (&self.certificate, &self.witness) {
            (Some(certificate), _) => ("tso-robust", Evidence::TsoRobust(about.subject(), certificate.clone())),
            (None, Some(witness)) => ("tso-violation", Evidence::NotTsoRobust(about.subject(), witness.clone())),
            (None, None) => return Vec::new(),
        };
        vec![(found.0.to_owned(), found.1)]
    }
}

impl Question for EventRobustness<'_> {
    type Found = TaskCheck;

    fn about(&self) -> About<'_> {
        self.about
    }

    fn asked(&self) -> Vec<Account<'_>> {
        let subject = instance_words(self.about.program);
        let account = Account::new("robustness", Rule::NOT_ROBUST, "robust against x86-TSO", subject);
        let verdict = "robustness against TSO is unknown".to_owned();
        vec![Account { heading: "robust", model: Some(Model::Tso.into()), verdict, ..account }]
    }

    fn decide(&self, limits: &Limits) -> Result<TaskCheck, Fault> {
        let mut checked = check_tasks(self.about.program, self.values, limits)?;
        put_in_order(&mut checked, self.about.program, self.queue, limits);
        Ok(checked)
    }

    fn tell<'a>(&'a self, found: &'a TaskCheck, accounts: &mut [Account<'a>]) {
        let [account] = accounts else { return };
        let program = self.about.program;
        account.explored = found.configurations;
        let words = match found.verdict {
            Verdict::Robust => "robust against TSO",
            Verdict::NotRobust => "not robust against TSO",
            Verdict::Unknown(reason) => {
                account.leave_open(account.verdict.clone(), reason.to_string());
                account.note(0, "reason", reason.to_string());
                return;
            }
        };
        account.say(words);
        account.phrase = match found.verdict {
            Verdict::Robust => "proved (one exploration of all delayed stores)".to_owned(),
            _ => "violated, happens-before is cyclic".to_owned(),
        };
        let Some(witness) = &found.witness else {
            account.answer = Answer::Holds(Proof::default());
            return;
        };
        let Some(computation) = Computation::of(program, witness) else {
            account.leave_open("robustness against TSO is unknown", "the violation cannot be followed");
            return;
        };
        let delayed = computation.steps.iter().filter(|step| step.is_delayed).filter_map(|step| step.line);
        account.marks.extend(delayed.map(|line| (line, Mark::Delayed, String::new())));
        let counted = program.threads.iter().zip(&witness.instance).filter(|(it, _)| !it.is_task());
        account.answer = Answer::Violated(Shown {
            headline: "violation: happens-before is cyclic".to_owned(),
            above: std::iter::once(format!("with: {}; posts {}", with_words(program, witness), program.posts.word()))
                .chain(found.is_minimal.then(|| "(no instance with fewer in all has one)".to_owned()))
                .collect(),
            below: computation.is_out_of_order.map(|is_so| format!("  {}", queue_words(is_so))).into_iter().collect(),
            run: Run::Events(Scene::of_computation(&computation)),
            cycle: None,
            instance: counted.map(|(it, count)| (it.name.as_str(), *count)).collect(),
            instance_minimal: program.is_parameterized().then_some(found.is_minimal),
            shortest: false,
            attacker: None,
            related: Vec::new(),
        });
    }
}

/// Replaces a violation by one in order where there is one; with an ordinary queue, others do not
/// count.
fn put_in_order(checked: &mut TaskCheck, program: &Program, queue: QueueOrder, limits: &Limits) {
    let Some(witness) = &checked.witness else { return };
    if is_task_witness_in_order(program, witness) {
        return;
    }
    match tasks_in_order(program, witness, queue.configurations(), limits) {
        Some(found) => checked.witness = Some(found),
        None if queue == QueueOrder::Fifo => {
            checked.witness = None;
            checked.verdict = Verdict::Unknown(StopReason::Order);
        }
        None => {}
    }
}
