//! Columns of a table: their names, and their selection by position, name or pattern.

use crate::error::{Error, Fault, hint, quoted};
use crate::input_source::InputSource;
use crate::layout::{Layout, Selector};
use crate::reading::TwoStates;
use std::collections::HashMap;
use std::fmt;
use std::str::Chars;

#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    pub names: Option<Vec<String>>,
    pub count: usize,
    pub selected: Vec<usize>,
    /// Positions of the columns that are returned as text. The time column comes first, if any.
    pub kept: Vec<usize>,
    /// Index in `kept` of the first column named by [`Layout::keep`], which may be the time column.
    pub first_kept: Option<usize>,
    pub has_time: bool,
    pub left_out: Vec<usize>,
    pub text: Option<TextColumn>,
    /// Position of the column with the time of day. The column is the last of `kept`; its cell is joined to the time.
    pub clock: Option<usize>,
    pub states: Vec<TwoStates>,
    pub units: Option<Vec<String>>,
}

/// Column in which each cell is a row. It is also in `kept`, as its cells are returned as text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextColumn {
    pub position: usize,
    pub place: usize,
    /// Number of leading columns in `kept` that are copied to the output.
    pub kept: usize,
}

/// Upper estimate of the memory per column in bytes: its name, position, cell, and copies of these.
const COLUMN: u128 = 256;

pub(crate) fn allow_columns(input: &InputSource, count: u128) -> Result<(), Error> {
    input.allow(format_args!("{count} columns"), COLUMN.saturating_mul(count))
}

impl Columns {
    pub fn choose(
        input: &InputSource,
        layout: &Layout,
        names: Option<Vec<String>>,
        count: usize,
        holds_text: impl Fn(usize) -> bool,
    ) -> Result<Self, Error> {
        if count == 0 {
            return Err(input.fault(Fault::ZeroColumns));
        }
        allow_columns(input, count as u128)?;
        select(names, count, layout, "", holds_text).map_err(|fault| input.fault(fault))
    }

    /// Selects like [`Self::choose`], with the first free column for which `is_time` is true as the time column.
    pub fn choose_with_time(
        input: &InputSource,
        layout: &Layout,
        names: Option<Vec<String>>,
        count: usize,
        holds_text: impl Fn(usize) -> bool,
        is_time: impl Fn(usize) -> bool,
    ) -> Result<Self, Error> {
        let free = free_columns(names.as_deref(), count, layout, "").map_err(|fault| input.fault(fault))?;
        let before = layout.found.as_ref().and_then(|found| found.time);
        let free = free.into_iter().find(|position| layout.find_time && is_time(*position));
        let time = free.or(before).map(Selector::Position);
        let layout = Layout { time: layout.time.clone().or(time), ..layout.clone() };
        Self::choose(input, &layout, names, count, holds_text)
    }

    /// Restricts the selection to the columns of a model, in its order, if the table has names.
    fn like_model(self, layout: &Layout) -> Result<Self, Fault> {
        let (Some(names), Some(wanted)) = (&self.names, &layout.model_columns) else { return Ok(self) };
        let mut places: HashMap<&str, (usize, bool)> = HashMap::new();
        for position in &self.selected {
            places.entry(&names[*position]).and_modify(|place| place.1 = true).or_insert((*position, false));
        }
        let missing: Vec<&String> = wanted.iter().filter(|name| !places.contains_key(name.as_str())).collect();
        if let Some(first) = missing.first() {
            let others: Vec<String> =
                self.selected.iter().map(|i| names[*i].clone()).filter(|name| !wanted.contains(name)).collect();
            let more = if missing.len() == 1 { String::new() } else { format!(" and {} more", missing.len() - 1) };
            let (name, hint) = (quoted(first) + &more, hint(first, &others));
            return Err(Fault::Table(format!("must have the same columns, but {name} is missing{hint}")));
        }
        let find = |name: &String| match places[name.as_str()] {
            (_, true) => Err(Fault::ambiguous_name(name, "the table")),
            (position, false) => Ok(position),
        };
        let selected = wanted.iter().map(find).collect::<Result<_, _>>()?;
        Ok(Self { selected, ..self })
    }

