//! Scratch space that is not part of a learner's state.

/// Scratch space that is reused between trials. Any two values compare equal, so that a learner can derive equality of
/// its parameters and state. Fields of this type must be marked `#[serde(skip)]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch<T>(pub T);

/// Scratch space of which a clone starts empty.
#[derive(Default)]
pub(crate) struct Fresh<T>(pub T);

impl<T: Default> Clone for Fresh<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> std::fmt::Debug for Fresh<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Fresh")
    }
}

impl<T> PartialEq for Scratch<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[inline]
pub(crate) fn refill<T, I: IntoIterator>(list: &mut Vec<T>, values: I)
where
    Vec<T>: Extend<I::Item>,
{
    list.clear();
    list.extend(values);
}

#[inline]
pub(crate) fn zero(list: &mut Vec<f64>, length: usize) {
    list.clear();
    list.resize(length, 0.0);
}
