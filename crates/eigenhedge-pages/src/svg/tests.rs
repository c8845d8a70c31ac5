//! Property tests of pictures of random charts.

use super::elements::PlotFrame;
use super::panel::Panel;
use super::*;
use crate::axis::{Axis, Ends};
use crate::chart::{Annotation, Kind, Mark, Point, Series, Tint};
use crate::hostile::HOSTILE;
use crate::page::{Block, Page};
use proptest::prelude::*;
use roxmltree::{Document, Node};

fn name() -> impl Strategy<Value = String> {
    const WORDS: &[&str] =
        &["", "loss", "forgetting leader", "a rather long name that has to be cut somewhere", "漢字", "WWWWWWWW", "x"];
    prop_oneof![4 => prop::sample::select(WORDS), 1 => prop::sample::select(HOSTILE)].prop_map(String::from)
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![8 => -3.0f64..40.0, 2 => -1e7f64..1e9, 1 => prop::num::f64::ANY]
}

fn series() -> impl Strategy<Value = Series> {
    let kind = prop::sample::select(&[Kind::Line, Kind::Dashed, Kind::Points, Kind::Band][..]);
    let tint = prop_oneof![Just(Tint::Position), (0usize..30).prop_map(Tint::Slot), (0usize..9).prop_map(Tint::Time)];
    let point = (value(), value(), value(), value()).prop_map(|(x, y, low, high)| Point { x, y, low, high });
    (name(), prop::collection::vec(point, 0..12), kind, tint).prop_map(|(name, points, kind, tint)| Series {
        name,
        points,
        kind,
        tint,
    })
}

fn chart() -> impl Strategy<Value = Chart> {
    let mark = (value(), name()).prop_map(|(x, label)| Mark { x, label });
    let place = (value(), value(), name()).prop_map(|(x, y, label)| Annotation { x, y, label });
    let texts = (name(), name(), name(), any::<bool>(), any::<bool>());
    let parts =
        (prop::collection::vec(series(), 0..14), prop::collection::vec(mark, 0..9), prop::collection::vec(place, 0..9));
    (texts, parts).prop_map(|((title, x_label, y_label, log_x, log_y), (series, marks, annotations))| Chart {
        title,
        x_label,
        y_label,
        log_x,
        dated_x: log_y && !log_x,
        log_y,
        series,
        marks,
        annotations,
        ..Chart::default()
    })
}

/// Returns the left, top, right and bottom edge of a horizontal text.
fn area(node: &Node) -> [f64; 4] {
    let attribute = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let (x, y, size) = (attribute("x"), attribute("y"), attribute("font-size"));
    let width = text_layout::width(node.text().unwrap_or(""), size);
    let left = match node.attribute("text-anchor") {
        Some("middle") => x - width / 2.0,
        Some("end") => x - width,
        _ => x,
    };
    [left, y - 0.75 * size, left + width, y + 0.2 * size]
}

fn texts<'a>(document: &'a Document) -> Vec<(Node<'a, 'a>, [f64; 4])> {
    let straight = |node: &Node| node.has_tag_name("text") && node.attribute("transform").is_none();
    document.descendants().filter(straight).map(|node| (node, area(&node))).collect()
}

fn check_texts(given: &Chart) {
    let picture = chart_text(given);
    let document = Document::parse(&picture).unwrap();
    let height: f64 = document.root_element().attribute("height").unwrap().parse().unwrap();
    let texts = texts(&document);
    for (i, (node, a)) in texts.iter().enumerate() {
        let inside = a[0] >= -0.5 && a[2] <= WIDTH + 0.5 && a[1] >= 0.0 && a[3] <= height;
        assert!(inside, "{:?} at {a:?} of {WIDTH} by {height}", node.text());
        for (other, b) in &texts[..i] {
            let apart = a[0] >= b[2] - 0.2 || b[0] >= a[2] - 0.2 || a[1] >= b[3] - 0.2 || b[1] >= a[3] - 0.2;
            assert!(apart, "{:?} at {a:?} covers {:?} at {b:?}", node.text(), other.text());
        }
    }
}