    fn of_texts(mut self, layout: &Layout) -> Result<Self, Fault> {
        if layout.items.is_none() {
            return Ok(self);
        }
        let [position] = self.selected[..] else {
            let rule = "rows that are texts must have one column: name it with --columns;";
            return Err(Fault::Table(format!("{rule} {} are selected", self.selected.len())));
        };
        let kept = self.kept.len();
        let place = self.kept.iter().position(|kept| *kept == position).unwrap_or(kept);
        if place == kept {
            self.kept.push(position);
        }
        self.selected.clear();
        Ok(Self { text: Some(TextColumn { position, place, kept }), ..self })
    }

    pub fn features(&self) -> Vec<usize> {
        self.text.map_or_else(|| self.selected.clone(), |text| vec![text.position])
    }

    fn beside(&self) -> &[usize] {
        let kept = self.kept.len() - usize::from(self.clock.is_some());
        &self.kept[..self.text.map_or(kept, |text| text.kept)]
    }

    pub fn layout_of_later(&self, layout: &Layout) -> Layout {
        let named = |positions: &[usize]| positions.iter().map(|i| Selector::Name(self.typed(*i))).collect();
        Layout {
            columns: named(&self.features()),
            keep: named(self.beside()),
            time: None,
            clock: self.clock.map(|at| Selector::Name(self.typed(at))),
            find_time: false,
            found: None,
            exclude: Vec::new(),
            only_numeric: false,
            keeps_text: true,
            model_columns: None,
            ..layout.clone()
        }
    }

    pub fn of_later(&self, names: Vec<String>, layout: &Layout, list: &'static str) -> Result<Self, Fault> {
        if self.names.as_ref() == Some(&names) {
            return Ok(self.clone());
        }
        let count = names.len();
        let later = select(Some(names), count, &self.layout_of_later(layout), list, |_| false)?;
        self.judge_later(&later, layout)?;
        let place = |name: String| later.selected.iter().copied().find(|at| later.typed(*at) == name);
        let moved =
            |state: &TwoStates| Some(TwoStates { position: place(self.typed(state.position))?, ..state.clone() });
        Ok(Self { states: self.states.iter().filter_map(moved).collect(), has_time: self.has_time, ..later })
    }

    /// Returns an error if a later table has a column that the first one lacks, unless columns were selected.
    pub fn judge_later(&self, later: &Self, layout: &Layout) -> Result<(), Fault> {
        let (Some(names), Some(found)) = (&self.names, &later.names) else {
            let same = self.count == later.count;
            return if same { Ok(()) } else { Err(Fault::OtherWidth { expected: self.count, found: later.count }) };
        };
        let chosen = !layout.columns.is_empty() || layout.only_numeric;
        let extra = found.iter().find(|name| !chosen && !names.contains(name));
        let rule = "must be in the first file too; --columns would leave it out";
        extra.map_or(Ok(()), |name| Err(Fault::Table(format!("the column {} {rule}", quoted(name)))))
    }

    /// Returns the names of the copied columns. A column with the time of day is joined to the time column.
    pub fn kept_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.beside().iter().map(|position| self.typed(*position)).collect();
        if let (Some(clock), Some(name)) = (self.clock, names.first_mut()) {
            name.push(' ');
            name.push_str(&self.typed(clock));
        }
        names
    }

    /// Returns the names of the selected columns, with units of up to 12 characters: `TI502 [°C]`.
    pub fn shown_names(&self) -> Vec<String> {
        const LONGEST: usize = 12;
        let unit =
            |position: usize| self.units.as_ref().and_then(|units| units.get(position)).map_or("", String::as_str);
        let shown = |position: &usize| match unit(*position).trim_matches(['[', ']', '(', ')', ' ']) {
            "" | "-" => self.typed(*position),
            long if long.chars().count() > LONGEST => self.typed(*position),
            unit => format!("{} [{unit}]", self.typed(*position)),
        };
        self.features().iter().map(shown).collect()
    }

    pub fn label(&self, position: usize) -> String {
        match &self.names {
            Some(names) => format!("column {position} ({})", quoted(&names[position])),
            None => format!("column {position}"),
        }
    }

    pub fn at(&self, row: impl fmt::Display, position: usize, fault: Fault) -> Error {
        Error::at(format!("{row}, {}", self.label(position)), fault)
    }

    pub fn typed(&self, position: usize) -> String {
        let name = self.names.as_ref().and_then(|names| names.get(position));
        name.cloned().unwrap_or_else(|| position.to_string())
    }

    pub fn selected_names(&self) -> Vec<String> {
        self.features().iter().map(|position| self.typed(*position)).collect()
    }

    /// Creates the error for the columns `bad`, each with an example. `is_line`: other lines may hold numbers there.
    pub fn not_numeric(
        &self,
        place: &str,
        bad: &[(usize, String)],
        (by_position, is_line): (bool, bool),
        time: Option<usize>,
        further: &str,
    ) -> Error {
        const LONGEST_LIST: usize = 8;
        let more = bad.len().saturating_sub(LONGEST_LIST);
        let list = |each: &dyn Fn(&(usize, String)) -> String, last: String| -> Vec<String> {
            bad.iter().take(LONGEST_LIST).map(each).chain((more > 0).then_some(last)).collect()
        };
        let typed = |position: usize| if by_position { position.to_string() } else { self.typed(position) };
        let labels = list(&|(position, _)| self.label(*position), format!("{more} more")).join(", ");
        let found = list(&|(_, what)| what.clone(), "the like".to_owned()).join(", ");
        let list = list(&|(position, _)| typed(*position), "…".to_owned()).join(",");
        let them = if bad.len() == 1 { "it" } else { "they" };
        // Advice to leave out every column would not help.
        let advice = match (time, bad.len() == self.selected.len()) {
            (Some(position), _) if bad.len() == 1 => format!("; --time {} takes it as the time", typed(position)),
            (_, true) if is_line => "; --on-bad-row skip passes over the line".to_owned(),
            (_, true) => String::new(),
            (Some(position), false) => {
                format!("; --time {} takes one as the time, --exclude {list} leaves them out", typed(position))
            }
            (None, false) => {
                let line = if is_line { "; --on-bad-row skip passes over the line" } else { "" };
                format!("; {them} can be left out with --exclude {list}{line}")
            }
        };
        Error::at(
            format!("{place}, {labels}"),
            Fault::Table(format!("must hold numbers, got {found}{advice}{further}")),
        )
    }
}

