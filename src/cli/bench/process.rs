//! A process under watch: its time, its memory and that of the processes it starts, and what it
//! prints.

use crate::limits::Limits;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// Why a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It was stopped after the time limit.
    Timeout,
    /// It was stopped above the memory limit.
    Memory,
    /// The user broke the benchmark off.
    Interrupted,
}

/// A process that has ended.
pub(in crate::cli) struct Watched {
    /// Why.
    pub(in crate::cli) end: End,
    /// Wall time from start to end.
    pub(in crate::cli) elapsed: Duration,
    /// Processor time of the process and of those it started and waited for; not known when it was
    /// stopped.
    pub(in crate::cli) processor: Option<Duration>,
    /// The largest resident memory seen.
    pub(in crate::cli) peak_bytes: Option<u64>,
    /// What it printed, as far as it was short.
    pub(in crate::cli) output: String,
    /// What it complained, as far as it was short.
    pub(in crate::cli) complaint: String,
}

/// More output than this is not looked at.
const MOST_OUTPUT: u64 = 64 << 20;

/// How long to wait before looking at a process again: not at all when it is short, and the less
/// often the longer it runs, as looking takes some of its time on a machine with few processors.
fn pause(elapsed: Duration) -> Duration {
    (elapsed / 20).clamp(Duration::from_millis(10), Duration::from_millis(50))
}

/// Runs a command in a process group of its own until it ends or a limit is reached.
///
/// A thread of its own waits for the end, so that the time is exact however seldom others look at
/// the process.
pub(in crate::cli) fn watch(
    mut command: Command,
    timeout: Option<Duration>,
    memory: Option<u64>,
    interruption: &Limits,
) -> std::io::Result<Watched> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    // What the system reports of a process begins with the memory of the one that started it.
    let inherited = high_water("self").unwrap_or(0);
    let start = Instant::now();
    let mut child = command.spawn()?;
    let group = child.id();
    let output = drain(child.stdout.take());
    let complaint = drain(child.stderr.take());
    let (sender, ended) = channel();
    std::thread::spawn(move || {
        let used = child.wait4();
        // Nobody listens when the benchmark itself has ended.
        let _ = sender.send((used, start.elapsed()));
    });
    let mut peak: Option<u64> = None;
    let mut stopped = None;
    let (used, elapsed) = loop {
        let left = timeout.filter(|_| stopped.is_none()).map(|timeout| timeout.saturating_sub(start.elapsed()));
        let pause = pause(start.elapsed());
        match ended.recv_timeout(left.map_or(pause, |left| left.min(pause))) {
            Ok(end) => break end,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(std::io::Error::other("the thread that waits for it has ended"));
            }
        }
        if stopped.is_some() {
            continue;
        }
        let held = resident_bytes_of_group(group);
        peak = peak.max(held).max(high_water(&group.to_string()));
        stopped = if interruption.check().is_err() {
            Some(End::Interrupted)
        } else if timeout.is_some_and(|timeout| start.elapsed() >= timeout) {
            Some(End::Timeout)
        } else if memory.is_some_and(|memory| held.is_some_and(|held| held > memory)) {
            Some(End::Memory)
        } else {
            None
        };
        if stopped.is_some() {
            stop(group);
        }
    };
    let used = used?;
    let largest = Some(used.rusage.maxrss).filter(|largest| *largest > inherited || peak.is_none());
    // Of processes that are stopped together, the first one has not waited for the others.
    let processor = stopped.is_none().then_some(used.rusage.utime + used.rusage.stime);
    Ok(Watched {
        end: stopped.unwrap_or(End::Exited(used.status)),
        elapsed,
        processor,
        peak_bytes: peak.max(largest),
        output: collect(&output),
        complaint: collect(&complaint),
    })
}

/// Stops the processes of the group that a process leads.
fn stop(leader: u32) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // They may just have ended by themselves.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Reads a pipe to its end on a thread of its own, so that the process never waits for a reader.
fn drain(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let read = pipe.by_ref().take(MOST_OUTPUT).read_to_end(&mut bytes);
            // What is too much, or not readable, is thrown away.
            let _ = read.and_then(|_| std::io::copy(&mut pipe, &mut std::io::sink()));
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// What was read; nothing when a process that was left behind still holds the pipe.
fn collect(receiver: &Receiver<String>) -> String {
    receiver.recv_timeout(Duration::from_secs(2)).unwrap_or_default()
}

/// The resident memory of all processes of a group, where the system tells (Linux).
fn resident_bytes_of_group(group: u32) -> Option<u64> {
    let group = group.to_string();
    let mut sum = None;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let name = entry.file_name();
        if !name.to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit())) {
            continue;
        }
        // A process may end while we look at it.
        let Ok(text) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The command's name, in parentheses, may hold blanks: state, parent and group follow it.
        let Some((_, rest)) = text.rsplit_once(')') else { continue };
        let mut fields = rest.split_ascii_whitespace();
        if fields.nth(2) == Some(&group)
            && let Some(pages) = fields.nth(18).and_then(|pages| pages.parse::<u64>().ok())
        {
            sum = Some(sum.unwrap_or(0) + pages * crate::limits::page_size());
        }
    }
    sum
}

/// The most memory the process itself has held so far.
fn high_water(process: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
