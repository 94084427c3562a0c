//! Cactus and scatter plots, and curves over a size, as SVG.

use super::record::{Setting, Verdict};
use super::summary::{Cell, Summary};
use palisade_model::text::escaped;
use plotters::prelude::*;

/// The least time drawn.
const LEAST: f64 = 0.001;

/// Width and height of a plot. On a narrow screen it is drawn at two thirds of that.
const SIZE: (u32, u32) = (560, 400);

/// The letters of numbers on axes, and all others: still read at two thirds of their size.
const SMALL: (&str, u32) = ("sans-serif", 15);
const LETTERS: (&str, u32) = ("sans-serif", 17);

/// Colours that people who see few colours tell apart (Okabe and Ito's).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// For each tool how many nets it answers within how many seconds each.
pub(super) fn cactus(setting: &Setting, summary: &Summary) -> Option<String> {
    let mut series: Vec<(&str, Vec<f64>)> = Vec::new();
    for tool in &setting.tools {
        let mut times: Vec<f64> = summary
            .cells
            .values()
            .filter_map(|tools| tools.get(tool))
            .filter(|cell| cell.verdict.is_answer())
            .map(|cell| cell.seconds.max(LEAST))
            .collect();
        times.sort_by(f64::total_cmp);
        series.push((tool, times));
    }
    let most = series.iter().map(|(_, times)| times.len()).max().filter(|most| *most > 0)?;
    let slowest = series.iter().flat_map(|(_, times)| times).copied().fold(LEAST, f64::max);
    // The axis has two powers of ten at least, which have numbers.
    let top = (slowest * 1.5).max(LEAST * 12.0);
    let mut svg = String::new();
    draw(&mut svg, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(48)
            .y_label_area_size(72)
            .build_cartesian_2d(0..most, (LEAST * 0.8..top).log_scale())?;
        chart
            .configure_mesh()
            .x_desc("nets answered")
            .y_desc("seconds for each")
            .label_style(SMALL)
            .axis_desc_style(LETTERS)
            .draw()?;
        if let Some(limit) = setting.timeout_seconds.filter(|limit| *limit < top && *limit > LEAST) {
            let grey = RGBColor(150, 150, 150);
            chart.draw_series(DashedLineSeries::new([(0, limit), (most, limit)], 4, 4, grey.into()))?;
        }
        for (index, (tool, times)) in series.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let points = times.iter().enumerate().map(|(index, seconds)| (index + 1, *seconds));
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
                .label(*tool)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .label_font(LETTERS)
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(RGBColor(200, 200, 200))
            .draw()?;
        Ok(())
    });
    Some(svg)
}

/// The colour of nets with a target that can be covered, and of those without.
const COVERABLE: RGBColor = COLOURS[0];
const UNCOVERABLE: RGBColor = COLOURS[1];