/// Selects columns. `list` is the source of the names in messages. `holds_text`: columns left out if text is.
pub(crate) fn select(
    names: Option<Vec<String>>,
    count: usize,
    layout: &Layout,
    list: &'static str,
    holds_text: impl Fn(usize) -> bool,
) -> Result<Columns, Fault> {
    let known = names.as_deref().unwrap_or_default();
    let (mut kept, mut first_kept) = (Vec::new(), None);
    for (i, selector) in layout.time.iter().chain(&layout.keep).enumerate() {
        for position in find(selector, known, count, list)? {
            let place = kept.iter().position(|kept| *kept == position).unwrap_or(kept.len());
            if place == kept.len() {
                kept.push(position);
            }
            if i == usize::from(layout.time.is_some()) {
                first_kept.get_or_insert(place);
            }
        }
    }
    let clock = layout.clock.as_ref().map(|selector| find(selector, known, count, list)).transpose()?;
    let clock = clock.and_then(|found| found.first().copied());
    // A copied column is a feature only if `columns` names it. A pattern that matches it is not enough.
    let mut unwanted = vec![false; count];
    kept.iter().chain(&clock).for_each(|position| unwanted[*position] = true);
    let mut taken = vec![false; count];
    let mut selected = Vec::new();
    for selector in &layout.columns {
        let is_pattern = matches!(selector, Selector::Pattern(_));
        for position in find(selector, known, count, list)? {
            unwanted[position] &= is_pattern;
            match std::mem::replace(&mut taken[position], true) {
                false => selected.push(position),
                // A pattern may match a column that is already selected.
                true if is_pattern => {}
                true => return Err(Fault::Table(format!("column {position} must be selected once, not twice"))),
            }
        }
    }
    if layout.columns.is_empty() {
        selected = (0..count).collect();
    }
    for selector in &layout.exclude {
        find(selector, known, count, list)?.into_iter().for_each(|position| unwanted[position] = true);
    }
    selected.retain(|position| !unwanted[*position]);
    if selected.is_empty() {
        return Err(Fault::Table("at least one column must be left, but all are excluded".to_owned()));
    }
    let mut left_out = Vec::new();
    if layout.leaves_out() {
        let is_wanted = |i: &usize| names.as_ref().is_some_and(|names| layout.is_of_model(&names[*i]));
        (left_out, selected) = selected.into_iter().partition(|i| holds_text(*i) && !is_wanted(i));
        // If no column is numeric, all stay selected, and the first bad cell is reported.
        if selected.is_empty() {
            std::mem::swap(&mut left_out, &mut selected);
        }
    }
    let has_time = layout.time.is_some();
    let columns = Columns { names, count, selected, kept, first_kept, has_time, left_out, ..Columns::default() };
    let mut columns = columns.like_model(layout)?.of_texts(layout)?;
    columns.kept.extend(clock);
    Ok(Columns { clock, ..columns })
}

