//! A role: a closure, and the function by which machine code calls it.

use super::Copies;
use super::apart::keep_apart;
use std::sync::Arc;

/// What `cargo palisade` is told of a role.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    /// Its name.
    pub(crate) name: String,
    /// The address of its function.
    pub(crate) function: usize,
    /// The copies.
    pub(crate) copies: Copies,
    /// Whether they begin again.
    pub(crate) repeats: bool,
    /// The words that the function is called with.
    pub(crate) arguments: Vec<usize>,
}

/// How a role is run on a thread.
pub(crate) enum Body {
    /// As often as one likes.
    Shared(Arc<dyn Fn() + Send + Sync>),
    /// By one thread.
    Owned(Box<dyn FnMut() + Send>),
}

/// A role.
pub(crate) struct Role {
    /// Its name.
    pub(crate) name: String,
    /// The copies.
    pub(crate) copies: Copies,
    /// How it is run.
    pub(crate) body: Body,
    /// Its function and arguments, which are made when they are asked for.
    code: Box<dyn FnOnce(Body) -> (usize, Vec<usize>)>,
}

/// Calls a closure that is shared.
#[inline(never)]
extern "C" fn call_shared<F: Fn()>(role: &F) {
    keep_apart::<F>();
    role();
}

/// Calls a closure that is told its number.
#[inline(never)]
extern "C" fn call_numbered<F: Fn(usize)>(role: &F, number: usize) {
    keep_apart::<F>();
    role(number);
}

/// Calls a closure that only this role has.
#[inline(never)]
extern "C" fn call_owned<F: FnMut()>(role: &mut F) {
    keep_apart::<F>();
    role();
}

impl Role {
    /// A role whose copies share what the closure has captured.
    #[track_caller]
    pub(crate) fn shared<F: Fn() + Send + Sync + 'static>(name: &str, copies: Copies, role: F) -> Self {
        let role: &'static F = Box::leak(Box::new(role));
        let function = (call_shared::<F> as extern "C" fn(&F)) as *const ();
        let code = move |_| (function.addr(), vec![std::ptr::from_ref(role).addr()]);
        Self { name: checked(name), copies, body: Body::Shared(Arc::new(role)), code: Box::new(code) }
    }

    /// Roles of one copy each that are told their numbers.
    pub(crate) fn numbered<F: Fn(usize) + Send + Sync + 'static>(name: &str, count: usize, role: F) -> Vec<Self> {
        let role: &'static F = Box::leak(Box::new(role));
        let function = (call_numbered::<F> as extern "C" fn(&F, usize)) as *const ();
        let numbered = |number: usize| {
            let code = move |_| (function.addr(), vec![std::ptr::from_ref(role).addr(), number]);
            Self {
                name: checked(&format!("{name}{number}")),
                copies: Copies::Exactly(1),
                body: Body::Shared(Arc::new(move || role(number))),
                code: Box::new(code),
            }
        };
        (0..count).map(numbered).collect()
    }

    /// A role of one copy that owns what the closure has captured.
    #[track_caller]
    pub(crate) fn owned<F: FnMut() + Send + 'static>(name: &str, role: F) -> Self {
        let role: &'static mut F = Box::leak(Box::new(role));
        let address = std::ptr::from_mut(role).addr();
        let body = Body::Owned(Box::new(role));
        let function = (call_owned::<F> as extern "C" fn(&mut F)) as *const ();
        let code = move |_| (function.addr(), vec![address]);
        Self { name: checked(name), copies: Copies::Exactly(1), body, code: Box::new(code) }
    }

    /// Runs it once.
    pub(crate) fn warm_up(&mut self) {
        match &mut self.body {
            Body::Shared(role) => role(),
            Body::Owned(role) => role(),
        }
    }

    /// What `cargo palisade` is told of it.
    pub(crate) fn described(self, repeats: bool) -> Described {
        let (function, arguments) = (self.code)(self.body);
        Described { name: self.name, function, copies: self.copies, repeats, arguments }
    }
}

/// A name that a line of a snapshot can hold.
#[track_caller]
fn checked(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    assert!(is_plain, "the role's name `{name}` is not made of letters, digits, `_` and `-`");
    name.to_owned()
}
