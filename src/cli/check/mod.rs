//! `palisade check`: all questions that a program has, properties first.

mod arguments;
mod asking;
mod compilations;
mod progress;
mod two_threads;

pub(super) use arguments::CheckArguments;
use arguments::{AttackRange, EventMethod};
pub(super) use asking::{NO_GRACE, looks_for_hangs, questions};

use super::answers::{Answered, Asking};
use super::asked::question;
use super::batch::{Batch, Extent, Spoken, answer_all};
use super::words::{Against, Ask};
use super::{Exit, Loaded, SharedOptions};
use crate::hangs::HangOptions;
use crate::limits::Limits;
use crate::program::{Heading, Program, Thread};
use crate::questions::{
    Concurrency, EventRobustness, LanguageRobustness, Properties, PropertyOptions, PsoRobustness, Robustness,
    TriangularRaces, WaitsForEver, carry_to_language,
};
use crate::report::account::{self, Account, CheckDocument, Standing, Told};
use crate::report::context::Context;
use crate::report::documents::{self, OutcomeWord};
use crate::report::findings::findings;
use crate::report::page::told_page;
use crate::robustness::{CheckOptions, Observer, Silent, Stage, unreached};
use crate::semantics::Model;
use crate::semantics::graphs::{Axioms, by_language};
use crate::syntax::{
    Format, InputError, no_attack_can_start, roles_that_do_nothing, roles_without_end, store_fence_without_effect,
};
use progress::Progress;
use std::time::Instant;
use two_threads::check_two_threads;

/// The configurations that an exploration for a property may have where other questions are asked
/// as well: before these, and behind them.
const CONFIGURATIONS: [u64; 2] = [10_000, 200_000];

/// Those that one for stuck states may have in a program that only spins: many have more, and an
/// answer then takes seconds.
const OF_SPINNING: u64 = 1_000;

/// What is said of a program about which nothing is asked.
const NOTHING: &str = "nothing is stated: there is no `ensure`, no `fail`, no `never` and no question";

/// The same of machine code, in which branches that are never taken are gone.
const NOTHING_FAILS: &str =
    "nothing is stated: in the code as it was read, no way leads to a panic, a failed `assert` or a trap";

/// Runs `palisade check`.
pub(super) fn run(arguments: &CheckArguments, shared: &SharedOptions) -> Exit {
    run_as("check", arguments, shared)
}

/// Runs `palisade check` under a name.
pub(super) fn run_as(command: &'static str, arguments: &CheckArguments, shared: &SharedOptions) -> Exit {
    let words = match arguments.ask.as_slice() {
        [Ask::Robustness] => ("robust", "not robust"),
        [Ask::Races] => ("free of triangular races", "with a triangular race"),
        [Ask::Hangs] => ("free of hangs", "stuck"),
        [Ask::Hopeless] => ("hopeful", "hopeless"),
        _ => ("hold", "violated"),
    };
    let answer = |file: &str, extent: Extent| {
        check_file(arguments, shared, file, extent).unwrap_or_else(|error| Spoken::refused(file, &error, shared))
    };
    let model = match arguments.model {
        Against::Model(Model::Tso) => String::new(),
        other => format!("--model {} ", other.word()),
    };
    let asks: Vec<&str> = arguments.ask.iter().map(|ask| ask.name()).collect();
    let ask = if asks.is_empty() { String::new() } else { format!("--ask {} ", asks.join(",")) };
    let batch = Batch {
        command,
        files: &arguments.files,
        from: arguments.program.from,
        words,
        shows: (command == "check").then(|| format!("palisade check {model}{ask}FILE")),
        outputs: &arguments.outputs,
    };
    answer_all(&batch, shared, answer)
}

fn check_file(
    arguments: &CheckArguments,
    shared: &SharedOptions,
    file: &str,
    extent: Extent,
) -> Result<Spoken, InputError> {
    let begin = Instant::now();
    let asking = Asking::new(file, arguments.verify, arguments.certificate.as_deref(), shared);
    let loaded = arguments.program.read_any_within(file, &asking.limits)?;
    if let Some(EventMethod::TwoThreads) = arguments.methods.method {
        return check_two_threads(arguments, shared, file, &loaded);
    }
    let observed = extent.is_only_one.then(|| Progress::new(&loaded.program, shared));
    let observer: &dyn Observer = observed.as_ref().map_or(&Silent, |progress| progress);
    tell(arguments, &asking, &loaded, begin, observer, |told, alarms| {
        if let Some(progress) = &observed {
            progress.end();
        }
        let mut spoken = spoken(arguments, told, shared, extent);
        spoken.remarks = loaded.rendered(told.context.warnings, shared) + &alarms.concat();
        if !alarms.is_empty() {
            spoken.exit = Exit::Rejected;
        }
        if arguments.outputs.are_any() {
            let mut answer = findings(told);
            if arguments.outputs.asks_for_a_page() {
                answer.page = Some(told_page(told, &question(file)));
            }
            spoken.add_answer(answer);
        }
        spoken
    })
}