/// Returns the columns that no option names, among which the time column is detected, or none if it is known.
pub(crate) fn free_columns(
    names: Option<&[String]>,
    count: usize,
    layout: &Layout,
    list: &'static str,
) -> Result<Vec<usize>, Fault> {
    if layout.time.is_some() || layout.found.is_some() {
        return Ok(Vec::new());
    }
    let mut is_free = vec![true; count];
    for selector in layout.keep.iter().chain(&layout.exclude).chain(&layout.columns) {
        let is_pattern = layout.columns.contains(selector) && matches!(selector, Selector::Pattern(_));
        for position in find(selector, names.unwrap_or_default(), count, list)? {
            is_free[position] &= is_pattern;
        }
    }
    Ok((0..count).filter(|position| is_free[*position]).collect())
}

pub(crate) fn find(
    selector: &Selector,
    names: &[String],
    count: usize,
    list: &'static str,
) -> Result<Vec<usize>, Fault> {
    let all =
        |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> { (0..names.len()).filter(|i| wanted(&names[*i])).collect() };
    match selector {
        Selector::Position(position) if *position < count => Ok(vec![*position]),
        Selector::Position(position) => {
            Err(Fault::Table(format!("there is no column {position}: positions run from 0 to {}", count - 1)))
        }
        Selector::Name(name) => match all(&|candidate| candidate == name).as_slice() {
            [position] => Ok(vec![*position]),
            [] => Err(Fault::Table(format!("there is no column {name:?}{list}{}", hint_or_list(name, names)))),
            _ => {
                let list = if list.is_empty() { "the table" } else { "the header" };
                Err(Fault::ambiguous_name(name, list))
            }
        },
        // A pattern may be the exact name of a column.
        Selector::Pattern(pattern) => match all(&|candidate| candidate == pattern) {
            literal if literal.len() == 1 => Ok(literal),
            _ => match all(&|candidate| matches_pattern(pattern, candidate)) {
                none if none.is_empty() => Err(Fault::Table(format!("no column matches {pattern:?}"))),
                found => Ok(found),
            },
        },
    }
}

fn hint_or_list(name: &str, names: &[String]) -> String {
    const LISTED: usize = 8;
    let near = hint(name, names);
    if !near.is_empty() || names.is_empty() {
        return near;
    }
    let listed: Vec<String> = names.iter().take(LISTED).map(|name| quoted(name)).collect();
    let more = if names.len() > LISTED { ", …" } else { "" };
    format!("; the columns are {}{more}", listed.join(", "))
}

/// Returns true if a name matches the pattern, in which `*` matches any number of characters and `?` one character.
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut rest) = (pattern.chars(), name.chars());
    let mut retry: Option<(Chars<'_>, Chars<'_>)> = None;
    while let Some(character) = rest.clone().next() {
        let mut after = pattern.clone();
        match after.next() {
            Some('*') => {
                pattern = after.clone();
                retry = Some((after, rest.clone()));
            }
            Some(wanted) if wanted == '?' || wanted == character => {
                pattern = after;
                rest.next();
            }
            _ => {
                let Some((after_star, start)) = &mut retry else { return false };
                start.next();
                (pattern, rest) = (after_star.clone(), start.clone());
            }
        }
    }
    pattern.all(|character| character == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match_as_in_a_shell() {
        let yes = [
            ("sensor_*", "sensor_"),
            ("*", ""),
            ("a*b*c", "aXbYbZc"),
            ("?x", "ax"),
            ("*_1", "a_1_1"),
            ("**", "q"),
            ("T_?", "T_°"),
        ];
        let no = [("sensor_*", "sensor"), ("?", ""), ("a*b*c", "aXbYbZ"), ("?x", "x"), ("*_1", "a_1_2"), ("a", "ab")];
        yes.iter().for_each(|(pattern, text)| assert!(matches_pattern(pattern, text), "{pattern} {text}"));
        no.iter().for_each(|(pattern, text)| assert!(!matches_pattern(pattern, text), "{pattern} {text}"));
    }

    #[test]
    fn a_pattern_that_could_take_forever_does_not() {
        let pattern = "*a".repeat(50) + "b";
        assert!(!matches_pattern(&pattern, &"a".repeat(2000)));
    }
}
