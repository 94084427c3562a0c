//! Where the costs of fences come from.

use super::cost::{Cost, CostError};
use super::depth::loop_depths;
use super::profile::Profile;
use palisade_model::program::{LabelId, Measure, Program, Sites, ThreadId};

/// What fences at the labels of a thread cost.
type OfThread<'f> = Box<dyn Fn(LabelId) -> Result<Cost, CostError> + 'f>;

/// What fences cost where measures of a program are taken.
pub(crate) struct MeasureCosts<'f> {
    program: &'f Program,
    sites: &'f Sites,
    of_threads: Vec<OfThread<'f>>,
}

impl MeasureCosts<'_> {
    /// The cost of a fence at the dearest of the labels that a measure is about; an error where a
    /// cost asked for is unusable.
    pub(crate) fn dearest(&self, measure: Measure) -> Result<Cost, CostError> {
        let parts = measure.parts(self.sites);
        let costs = parts.iter().map(|part| self.of_threads[part.thread().index()](part.label(self.program)));
        Ok(costs.collect::<Result<Vec<Cost>, _>>()?.into_iter().max().expect("a measure changes something"))
    }
}

/// Where the costs of fences come from.
#[derive(Clone, Debug)]
pub enum CostFunction {
    /// The annotations `@cost(x)` in the text; 1 where there is none.
    Annotated,
    /// Every fence costs 1: the smallest code.
    Uniform,
    /// Ten to the number of loops around the label: an estimate of how often control passes it.
    Depth,
    /// Measured costs per label.
    Profile(Profile),
}

impl CostFunction {
    /// What fences cost where measures of a program are taken.
    pub(crate) fn of_measures<'f>(&'f self, program: &'f Program, sites: &'f Sites) -> MeasureCosts<'f> {
        let of_threads = program.thread_ids().map(|(thread, _)| self.of_thread(program, thread)).collect();
        MeasureCosts { program, sites, of_threads }
    }

    /// What fences at the labels of a thread cost; an error where a cost asked for is unusable.
    fn of_thread<'f>(&'f self, program: &'f Program, thread: ThreadId) -> OfThread<'f> {
        let template = program.thread(thread);
        match self {
            Self::Uniform => Box::new(|_| Ok(Cost::one())),
            Self::Annotated => {
                Box::new(|label| template.label(label).fence_cost.map_or(Ok(Cost::one()), Cost::of_number))
            }
            Self::Depth => {
                let depths = loop_depths(template);
                Box::new(move |label| Ok(Cost::power_of_ten(depths[label.index()])))
            }
            Self::Profile(profile) => Box::new(move |label| {
                profile
                    .cost(thread, label)
                    .cloned()
                    .ok_or_else(|| CostError::Missing(format!("{}.{}", template.name, template.label(label).name)))
            }),
        }
    }
}
