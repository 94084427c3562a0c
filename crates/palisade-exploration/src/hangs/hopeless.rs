//! Who waits although no way lets it go on, while others may go on for ever.
//!
//! A copy is *hopeless* in a configuration if it waits there and must not wait for ever, and so it
//! is in all that come of the configuration, whatever is done. Sleepers that go on for no reason
//! lead to configurations, and nobody may rely on them: such steps give no hope. What an `assume`
//! stops is no run, so where one may stop a copy there is hope.
//!
//! A *post* is a place of a configuration in which a copy is. There is hope for a post if the copy
//! there does not wait, or if some step leads to a post of the same copy for which there is hope.
//! So hope spreads backwards over the steps between posts, and what it does not reach is hopeless.
//! A stuck state is hopeless for who waits in it.

use super::configuration::Configuration;
use super::place::Waiting;
use super::search::Search;
use super::system::{Shape, System};
use crate::instrumented::Fault;
use crate::lazy::NetError;
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::{Program, Value};

/// The most steps between posts.
const MOST_STEPS: usize = 60_000_000;

/// Explores a program of fixed numbers to the end, and then looks for a copy without hope.
pub fn search_hopeless<'p>(program: &'p Program, shape: Shape, budget: &Budget) -> Result<Search<'p>, Halt<Fault>> {
    let mut search = Search::new(System::new(program, shape, Vec::new(), &budget.limits), Vec::new());
    search.explore(budget, false)?;
    search.find_hopeless(budget)?;
    Ok(search)
}

/// Where hope is, and where it comes from.
struct Hope {
    /// The first post of each configuration.
    first: Vec<usize>,
    /// For each post, those from which a step leads to it.
    before: Vec<Vec<u32>>,
    /// Posts for which there is hope and whose origins have not been looked at.
    open: Vec<usize>,
    is_there: Vec<bool>,
    steps: usize,
}

impl Hope {
    fn found(&mut self, post: usize) {
        if !std::mem::replace(&mut self.is_there[post], true) {
            self.open.push(post);
        }
    }

    /// A step from a post to another, or to an end.
    fn leads(&mut self, from: usize, to: Option<usize>) -> Result<(), StopReason> {
        let Some(to) = to else {
            self.found(from);
            return Ok(());
        };
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(StopReason::Budget);
        }
        self.before[to].push(u32::try_from(from).map_err(|_| StopReason::Budget)?);
        Ok(())
    }

    fn spread(&mut self) {
        while let Some(post) = self.open.pop() {
            for before in std::mem::take(&mut self.before[post]) {
                self.found(before as usize);
            }
        }
    }
}

impl Search<'_> {
    fn find_hopeless(&mut self, budget: &Budget) -> Result<(), Halt<Fault>> {
        let mut first = Vec::with_capacity(self.len());
        let mut posts = 0;
        for configuration in self.configurations() {
            first.push(posts);
            posts += configuration.tokens.len();
        }
        let (before, is_there) = (vec![Vec::new(); posts], vec![false; posts]);
        let mut hope = Hope { first, before, open: Vec::new(), is_there, steps: 0 };
        for node in 0..self.len() {
            budget.check(node as u64)?;
            let configuration = self.configuration(node).clone();
            // Whether a copy rests in a locked section while buffers of others wait.
            self.is_stuck(&configuration).map_err(NetError::halt)?;
            self.hope_at(node, &configuration, &mut hope)?;
        }
        hope.spread();
        let hopeless = (0..self.len()).find_map(|node| {
            let tokens = self.configuration(node).tokens.iter().enumerate();
            let post = tokens.map(|(index, (place, _))| (hope.first[node] + index, *place));
            post.filter(|(post, _)| !hope.is_there[*post]).map(|(_, place)| (node, place)).next()
        });
        if let Some((node, place)) = hopeless {
            self.mark_hopeless(node, place);
        }
        Ok(())
    }

    /// The hope that the posts of a configuration have, and the steps from them.
    fn hope_at(&mut self, node: usize, configuration: &Configuration, hope: &mut Hope) -> Result<(), Halt<Fault>> {
        let Configuration { control, tokens } = configuration;
        let first = hope.first[node];
        let mut may_stop = false;
        let sleepers = self.system.sleepers(tokens);
        for (index, (place, _)) in tokens.iter().enumerate() {
            if self.system.waiting(*control, *place, &sleepers).map_err(NetError::halt)? != Waiting::Waits {
                hope.found(first + index);
            }
            may_stop |= self.system.changes(*control, *place).map_err(NetError::halt)?.may_die;
        }
        for mover in 0..tokens.len() {
            let place = tokens[mover].0;
            // Nobody may rely on a sleeper that goes on for no reason.
            if self.system.slept_at(place).is_some() {
                continue;
            }
            let [rest] = &self.without_one(tokens, place)[..] else { continue };
            let changes = self.system.changes(*control, place).map_err(NetError::halt)?;
            for index in changes.start..changes.end {
                let change = self.system.change(index);
                let after = match change.to {
                    Some(to) => self.with_one(rest, to),
                    None => rest.clone(),
                };
                let outcomes = match change.wakes {
                    Some((address, all)) => {
                        may_stop |= self.may_stop_when_woken(tokens, address).map_err(NetError::halt)?;
                        self.after_wake(&after, address, all)?
                    }
                    None => vec![(after, Vec::new())],
                };
                for (tokens_after, woken) in outcomes {
                    let next = Configuration { control: change.control, tokens: tokens_after };
                    let node_after = self.node_of(next.clone());
                    let post = |place: u32| {
                        let index = next.tokens.binary_search_by_key(&place, |(own, _)| *own).ok()?;
                        Some(hope.first[node_after] + index)
                    };
                    // The copy that moves, those that are woken, and others.
                    let mut steps = vec![(first + mover, change.to.and_then(post), change.to.is_none())];
                    for (other, (own, own_count)) in tokens.iter().enumerate() {
                        let woken_here = woken.iter().filter(|(from, _)| from == own);
                        let mut left = own_count - u64::from(other == mover);
                        for (_, to) in woken_here {
                            steps.push((first + other, to.and_then(post), to.is_none()));
                            left = left.saturating_sub(1);
                        }
                        if left > 0 {
                            steps.push((first + other, post(*own), false));
                        }
                    }
                    for (from, to, has_ended) in steps {
                        if has_ended || to.is_some() {
                            hope.leads(from, to)?;
                        }
                    }
                }
            }
        }
        if may_stop {
            (first..first + tokens.len()).for_each(|post| hope.found(post));
        }
        Ok(())
    }

    /// Whether an `assume` may stop who is woken at an address.
    fn may_stop_when_woken(&mut self, tokens: &[(u32, u64)], address: Value) -> Result<bool, Fault> {
        for (place, _) in tokens {
            if self.system.slept_at(*place) == Some(address) && self.system.stops_when_woken(*place)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
