//! Why a question about fences for properties stays open, in words.

use super::counted;
use super::wording::more_than;
use palisade_engine::properties::Why;
use palisade_engine::properties::placement::OpenReason;
use palisade_model::limits::StopReason;

/// What is left open about a set, as the end of a sentence.
pub(super) fn open_words(open: &OpenReason) -> String {
    match open {
        OpenReason::Unproved(Why::BuffersLonger(stores)) => {
            format!("valid up to buffers of {}", counted(*stores, "store"))
        }
        OpenReason::Unproved(why) => format!("not proved: {}", why_words(*why)),
        OpenReason::Covering(reason) => format!("not known to be the cheapest: {reason}"),
    }
}

/// Why a rung has no answer.
fn why_words(why: Why) -> String {
    match why {
        Why::Stopped(StopReason::Inconclusive) => "no rung has an answer".to_owned(),
        Why::Stopped(reason) => reason.to_string(),
        Why::BuffersLonger(stores) => format!("buffers hold more than {}", counted(stores, "store")),
        Why::SnapshotsMore(most) => format!("queues have more than {}", counted(most, "snapshot")),
        Why::ReachedOnly => "a target is reached, and no computation was found".to_owned(),
        Why::NotRobust => "the program is not robust".to_owned(),
        Why::TooManyBeginnings => "copies of threads can begin in too many ways".to_owned(),
        Why::AnyNumber => "final states need fixed numbers of copies".to_owned(),
        Why::NotForThis => "no rung knows such a question".to_owned(),
        Why::Larger(most) => more_than(most),
        Why::PlainPosts => "the program is not robust with its plain posts".to_owned(),
        Why::NotReplayed => "a run of the slice could not be followed in the program".to_owned(),
    }
}
