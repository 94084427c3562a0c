//! Files that commands write: whole, or not at all.
//!
//! A new text is written beside the file, under a name of its own, and takes the file's name when
//! it is complete. On a full disk, or where a text turns out to be impossible half-way, nothing of
//! it stays, and what stood there before is as it was. A link stays a link; the file that it leads
//! to is replaced. The new file has the old one's permissions, and its owner where the system
//! allows that; further names of the old file (hard links) keep the old content.
//!
//! Devices and pipes have no content to keep: they are written to in place, and so is what is named
//! through `/dev` and `/proc`, as `/dev/stdout` is.

use crate::syntax::InputError;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use signal_hook::consts::SIGXFSZ;
use std::collections::BTreeSet;
use std::fs::{DirEntry, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

/// A file while it is written. Dropped before [`finish`](Self::finish), it leaves nothing.
pub(super) struct NewFile {
    /// What is written to.
    file: File,
    /// The name that the file will have.
    target: PathBuf,
    /// Its name so far; none when it is written in place.
    beside: Option<PathBuf>,
    /// Whether it takes an old file's place.
    replaces: bool,
}

impl NewFile {
    /// Begins a file that will be at `path`.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        report_size_limit();
        let Some(target) = followed(path)? else { return Self::in_place(path) };
        let old = match std::fs::metadata(&target) {
            Ok(old) if old.is_file() => Some(old),
            Ok(_) => return Self::in_place(&target),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
        }
        let (file, beside) = open_beside(&target)?;
        let new = Self { file, target, beside: Some(beside), replaces: old.is_some() };
        if let Some(old) = old {
            new.take_after(&old)?;
        }
        Ok(new)
    }

    fn in_place(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).truncate(true).open(path)?;
        Ok(Self { file, target: path.to_owned(), beside: None, replaces: false })
    }

    /// Gives the new file the owner and the permissions of the old one.
    fn take_after(&self, old: &Metadata) -> io::Result<()> {
        let own = self.file.metadata()?;
        if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
            // Not everybody may give files away: otherwise the file belongs to the user who runs
            // the command, as a new file does.
            let _ = fchown(&self.file, Some(old.uid()), Some(old.gid()));
        }
        self.file.set_permissions(old.permissions())
    }

    /// Puts the file in its place.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some(beside) = &self.beside else { return Ok(()) };
        if self.replaces {
            // The old text is given up only when the new one is safe.
            self.file.sync_all()?;
        }
        std::fs::rename(beside, &self.target)?;
        forget_begun(beside);
        self.beside = None;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            // What is left of the attempt is of no use.
            let _ = std::fs::remove_file(beside);
            forget_begun(beside);
        }
    }
}

/// Writes a file.
pub(super) fn write_file(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> io::Result<()> {
    write_together(&[(path, content)])
}

/// Writes what a command has to say to a file that the user names.
pub(super) fn write_text(path: &Path, text: String) -> Result<(), InputError> {
    write_file(path, text)
        .map_err(|error| InputError::file(path.display().to_string(), format!("cannot be written: {error}")))
}

/// Writes files that belong together: none takes its place before all are complete.
pub(super) fn write_together<P: AsRef<Path>, C: AsRef<[u8]>>(files: &[(P, C)]) -> io::Result<()> {
    let write = |(path, content): &(P, C)| {
        let mut file = NewFile::create(path.as_ref())?;
        file.write_all(content.as_ref())?;
        Ok(file)
    };
    let complete: Vec<NewFile> = files.iter().map(write).collect::<io::Result<_>>()?;
    complete.into_iter().try_for_each(NewFile::finish)
}

/// A folder of its own for files that nobody needs afterwards.
pub(super) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes a folder, where the system has those that do not last.
    pub(super) fn new() -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("palisade-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                // A process that was killed has left it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Its path.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What is left is the system's to clear away.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The place that links lead to from a path, whether or not there is a file; nothing for what is
/// written in place.
fn followed(path: &Path) -> io::Result<Option<PathBuf>> {
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if path.starts_with("/dev") || path.starts_with("/proc") {
            return Ok(None);
        }
        match std::fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            // It is no link, or it is not there.
            Err(_) => return Ok(Some(path)),
        }
    }
    Err(io::Error::other("too many links lead from one to the next"))
}

/// What names of files that are being written begin and end with; between them are the number of
/// the process and one of the file.
const BESIDE: (&str, &str) = (".palisade-", ".new");

/// The files that this process has begun.
static BEGUN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Says that a file is finished, or removed.
fn forget_begun(path: &Path) {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
}

