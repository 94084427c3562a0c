//! The labels of a text.

use super::ast::{Labelled, Name, Sequence, Statement};

/// Calls `visit` with every label of a text.
pub(super) fn for_each_label<'s>(sequence: &Sequence<'s>, visit: &mut impl FnMut(Name<'s>)) {
    let mut labels = Vec::new();
    let mut open: Vec<&Labelled<'s>> = sequence.iter().rev().collect();
    while let Some(labelled) = open.pop() {
        labels.extend(labelled.label);
        match &labelled.statement {
            Statement::If { then, otherwise, .. } => {
                open.extend(otherwise.as_deref());
                open.push(then);
            }
            Statement::While { body, .. } => open.push(body),
            Statement::Either(all) | Statement::Locked(all) => open.extend(all.iter().flatten().rev()),
            Statement::Block(sequence) => open.extend(sequence.iter().rev()),
            _ => {}
        }
    }
    labels.into_iter().for_each(visit);
}