/// Asks what the options ask about a program, and hands over what there is to tell, with what is to
/// be said loudly of evidence that was rejected.
pub(in crate::cli) fn tell<T>(
    arguments: &CheckArguments,
    asking: &Asking<'_>,
    loaded: &Loaded,
    begin: Instant,
    observer: &dyn Observer,
    hand_over: impl FnOnce(&Told<'_>, &[String]) -> T,
) -> Result<T, InputError> {
    let asks = asking::questions(arguments, asking.file, loaded)?;
    asking::admit_attacks(arguments, asking.file, loaded, &asking.limits)?;
    if loaded.program.is_event_driven() && asking.folder.is_some() {
        loaded.posts_as_in_text()?;
    }
    let first = if asks.len() > 1 { CONFIGURATIONS[0] } else { u64::MAX };
    let model = By::Model(arguments.model.model());
    let mut answered = Vec::new();
    let looked_for_hangs = if looks_for_hangs(arguments, loaded) {
        let most = if loaded.program.says_waits() { CONFIGURATIONS[0] } else { OF_SPINNING };
        answer(arguments, (Ask::Hangs, model), most, asking, loaded, observer)?
    } else {
        None
    };
    let hangs_are_open = looked_for_hangs.as_ref().is_some_and(|(_, found)| found.is_open());
    // Of what only spins it is said when somebody hangs.
    let is_violated =
        |answered: &Answered<'_>| answered.accounts().iter().any(|account| account.standing() == Standing::Violated);
    let is_told = |(_, found): &(Ask, Answered<'_>)| loaded.program.says_waits() || is_violated(found);
    let mut looked_for_hangs = looked_for_hangs.filter(|found| !hangs_are_open && is_told(found));
    for ask in &asks {
        if *ask == Ask::Robustness {
            answered.extend(looked_for_hangs.take());
        }
        // Robustness against a language may be asked for what it says of properties alone.
        let is_support =
            *ask == Ask::Robustness && answered.is_empty() && asks.len() > 1 && !arguments.asks_for(ask.name());
        if !is_support {
            answered.extend(answer(arguments, (*ask, model), first, asking, loaded, observer)?);
        }
    }
    // Where robustness is not asked, as under SC.
    answered.extend(looked_for_hangs);
    // Properties that take long wait for the other questions, so that no limit keeps these from
    // their answers. What is known of counters that grow may take long.
    let has_answer = |answered: &Answered<'_>| answered.asked().fault().is_none_or(|(fault, _)| fault.is_growth());
    let is_open =
        |(ask, answered): &(Ask, Answered<'_>)| *ask == Ask::Properties && has_answer(answered) && answered.is_open();
    if asks.len() > 1
        && let Some(position) = answered.iter().position(is_open)
        && let Some(found) = answer(arguments, (Ask::Properties, model), CONFIGURATIONS[1], asking, loaded, observer)?
        && has_answer(&found.1)
        && says_no_less(&found.1, &answered[position].1)
    {
        answered[position] = found;
    }
    if arguments.model.language().is_some() {
        for (position, found) in shown_beyond_interleavings(arguments, &answered, asking, loaded, observer)? {
            answered[position] = found;
        }
    }
    refuse_faults(&answered)?;
    let mut accounts: Vec<Account<'_>> = answered.iter().flat_map(|(_, answered)| answered.accounts()).collect();
    let is_robust = accounts.iter().any(|it| it.ask == Ask::Robustness.name() && it.standing() == Standing::Holds);
    if arguments.model.language().is_some() {
        carry_to_language(&loaded.program, &mut accounts);
        accounts.retain(|account| account.ask != Ask::Robustness.name() || arguments.asks_for(account.ask));
    }
    tell_unreached(arguments, loaded, &asking.limits, is_robust, &mut accounts);
    if let Some(last) = accounts.last_mut().filter(|_| hangs_are_open) {
        let verbosity = u8::from(!loaded.program.says_waits());
        last.note(verbosity, "hangs", "no answer in short time: `--ask hangs` asks whether anybody waits for ever");
    }
    if let Some(last) = accounts.last_mut().filter(|_| loaded.program.has_grace_periods()) {
        last.note(0, "hangs", "not asked, as threads wait for grace periods");
    }
    let (program, is_of_language) = (&loaded.program, arguments.model.language().is_some());
    let may_hang = match program.source.is_listing {
        true => program.threads.iter().any(Thread::may_spin),
        false => is_of_language && program.says_waits(),
    };
    let is_asked = accounts.iter().any(|account| matches!(account.ask, "hangs" | "hopeless"));
    let is_left_out =
        may_hang && !loaded.program.has_grace_periods() && !is_asked && !hangs_are_open && arguments.ask.is_empty();
    if let Some(last) = accounts.last_mut().filter(|_| is_left_out) {
        last.note(0, "hangs", "not asked: `--ask hangs` asks whether anybody waits for ever");
    }
    let waits_for_events = loaded.program.is_event_driven() && loaded.program.says_waits();
    if let Some(last) = accounts.last_mut().filter(|_| waits_for_events && arguments.ask.is_empty()) {
        last.note(0, "hangs", "not asked: who waits for ever is told of threads, and not of events and tasks");
    }
    if let Some(last) = accounts.last_mut().filter(|_| arguments.attacks.is_some()) {
        last.note(0, "asked", "whether these attacks are feasible, and nothing else: `--attacks` chooses among them");
    }
    let mut certificates = Vec::new();
    for (_, answered) in &answered {
        certificates.extend(answered.write(asking)?);
    }
    let (compilations, alarm) = compilations::of(arguments, asking, loaded, &accounts, &answered, &mut certificates)?;
    let mut loaded_warnings = loaded.warnings.clone();
    loaded_warnings.extend(warnings(loaded, &accounts));
    let context = Context {
        compilations: compilations.as_ref(),
        warnings: &loaded_warnings,
        ..loaded.context(asking.file, begin, &certificates)
    };
    let nothing = if loaded.program.source.is_listing { NOTHING_FAILS } else { NOTHING };
    let told = Told { context, nothing, accounts };
    let confirmations = answered.iter().filter_map(|(_, answered)| answered.confirmation());
    let alarms: Vec<String> =
        confirmations.filter_map(|confirmation| confirmation.alarm(asking.file)).chain(alarm).collect();
    Ok(hand_over(&told, &alarms))
}

/// Whose computations are looked at.
#[derive(Clone, Copy)]
enum By {
    /// Those of a model of machines.
    Model(Model),
    /// Execution graphs of a language.
    Graphs(Axioms),
}

/// Asks one question, about properties with so many configurations at
/// most; nothing where the program turns out not to have it.
fn answer<'q>(
    arguments: &CheckArguments,
    (ask, by): (Ask, By),
    most: u64,
    asking: &Asking<'_>,
    loaded: &'q Loaded,
    observer: &'q dyn Observer,
) -> Result<Option<(Ask, Answered<'q>)>, InputError> {
    let (about, queue) = (loaded.about(), arguments.queue.into());
    let values = loaded.values(arguments.values);
    let (model, graphs) = match by {
        By::Model(model) => (model, None),
        By::Graphs(axioms) => (Model::Sc, Some(axioms)),
    };
    observer.begins(Stage::Question(ask.name()));
    let answered = match ask {
        Ask::Properties => {
            let options = PropertyOptions {
                only: arguments.only.clone(),
                by: arguments.methods.rung(),
                buffer: arguments.methods.buffer,
                slice: !arguments.methods.no_slice,
                most,
                values,
                language: arguments.model.language(),
                ..PropertyOptions::new(model)
            };
            let properties = Properties::new(about, options)?;
            if properties.are_none() {
                return Ok(None);
            }
            asking.ask(properties)
        }
        Ask::Concurrency => asking.ask(Concurrency { about, values, pending: arguments.pending, queue }),
        Ask::Robustness if loaded.program.is_event_driven() => asking.ask(EventRobustness { about, values, queue }),
        Ask::Robustness if arguments.model.language().is_some() => {
            let axioms = arguments.model.language().expect("a language is asked about");
            asking.ask(LanguageRobustness::new(about, axioms, values))
        }
        Ask::Robustness if arguments.model.model() == Model::Pso => asking.ask(PsoRobustness { about, values }),
        Ask::Robustness => {
            let options = CheckOptions { values, ..check_options(arguments, &asking.limits) };
            let part = arguments.attacks.as_ref().map(|AttackRange(range)| range.clone());
            asking.ask(Robustness { about, options, part, observer })
        }
        Ask::Hangs | Ask::Hopeless => {
            let is_looked_for = ask == Ask::Hangs && looks_for_hangs(arguments, loaded);
            let short = if is_looked_for { most } else { CONFIGURATIONS[1] };
            let (buffer, most) = (arguments.methods.buffer, (most < u64::MAX).then_some(short));
            asking.ask(WaitsForEver {
                about,
                is_of_one: ask == Ask::Hopeless,
                language: arguments.model.language(),
                options: HangOptions {
                    values,
                    buffer,
                    most,
                    ignore_timeouts: arguments.ignore_timeouts,
                    graphs,
                    // Of what only spins it is told alone that it is stuck.
                    rest_between_rounds: is_looked_for && !loaded.program.says_waits(),
                    ..HangOptions::new(model)
                },
            })
        }
        Ask::Races => asking.ask(TriangularRaces { about, values }),
    };
    Ok(Some((ask, answered)))
}

/// The answers, by their positions, that change where a program is not robust against a language:
/// what interleavings never show, x86 may, and the usual mapping to x86 has no executions but those
/// of the language (Lahav et al., PLDI 2017). Hangs are sought in its execution graphs then.
fn shown_beyond_interleavings<'q>(
    arguments: &CheckArguments,
    answered: &[(Ask, Answered<'q>)],
    asking: &Asking<'_>,
    loaded: &'q Loaded,
    observer: &'q dyn Observer,
) -> Result<Vec<(usize, (Ask, Answered<'q>))>, InputError> {
    let is_robustness = |(ask, _): &&(Ask, Answered<'q>)| *ask == Ask::Robustness;
    let is_violated = |account: &Account<'_>| account.standing() == Standing::Violated;
    let robustness = answered.iter().find(is_robustness);
    // What counts as relaxed, as its ordering is not known, may be stronger on x86 as well.
    let is_guessed = Heading::of(&loaded.program.source).is_some_and(|own| !own.relaxed.is_empty());
    if is_guessed || !robustness.is_some_and(|(_, found)| found.accounts().iter().any(is_violated)) {
        return Ok(Vec::new());
    }
    // What an `exists` asks for is no violation.
    let shows = |account: &Account<'_>| match &account.answer {
        account::Answer::Violated(_) => true,
        account::Answer::Holds(proof) => proof.example.is_some(),
        account::Answer::Unknown(_) => false,
    };
    let all_shown = |found: &Answered<'q>| found.accounts().iter().map(shows).collect::<Vec<bool>>();
    let mut shown = Vec::new();
    let is_carried = |(_, (ask, _)): &(usize, &(Ask, Answered<'q>))| matches!(ask, Ask::Properties | Ask::Hangs);
    for (position, (ask, found)) in answered.iter().enumerate().filter(is_carried) {
        let before = all_shown(found);
        if before.iter().all(|is_shown| *is_shown) {
            continue;
        }
        let other = answer(arguments, (*ask, By::Model(Model::Tso)), CONFIGURATIONS[0], asking, loaded, observer)?;
        let shows_more = |(_, other): &(Ask, Answered<'q>)| {
            let after = all_shown(other);
            before != after && before.iter().zip(&after).all(|(before, after)| before <= after)
        };
        if let Some(other) = other.filter(shows_more) {
            shown.push((position, other));
        } else if *ask == Ask::Hangs
            && let Some(axioms) = arguments.model.language()
        {
            // What neither shows, an execution of the language may.
            let other = answer(arguments, (*ask, By::Graphs(axioms)), CONFIGURATIONS[0], asking, loaded, observer)?;
            let holds = |found: &Answered<'_>| found.accounts().iter().all(|own| own.standing() == Standing::Holds);
            let says_more = |other: &(Ask, Answered<'q>)| shows_more(other) || holds(&other.1);
            shown.extend(other.filter(says_more).map(|other| (position, other)));
        }
    }
    Ok(shown)
}

/// Whether later answers about properties leave nothing open that earlier ones decide: a limit may
/// have been reached in between.
fn says_no_less(later: &Answered<'_>, earlier: &Answered<'_>) -> bool {
    let is_known = |account: &Account<'_>| account.standing() != Standing::Unknown;
    let (later, earlier) = (later.accounts(), earlier.accounts());
    later.iter().zip(&earlier).all(|(later, earlier)| is_known(later) || !is_known(earlier))
}

/// Refuses a program that does what has no meaning. Where values grow, there is no answer: unknown.
fn refuse_faults(answered: &[(Ask, Answered<'_>)]) -> Result<(), InputError> {
    let is_any_decided = answered.iter().any(|(_, answered)| answered.asked().fault().is_none());
    for (ask, answered) in answered {
        let Some((fault, refusal)) = answered.asked().fault() else { continue };
        let is_open = match ask {
            Ask::Properties => is_any_decided || fault.is_growth(),
            Ask::Concurrency | Ask::Robustness | Ask::Hangs | Ask::Hopeless | Ask::Races => fault.is_growth(),
        };
        if !is_open {
            return Err(refusal);
        }
    }
    Ok(())
}

/// How to check a program for robustness.
pub(super) fn check_options(arguments: &CheckArguments, limits: &Limits) -> CheckOptions {
    CheckOptions {
        all: arguments.all,
        prune: !arguments.methods.no_prune,
        nets: arguments.methods.nets,
        one_query: arguments.methods.one_query,
        values: arguments.values,
        counters: !arguments.methods.no_counters,
        limits: limits.clone(),
        ..CheckOptions::default()
    }
}

/// Says what no interleaving reaches where something holds and no question has said it: the answers
/// are not about it.
fn tell_unreached(
    arguments: &CheckArguments,
    loaded: &Loaded,
    limits: &Limits,
    is_robust: bool,
    accounts: &mut [Account<'_>],
) {
    let program = &loaded.program;
    if program.is_event_driven() || accounts.iter().any(|account| account.unreached.is_some()) {
        return;
    }
    let Some(account) = accounts.iter_mut().find(|account| account.standing() == Standing::Holds) else { return };
    let (language, values) = (arguments.model.language(), loaded.values(arguments.values));
    let stated = language.map(|_| by_language(program));
    // A step without a meaning is told by the question that comes to it.
    let Ok(Some(labels)) = unreached(stated.as_ref().unwrap_or(program), values, limits) else { return };
    let is_of_interleavings = is_robust || language.is_none() && arguments.model.model() == Model::Sc;
    account.tell_unreached(program, labels, if is_of_interleavings { "" } else { " (under SC)" });
}

/// What is doubtful in view of the answers.
fn warnings(loaded: &Loaded, accounts: &[Account<'_>]) -> Vec<crate::syntax::Diagnostic> {
    let mut warnings = Vec::new();
    let property = accounts.iter().find(|account| account.ask == Ask::Properties.name());
    if let Some(model) = property.and_then(|account| account.model?.of_machines()).filter(|model| *model <= Model::Tso)
    {
        warnings.extend(store_fence_without_effect(&loaded.program, model));
    }
    if accounts.iter().any(|account| is_fenceless_for_no_reason(loaded, account)) {
        warnings.push(no_attack_can_start(&loaded.program));
    }
    warnings.extend(roles_that_do_nothing(&loaded.program));
    if accounts.iter().any(|account| account.standing() != Standing::Unknown) {
        let unreached = accounts.iter().find_map(|account| account.unreached.as_deref()).unwrap_or_default();
        warnings.extend(roles_without_end(&loaded.program, |thread, label| !unreached.contains(&(thread, label))));
    }
    warnings
}

/// Whether control flow alone makes a program robust that has nothing to make it so. Fences and
/// locked instructions are there to rule attacks out, and many litmus tests are written to show
/// just that.
fn is_fenceless_for_no_reason(loaded: &Loaded, account: &Account<'_>) -> bool {
    let is_about_attacks = account.ask == Ask::Robustness.name()
        && account.model == Some(Model::Tso.into())
        && !loaded.program.is_event_driven()
        && account.standing() == Standing::Holds;
    let is_pruned = account.attacks.iter().all(|attack| attack.outcome == OutcomeWord::Pruned);
    let is_written = !matches!(loaded.format, Format::Litmus | Format::Machine);
    let drains = |program: &Program| {
        program.threads.iter().flat_map(|thread| &thread.instructions).any(|it| it.action.drains_buffer())
    };
    is_about_attacks && is_pruned && is_written && !drains(&loaded.program)
}

/// What is said about a file.
fn spoken(arguments: &CheckArguments, told: &Told<'_>, shared: &SharedOptions, extent: Extent) -> Spoken {
    let exit = match told.standing() {
        Standing::Holds => Exit::Holds,
        Standing::Unknown => Exit::Unknown,
        Standing::Violated => Exit::Fails,
    };
    if shared.json {
        let document = documents::text(&CheckDocument::new(told));
        return Spoken::new(exit, String::new(), String::new()).with_document(document);
    }
    let report = if extent.brief {
        account::line(told)
    } else {
        account::report(told, account::Extent { verbosity: shared.verbose, all: arguments.all })
    };
    Spoken {
        often: told.often(),
        leaves_hangs: account::open_hangs(told).is_some(),
        ..Spoken::new(exit, report, String::new())
    }
}