/// The times of two tools on each net; nets without an answer lie on the outer border. A net says
/// its name where the pointer rests on it.
pub(super) fn scatter(setting: &Setting, second: &str, summary: &Summary) -> Option<String> {
    let first = setting.tools.first()?.as_str();
    let mut both: Vec<(&String, &Cell, &Cell)> = summary
        .cells
        .iter()
        .filter_map(|(file, tools)| Some((file, tools.get(first)?, tools.get(second)?)))
        .filter(|(_, one, other)| one.verdict.is_answer() || other.verdict.is_answer())
        .collect();
    if both.is_empty() {
        return None;
    }
    let is_coverable = |one: &Cell, other: &Cell| [one, other].iter().any(|cell| cell.verdict == Verdict::Coverable);
    both.sort_by_key(|(_, one, other)| is_coverable(one, other));
    let slowest = both.iter().flat_map(|(_, one, other)| [one.seconds, other.seconds]).fold(LEAST, f64::max);
    let border = setting.timeout_seconds.map_or(slowest, |limit| slowest.max(limit)) * 2.0;
    let time = |cell: &Cell| if cell.verdict.is_answer() { cell.seconds.max(LEAST) } else { border };
    let mut svg = String::new();
    draw(&mut svg, |area| {
        let axis = (LEAST * 0.8)..(border * 1.3);
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(48)
            .y_label_area_size(72)
            .build_cartesian_2d(axis.clone().log_scale(), axis.log_scale())?;
        chart
            .configure_mesh()
            .x_desc(format!("{first}, seconds"))
            .y_desc(format!("{second}, seconds"))
            .label_style(SMALL)
            .axis_desc_style(LETTERS)
            .draw()?;
        let grey = RGBColor(150, 150, 150);
        chart.draw_series(LineSeries::new([(LEAST, LEAST), (border, border)], grey))?;
        if let Some(limit) = setting.timeout_seconds.filter(|limit| *limit > LEAST) {
            chart.draw_series(DashedLineSeries::new([(LEAST, limit), (border, limit)], 4, 4, grey.into()))?;
            chart.draw_series(DashedLineSeries::new([(limit, LEAST), (limit, border)], 4, 4, grey.into()))?;
        }
        let [no, yes] = [Verdict::Uncoverable, Verdict::Coverable].map(|verdict| setting.word(verdict));
        for (coverable, colour, word) in [(false, UNCOVERABLE, no), (true, COVERABLE, yes)] {
            let of_kind = both.iter().filter(|(_, one, other)| is_coverable(one, other) == coverable);
            chart
                .draw_series(
                    of_kind.map(|(_, one, other)| Circle::new((time(one), time(other)), 4, colour.mix(0.7).filled())),
                )?
                .label(word)
                .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 8, y + 4)], colour.filled()));
        }
        chart
            .configure_series_labels()
            .label_font(LETTERS)
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.8))
            .border_style(RGBColor(200, 200, 200))
            .draw()?;
        Ok(())
    });
    let words = |cell: &Cell| {
        if cell.verdict.is_answer() { format!("{:.3} s", cell.seconds) } else { setting.word(cell.verdict).to_owned() }
    };
    let title = |(file, one, other): &(&String, &Cell, &Cell)| {
        format!("{file}: {first} {}, {second} {}", words(one), words(other))
    };
    Some(with_titles(&svg, both.iter().map(title)))
}

/// A picture whose circles, in the order in which they were drawn, say what they are.
fn with_titles(svg: &str, titles: impl Iterator<Item = String>) -> String {
    let mut pieces = svg.split("<circle ");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    let mut titles = titles;
    for piece in pieces {
        out.push_str("<circle ");
        match (piece.split_once("/>"), titles.next()) {
            (Some((attributes, rest)), Some(title)) => {
                out.push_str(&format!("{attributes}><title>{}</title></circle>{rest}", escaped(title)));
            }
            _ => out.push_str(piece),
        }
    }
    out
}

/// Curves over a size, with a logarithmic axis upwards; nothing where there are no points.
pub(super) fn curves(series: &[(String, Vec<(f64, f64)>)], title: &str) -> Option<String> {
    let points = || series.iter().flat_map(|(_, points)| points);
    let right = points().map(|point| point.0).reduce(f64::max)?;
    let least = points().map(|point| point.1).fold(f64::MAX, f64::min).max(LEAST);
    let most = points().map(|point| point.1).fold(least, f64::max);
    let mut svg = String::new();
    draw(&mut svg, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(48)
            .y_label_area_size(72)
            .build_cartesian_2d(0.0..right * 1.02 + 1.0, (least * 0.8..most * 1.5).log_scale())?;
        chart.configure_mesh().x_desc("n").y_desc(title).label_style(SMALL).axis_desc_style(LETTERS).draw()?;
        for (index, (name, points)) in series.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let points = points.iter().map(|(size, value)| (*size, value.max(LEAST)));
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(3))?
                .label(name.as_str())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .label_font(LETTERS)
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(RGBColor(200, 200, 200))
            .draw()?;
        Ok(())
    });
    Some(svg)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Draws on a white sheet; drawing into a string does not fail, and a plot that does is left out.
fn draw(svg: &mut String, content: impl Fn(&Area<'_>) -> Result<(), Box<dyn std::error::Error>>) {
    let complete = {
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        area.fill(&WHITE).is_ok() && content(&area).is_ok() && area.present().is_ok()
    };
    if !complete {
        svg.clear();
    }
}
