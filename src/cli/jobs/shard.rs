//! Which jobs of a plan a worker does.

use crate::syntax::InputError;

/// One of several shares of a plan: every n-th job, beginning with one of the first n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// Its number, below `of`.
    number: u64,
    /// How many shares there are.
    of: u64,
}

/// Variables in which engines for batches number their tasks, with those that say how many there
/// are, where they do.
const ENGINES: [(&str, &str, Option<&str>); 4] = [
    ("Slurm", "SLURM_ARRAY_TASK_ID", Some("SLURM_ARRAY_TASK_COUNT")),
    ("HyperQueue", "HQ_TASK_ID", None),
    ("Kubernetes", "JOB_COMPLETION_INDEX", None),
    ("GNU parallel", "PARALLEL_SEQ", None),
];

/// The variable that says how many shards there are where an engine does not.
const SHARDS: &str = "PALISADE_SHARDS";

impl Shard {
    /// All jobs.
    pub(super) const ALL: Self = Self { number: 0, of: 1 };

    /// The share that engines for batches name by consecutive numbers, wherever these begin.
    fn new(id: u64, of: u64) -> Self {
        Self { number: id % of, of }
    }

    /// Whether it has a job, by the job's number in the plan.
    pub(super) fn has(self, number: usize) -> bool {
        number as u64 % self.of == self.number
    }

    /// Its name, such as `3-of-8`; none for all jobs.
    pub(super) fn name(self) -> Option<String> {
        (self != Self::ALL).then(|| format!("{}-of-{}", if self.number == 0 { self.of } else { self.number }, self.of))
    }

    /// The shard that the environment names.
    pub(super) fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, InputError> {
        let failed = |message: String, help: String| InputError::file("--from-env", message).with_help_if(Some(help));
        let found = ENGINES.iter().find_map(|(engine, id, count)| Some((engine, id, variable(id)?, count)));
        let Some((engine, name, id, count)) = found else {
            let names = ENGINES.map(|(_, id, _)| id).join(", ");
            let message = "no engine for batches has numbered this task".to_owned();
            return Err(failed(message, format!("set one of {names}, or say `--shard I/N`")));
        };
        let number = |name: &str, text: &str| {
            let help = format!("{name} is to be a number");
            text.trim().parse::<u64>().map_err(|_| failed(format!("{name} is `{text}`"), help))
        };
        let mut counts = [Some(SHARDS), *count].into_iter().flatten();
        let Some((source, of)) = counts.find_map(|name| Some((name, variable(name)?))) else {
            let help = format!("set {SHARDS} to the number of tasks");
            return Err(failed(format!("{engine} does not say how many tasks there are"), help));
        };
        let (id, of) = (number(name, &id)?, number(source, &of)?);
        if of == 0 {
            return Err(failed(format!("{source} is 0"), format!("{source} is to be the number of tasks")));
        }
        Ok(Self::new(id, of))
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no shard; say `3/8` for the third of eight");
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        match (number.parse::<u64>(), of.parse::<u64>()) {
            (Ok(number @ 1..), Ok(of)) if number <= of => Ok(Self::new(number, of)),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_every_job_once() {
        for of in 1..7 {
            let all: Vec<Shard> = (1..=of).map(|number| format!("{number}/{of}").parse().expect("a shard")).collect();
            // Tasks may be numbered from 0, from 1 or from anywhere.
            for first in [0, 1, 17] {
                let named: Vec<Shard> = (first..first + of).map(|id| Shard::new(id, of)).collect();
                assert!(all.iter().all(|shard| named.contains(shard)), "{first}/{of}");
            }
            for job in 1..30 {
                assert_eq!(all.iter().filter(|shard| shard.has(job)).count(), 1);
            }
        }
        for wrong in ["", "3", "0/4", "5/4", "1/0", "-1/4", "a/b", "1/4/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn engines_number_their_tasks() {
        let shard = |set: &[(&str, &str)]| {
            Shard::from_environment(|name| {
                set.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let slurm = shard(&[("SLURM_ARRAY_TASK_ID", "3"), ("SLURM_ARRAY_TASK_COUNT", "8")]).expect("a shard");
        assert_eq!(slurm.name().as_deref(), Some("3-of-8"));
        let last = shard(&[("HQ_TASK_ID", "0"), ("PALISADE_SHARDS", "4")]).expect("a shard");
        assert_eq!(last.name().as_deref(), Some("4-of-4"));
        assert!(shard(&[]).is_err());
        assert!(shard(&[("HQ_TASK_ID", "1")]).is_err(), "nobody says how many");
        assert!(shard(&[("JOB_COMPLETION_INDEX", "x"), ("PALISADE_SHARDS", "4")]).is_err());
        assert!(shard(&[("PARALLEL_SEQ", "1"), ("PALISADE_SHARDS", "0")]).is_err());
    }
}
