//! Cactus and scatter plots, and curves over a size, as SVG.

use super::record::Setting;
use super::summary::{Cell, Summary};
use plotters::prelude::*;

/// The least time drawn.
const LEAST: f64 = 0.001;

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
    let mut svg = String::new();
    draw(&mut svg, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(0..most, (LEAST..slowest * 1.5).log_scale())?;
        chart.configure_mesh().x_desc("nets answered").y_desc("seconds for each").draw()?;
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
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(RGBColor(200, 200, 200))
            .draw()?;
        Ok(())
    });
    Some(svg)
}

/// The times of two tools on each net; nets without an answer lie on the outer border.
pub(super) fn scatter(first: &str, second: &str, summary: &Summary) -> Option<String> {
    let both: Vec<(&Cell, &Cell)> = summary
        .cells
        .values()
        .filter_map(|tools| Some((tools.get(first)?, tools.get(second)?)))
        .filter(|(one, other)| one.verdict.is_answer() || other.verdict.is_answer())
        .collect();
    if both.is_empty() {
        return None;
    }
    let slowest = both.iter().flat_map(|(one, other)| [one.seconds, other.seconds]).fold(LEAST, f64::max);
    let border = slowest * 2.0;
    let time = |cell: &Cell| if cell.verdict.is_answer() { cell.seconds.max(LEAST) } else { border };
    let mut svg = String::new();
    draw(&mut svg, |area| {
        let axis = (LEAST * 0.8)..(border * 1.3);
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(axis.clone().log_scale(), axis.log_scale())?;
        chart.configure_mesh().x_desc(format!("{first}, seconds")).y_desc(format!("{second}, seconds")).draw()?;
        let grey = RGBColor(150, 150, 150);
        chart.draw_series(LineSeries::new([(LEAST, LEAST), (border, border)], grey))?;
        chart.draw_series(
            both.iter().map(|(one, other)| Circle::new((time(one), time(other)), 3, COLOURS[0].mix(0.7).filled())),
        )?;
        Ok(())
    });
    Some(svg)
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
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(0.0..right * 1.02 + 1.0, (least * 0.8..most * 1.5).log_scale())?;
        chart.configure_mesh().x_desc("n").y_desc(title).draw()?;
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
        let area = SVGBackend::with_string(svg, (720, 440)).into_drawing_area();
        area.fill(&WHITE).is_ok() && content(&area).is_ok() && area.present().is_ok()
    };
    if !complete {
        svg.clear();
    }
}