/// Removes what this process has begun and will not finish.
pub(super) fn remove_unfinished() {
    for path in BEGUN.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        // What is left of the attempt is of no use.
        let _ = std::fs::remove_file(path);
    }
}

/// Removes what processes that were killed have begun in a folder, once for each folder: files of
/// processes that are no more, to which nobody has written for an hour. (A process of that number
/// may be alive on another machine, which shares the folder.)
fn remove_left_behind(folder: &Path) {
    const AGE: Duration = Duration::from_hours(1);
    static LOOKED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if !LOOKED.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
        return;
    }
    let is_left = |entry: &DirEntry| {
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.strip_prefix(BESIDE.0)?.strip_suffix(BESIDE.1));
        let process = name.and_then(|name| Pid::from_raw(name.split_once('-')?.0.parse().ok()?));
        let is_gone = process.is_some_and(|process| test_kill_process(process) == Err(Errno::SRCH));
        let age = || entry.metadata().and_then(|it| it.modified()).ok().and_then(|it| it.elapsed().ok());
        is_gone && age().is_some_and(|age| age >= AGE)
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(is_left) {
        let _ = std::fs::remove_file(entry.path());
    }
}

/// Opens a file of a name that nobody has, in the folder of `target`.
fn open_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    remove_left_behind(folder);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (first, last) = BESIDE;
        let beside = target.with_file_name(format!("{first}{}-{number}{last}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => {
                BEGUN.lock().unwrap_or_else(PoisonError::into_inner).insert(beside.clone());
                return Ok((file, beside));
            }
            // A process that was killed has left it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let message = format!("no file can be made in its folder: {error}");
                return Err(io::Error::new(error.kind(), message));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Makes a file that grows beyond the limit of the process (`ulimit -f`) an error like that of a
/// full disk. Without a handler the system ends the process in the midst of the file.
pub(super) fn report_size_limit() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let _ = signal_hook::flag::register(SIGXFSZ, flag);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn entries(folder: &Path) -> usize {
        std::fs::read_dir(folder).expect("a folder").count()
    }

    #[test]
    fn what_is_not_finished_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let mut file = NewFile::create(&path).expect("it can be made");
        file.write_all(b"half").expect("it can be written");
        drop(file);
        assert_eq!(entries(folder.path()), 0);
        write_file(&path, "old").expect("it can be written");
        let mut file = NewFile::create(&path).expect("it can be made");
        file.write_all(b"half").expect("it can be written");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "old");
        drop(file);
        assert_eq!((entries(folder.path()), std::fs::read_to_string(&path).expect("a file")), (1, "old".to_owned()));
        // Two that belong together, the second of which cannot be.
        let impossible = folder.path().join("none/file");
        assert!(write_together(&[(&path, "new"), (&impossible, "new")]).is_err());
        assert_eq!((entries(folder.path()), std::fs::read_to_string(&path).expect("a file")), (1, "old".to_owned()));
    }

    #[test]
    fn links_and_permissions_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        symlink("file", &link).expect("a link");
        write_file(&link, "first").expect("through a link to nothing yet");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("it can be changed");
        write_file(&link, "second").expect("through a link");
        assert!(std::fs::symlink_metadata(&link).expect("a link").is_symlink());
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "second");
        assert_eq!(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o640);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o440)).expect("it can be changed");
        assert!(write_file(&path, "third").is_err(), "it is read-only");
        let circle = folder.path().join("circle");
        symlink("circle", &circle).expect("a link");
        assert!(write_file(&circle, "nowhere").is_err());
        assert!(write_file(folder.path(), "a folder").is_err());
        assert_eq!(entries(folder.path()), 3);
    }

    #[test]
    fn what_killed_processes_have_begun_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        // No process has the last number that there is, and this one is alive.
        let named = |process: u32| folder.path().join(format!(".palisade-{process}-0.new"));
        let (left, own, fresh) = (named(0x7fff_ffff), named(std::process::id()), named(0x7fff_fffe));
        for path in [&left, &own, &fresh] {
            std::fs::write(path, "half").expect("it can be written");
        }
        let long_ago = std::time::SystemTime::now() - Duration::from_hours(2);
        for path in [&left, &own] {
            let file = OpenOptions::new().write(true).open(path).expect("it is there");
            file.set_modified(long_ago).expect("it can be set back");
        }
        write_file(folder.path().join("file"), "whole").expect("it can be written");
        assert_eq!((left.exists(), own.exists(), fresh.exists()), (false, true, true));
    }

    #[test]
    fn devices_are_written_in_place() {
        write_file(Path::new("/dev/null"), "nobody reads it").expect("it takes everything");
    }
}
