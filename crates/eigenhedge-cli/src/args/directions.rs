//! Number of directions, as typed.

/// Number of directions as typed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Directions {
    Number(usize),
    /// Share of the energy that the directions explain.
    Share(f64),
}

impl Directions {
    /// Parses a number, or a share between 0 and 1.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let share = text.parse().ok().filter(|share: &f64| *share > 0.0 && *share < 1.0).map(Self::Share);
        let number = text.parse().ok().map(Self::Number);
        number.or(share).ok_or_else(|| "must be a whole number, or a share between 0 and 1".to_owned())
    }
}
