//! Names of streams, which are restricted so that they are safe in paths, labels and file names.

use super::problem::Problem;

const LONGEST: usize = 64;

pub fn check_name(name: &str) -> Result<(), Problem> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let begins_well = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if begins_well && name.len() <= LONGEST && name.bytes().all(is_allowed) {
        return Ok(());
    }
    Err(Problem::malformed(format!(
        "the name of a stream must be at most {LONGEST} letters, digits, '-', '_' and '.', and begin with a letter or a digit"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_be_paths_markup_or_endless() {
        let good = ["a", "press-7", "A.b_c", "0", &"x".repeat(LONGEST)];
        good.into_iter().for_each(|name| check_name(name).unwrap());
        let long = "x".repeat(LONGEST + 1);
        let bad = ["", ".", "..", "../a", "a/b", "a\\b", "-a", "a b", "<script>", "a\0", "ä", "a%2f", "a\n", &long];
        bad.into_iter().for_each(|name| assert!(check_name(name).is_err(), "{name:?}"));
    }
}