#[test]
fn long_labels_of_ticks_stay_apart() {
    for x in [[1e6, 1e6 + 0.0079], [-1e-7, 1e-7 + 1e-15], [123_456_789.0, 123_456_790.0]] {
        let given = Chart::new("", "", "").with(Series::line("", &x, &x));
        check_texts(&given);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn texts_stay_apart_and_inside(given in chart()) {
        check_texts(&given);
    }

    #[test]
    fn the_same_chart_gives_the_same_bytes(given in chart()) {
        prop_assert_eq!(chart_text(&given), chart_text(&given.clone()));
    }

    #[test]
    fn every_point_lies_inside_the_axes(given in chart()) {
        let (horizontal, vertical) = given.extents();
        let (x, y) = (Axis::new(&horizontal, Ends::Data, 6), Axis::new(&vertical, Ends::Ticks, 6));
        let frame = PlotFrame { left: 50.0, top: 20.0, width: 400.0, height: 200.0, x, y };
        for series in given.series.iter().filter(|series| series.kind != Kind::Band) {
            for point in series.points.iter().filter(|point| horizontal.admits(point.x) && vertical.admits(point.y)) {
                let (x, y) = frame.place(point.x, point.y).unwrap();
                prop_assert!((50.0..=450.0).contains(&x) && (20.0..=220.0).contains(&y), "{point:?} lies at {x}, {y}");
            }
        }
    }

    #[test]
    fn a_grid_holds_every_chart_by_name(charts in prop::collection::vec(chart(), 0..4)) {
        let blocks = charts.iter().cloned().map(Block::Chart).collect();
        let picture = Page { title: "All".into(), blocks, ..Page::default() }.svg();
        let document = Document::parse(&picture).unwrap();
        let groups: Vec<_> = document.descendants().filter(|node| node.has_tag_name("g")).collect();
        prop_assert_eq!(groups.len(), charts.len());
        for (group, given) in groups.iter().zip(&charts) {
            let shown = markup(&given.title);
            let read = Document::parse(&format!("<a b=\"{shown}\"/>")).unwrap().root_element().attribute("b").map(String::from);
            prop_assert_eq!(group.attribute("aria-label").map(String::from), read);
        }
    }
}

fn chart_text(given: &Chart) -> String {
    super::chart(given)
}

#[test]
fn each_series_has_a_drawing_and_a_name_in_the_legend() {
    let (x, y) = ([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]);
    let mut given = Chart::new("Four kinds", "x", "y");
    given.series = vec![
        Series::line("a line", &x, &y),
        Series::dashed("a dashed line", &x, &y),
        Series::points("points", &x, &y),
        Series::band("a band", &x, &y, &[2.0, 4.0, 3.0]),
    ];
    let picture = chart_text(&given);
    let document = Document::parse(&picture).unwrap();
    let written: Vec<&str> = texts(&document).iter().filter_map(|(node, _)| node.text()).collect();
    for (i, series) in given.series.iter().enumerate() {
        assert!(written.contains(&series.name.as_str()), "{written:?}");
        let of_colour = |node: &Node| node.attribute("class").is_some_and(|class| class.starts_with(&format!("s{i}-")));
        assert_eq!(document.descendants().filter(of_colour).count(), 2, "{}: drawing and legend", series.name);
    }
    let root = document.root_element();
    assert_eq!((root.attribute("role"), root.attribute("aria-label")), (Some("img"), Some("Four kinds")));
    let described = root.children().find(|node| node.has_tag_name("desc")).and_then(|node| node.text());
    assert_eq!(described, Some("x from 1 to 3; y from 1 to 4. Series: a line, a dashed line, points, a band."));
}

#[test]
fn a_gap_breaks_the_line() {
    let with = |middle: f64| {
        let given =
            Chart::new("", "", "").with(Series::line("", &[0.0, 1.0, 2.0, 3.0, 4.0], &[0.0, 1.0, middle, 1.0, 0.0]));
        let picture = chart_text(&given);
        let start = picture.find("class=\"s0-stroke\"").unwrap();
        let line = picture[start..].split("d=\"").nth(1).unwrap().split('"').next().unwrap().to_string();
        line.matches('M').count()
    };
    assert_eq!((with(3.0), with(f64::NAN), with(f64::INFINITY)), (1, 2, 2));
}

#[test]
fn what_the_focus_leaves_out_is_clipped_and_marked_at_the_edge() {
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| if *x == 7.0 { 1e9 } else { *x }).collect();
    let mut given = Chart::new("t", "x", "y").with(Series::line("a", &x, &y)).with(Series::points("b", &x, &y));
    assert!(!chart_text(&given).contains("overflow") && given.left_out().is_none());
    given.focus_y = crate::focus::without_outliers(y);
    let picture = chart_text(&given);
    let document = Document::parse(&picture).unwrap();
    let inner = document.descendants().find(|node| node.attribute("overflow") == Some("hidden")).unwrap();
    assert!(inner.children().any(|node| node.attribute("class") == Some("s0-stroke")), "the line is clipped");
    let edge = |node: &Node| node.attribute("data-beyond") == Some("1");
    assert_eq!(document.descendants().filter(edge).count(), 1, "the point is marked");
    assert_eq!(given.left_out().unwrap(), "2 points lie outside the range that is shown first: 1G.");
    let range = |node: &Node| node.text().is_some_and(|text| text.contains("y from 0 to 39"));
    assert!(document.descendants().any(|node| range(&node)), "{picture}");
}

#[test]
fn a_series_without_points_has_no_entry_in_the_legend() {
    let (x, none) = ([1.0, 2.0], [f64::NAN; 2]);
    let given = Chart::new("t", "x", "y").with(Series::line("here", &x, &x)).with(Series::line("gone", &x, &none));
    let picture = chart_text(&given.clone().with(Series::line("there", &x, &x)));
    assert!(picture.contains(">here<") && picture.contains(">there<") && !picture.contains(">gone<"));
    assert!(!chart_text(&given).contains(">here<"), "a single series is named by the title");
}

#[test]
fn what_is_not_shown_is_said() {
    let mut given = Chart::new("t", "x", "y").with(Series::line("", &[1.0, 2.0, 3.0], &[-1.0, 0.0, 5.0]));
    given.log_y = true;
    assert!(Panel::draw(&given, WIDTH, true).description.contains("2 of the points"));
    given.log_y = false;
    assert!(!Panel::draw(&given, WIDTH, true).description.contains("Not shown"));
}
