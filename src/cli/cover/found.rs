//! Answers about nets: to questions of coverability and of reachability alike.

use super::evidence_of;
use crate::cli::confirm_net;
use crate::coverability::{Answer, Outcome, ReachAnswer, ReachOutcome};
use crate::evidence::{Evidence, MarkingSet, NetSubject, ReachCertificate};
use crate::net::{Formula, Net, Problem, Query};
use crate::report::contest::AskedQuestion;
use crate::report::cover::reason;
use crate::verify::{CheckFailure, check_also_unreachable, check_reaching_run, check_unbounded, check_unreachable};
use std::sync::Arc;

/// A check of evidence.
type Check = Box<dyn FnOnce() -> Result<(), CheckFailure> + Send>;

/// An answer with what it is about.
pub(super) enum Found<'a> {
    /// To a question of coverability.
    Cover(&'a Problem, &'a Answer),
    /// To a question of reachability.
    Reach(&'a Net, &'a Formula, &'a ReachAnswer),
    /// That a sum has no bound: it gets at least so large, by a run whose end can be repeated.
    Unbounded(&'a Net, &'a Formula, &'a ReachAnswer),
}

impl Found<'_> {
    /// Whether a target can be covered, or a marking reached, where that is known.
    pub(super) fn is_met(&self) -> Option<bool> {
        match self {
            Self::Cover(_, answer) => answer.is_coverable(),
            Self::Reach(_, _, answer) | Self::Unbounded(_, _, answer) => answer.outcome.is_reachable(),
        }
    }

    /// Whether there is evidence.
    pub(super) fn has_evidence(&self) -> bool {
        match self {
            Self::Cover(_, answer) => !matches!(answer.outcome, Outcome::Unknown(_)),
            Self::Reach(_, _, answer) | Self::Unbounded(_, _, answer) => {
                !matches!(answer.outcome, ReachOutcome::Unknown(_))
            }
        }
    }

    /// Why it is not known, or known without evidence.
    pub(super) fn reason(&self) -> Option<String> {
        match self {
            Self::Cover(_, answer) => reason(answer),
            Self::Reach(_, _, answer) | Self::Unbounded(_, _, answer) => match &answer.outcome {
                ReachOutcome::Unknown(reason) => Some(reason.to_string()),
                _ => None,
            },
        }
    }

    /// The strategy that answered.
    pub(super) fn strategy(&self) -> &'static str {
        match self {
            Self::Cover(_, answer) => answer.strategy,
            Self::Reach(_, _, answer) | Self::Unbounded(_, _, answer) => answer.strategy,
        }
    }

    /// What becomes of its question, before its evidence is looked at.
    pub(super) fn asked(&self) -> AskedQuestion {
        AskedQuestion {
            coverable: self.is_met(),
            reason: self.reason(),
            strategy: self.strategy(),
            seconds: 0.0,
            certificate: None,
            accepted: None,
            note: None,
        }
    }

    /// The closed set that is its evidence, where it is one.
    pub(super) fn closed_set(&self) -> Option<&Arc<MarkingSet>> {
        match self {
            Self::Reach(_, _, ReachAnswer { outcome, .. }) => match outcome {
                ReachOutcome::Unreachable(ReachCertificate::Closed(set)) => Some(set),
                _ => None,
            },
            Self::Cover(..) | Self::Unbounded(..) => None,
        }
    }

    /// The check of its evidence where that is a closed set which has been accepted before.
    pub(super) fn check_again(&self, accepted: &Arc<MarkingSet>) -> Option<Check> {
        let Self::Reach(net, goal, _) = self else { return None };
        self.closed_set().filter(|set| Arc::ptr_eq(set, accepted)).map(|set| {
            let (net, goal, set) = ((*net).clone(), (*goal).clone(), Arc::clone(set));
            Box::new(move || check_also_unreachable(&net, &goal, &set)) as Check
        })
    }

    /// The check of its evidence, with all it needs.
    pub(super) fn check(&self) -> Check {
        match self {
            Self::Cover(problem, answer) => {
                let (problem, outcome) = ((*problem).clone(), answer.outcome.clone());
                Box::new(move || confirm_net(&problem, &outcome).unwrap_or(Ok(())))
            }
            Self::Unbounded(net, goal, answer) => {
                let (net, goal, outcome) = ((*net).clone(), (*goal).clone(), answer.outcome.clone());
                Box::new(move || match &outcome {
                    ReachOutcome::Reachable(run) => check_unbounded(&net, &goal, run),
                    ReachOutcome::Unreachable(_) | ReachOutcome::Unknown(_) => Ok(()),
                })
            }
            Self::Reach(net, goal, answer) => {
                let (net, goal, outcome) = ((*net).clone(), (*goal).clone(), answer.outcome.clone());
                Box::new(move || match &outcome {
                    ReachOutcome::Reachable(run) => check_reaching_run(&net, &goal, run),
                    ReachOutcome::Unreachable(certificate) => check_unreachable(&net, &goal, certificate),
                    ReachOutcome::Unknown(_) => Ok(()),
                })
            }
        }
    }

    /// Its evidence, about a subject of its problem.
    pub(super) fn evidence(&self, subject: impl FnOnce(&Problem) -> NetSubject) -> Option<Evidence> {
        match self {
            Self::Cover(problem, answer) => evidence_of(subject(problem), problem, answer),
            Self::Reach(net, _, answer) | Self::Unbounded(net, _, answer) => {
                let problem = Problem { net: (*net).clone(), query: Query::default() };
                let subject = subject(&problem);
                match &answer.outcome {
                    ReachOutcome::Reachable(run) => {
                        let subject = subject.naming_steps_of(&problem, run);
                        let is_unbounded = matches!(self, Self::Unbounded(..));
                        let kind = if is_unbounded { Evidence::Unbounded } else { Evidence::Reachable };
                        Some(kind(subject, run.clone()))
                    }
                    ReachOutcome::Unreachable(certificate) => {
                        let subject = subject.naming_places_of_net(net, certificate);
                        Some(Evidence::Unreachable(subject, certificate.clone()))
                    }
                    ReachOutcome::Unknown(_) => None,
                }
            }
        }
    }
}
