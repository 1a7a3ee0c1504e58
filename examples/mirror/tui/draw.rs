//! How the model looks.

use super::{
    super::{age::age, memory, tone::Tone},
    Model,
    model::Call,
};
use k8s_openapi::jiff::Timestamp;
use kube::core::DynamicObject;
use listwatch::State;
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Margin, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::{Block, Cell, Paragraph, Row, Scrollbar, ScrollbarOrientation, ScrollbarState, Sparkline, Table},
};
use tokio::time::Instant;

/// Below this height only the objects are drawn.
const LOW: u16 = 18;

/// Draws everything. Notes how many objects fit.
pub fn draw(frame: &mut Frame<'_>, model: &mut Model, now: Instant, clock: Timestamp) {
    let height = frame.area().height;
    let (panels, errors) = if height < LOW { (0, 0) } else { (6, 5) };
    let [title, top, middle, bottom, help] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(panels),
        Constraint::Min(3),
        Constraint::Length(errors),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(headline(model, now), title);
    if panels > 0 {
        let [left, right] = Layout::horizontal([Constraint::Percentage(50), Constraint::Fill(1)]).areas(top);
        stream(frame, model, now, left);
        rate(frame, model, right);
        failures(frame, model, bottom);
    }
    objects(frame, model, clock, middle);
    let keys = " type to filter   ↑ ↓ PgUp PgDn Home End scroll   Esc clears   Ctrl-R lists again   Ctrl-C ends";
    frame.render_widget(Line::styled(keys, quiet()), help);
}

fn headline(model: &Model, now: Instant) -> Line<'static> {
    let (state, tone) = match &model.state {
        State::Live => ("live".to_owned(), Tone::Good),
        State::Stale { since, .. } => (format!("stale for {} s", (now - *since).as_secs()), Tone::Bad),
        state => (format!("{state:?}").to_lowercase(), Tone::Changed),
    };
    let count = format!("{} object{}", model.held, if model.held == 1 { "" } else { "s" });
    Line::from(vec![
        Span::styled(format!(" {}", model.what), Style::new().add_modifier(Modifier::BOLD)),
        Span::raw(format!("   {count}   version {}   ", version(model))),
        Span::styled(format!(" {state} "), colour(tone).add_modifier(Modifier::REVERSED)),
    ])
}

fn version(model: &Model) -> String {
    let version = &model.stats.last_version;
    if version.is_unset() { "unknown".to_owned() } else { version.to_string() }
}

/// Which call, version, backoff; how often; when the server was heard last.
fn stream(frame: &mut Frame<'_>, model: &Model, now: Instant, area: Rect) {
    let stats = &model.stats;
    let name = match model.call {
        Call::List => "LIST",
        Call::Watch => "WATCH",
    };
    let call = match (model.wait, model.call) {
        (Some(wait), _) => {
            let left = (wait.until - now).as_secs_f64();
            let text =
                format!("{name} in {left:.1} s, after {} failure{}", wait.failures, plural(wait.failures.into()));
            Span::styled(text, colour(Tone::Bad))
        }
        (None, Call::List) => {
            let of = stats.remaining.map_or_else(String::new, |remaining| format!(" of {}", stats.listed + remaining));
            Span::styled(format!("LIST, {}{of} objects", stats.listed), colour(Tone::Changed))
        }
        (None, Call::Watch) => Span::styled(format!("WATCH from version {}", version(model)), colour(Tone::Good)),
    };
    let heard =
        stats.last_heard.map_or("never".to_owned(), |heard| format!("{:.0} s ago", (now - heard).as_secs_f64()));
    let requests = format!(
        "{} snapshot{}, {} watch{}, {} short",
        stats.lists_done,
        plural(stats.lists_done),
        stats.watches,
        if stats.watches == 1 { "" } else { "es" },
        stats.short_watches
    );
    let lines = [
        ("call", call),
        ("heard", Span::raw(heard)),
        ("so far", Span::raw(requests)),
        ("errors", Span::raw(format!("{}, of them {} skipped objects", stats.errors, stats.skipped))),
    ];
    let named = |(name, value)| Line::from(vec![Span::styled(format!("{name:>7} "), quiet()), value]);
    let lines: Vec<_> = lines.into_iter().map(named).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(" Stream ")), area);
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn rate(frame: &mut Frame<'_>, model: &Model, area: Rect) {
    let now = model.seconds.back().copied().unwrap_or_default();
    let peak = model.seconds.iter().copied().max().unwrap_or_default();
    let held = model
        .memory
        .map_or_else(|| "memory unknown here".to_owned(), |bytes| format!("memory {}", memory::human(bytes)));
    let block = Block::bordered()
        .title(format!(" {now} events/s, peak {peak} "))
        .title_bottom(Line::from(format!(" {} events   {held} ", model.stats.events)));
    let width = usize::from(block.inner(area).width);
    let first = model.seconds.len().saturating_sub(width);
    // The present is at the right, however short the past is.
    let mut seconds = vec![0; width.saturating_sub(model.seconds.len())];
    seconds.extend(model.seconds.iter().skip(first));
    frame.render_widget(Sparkline::default().data(&seconds).style(Style::new().fg(Color::Cyan)).block(block), area);
}

fn objects(frame: &mut Frame<'_>, model: &mut Model, clock: Timestamp, area: Rect) {
    let filter = if model.filter.is_empty() { "no filter".to_owned() } else { format!("filter: {}", model.filter) };
    let block = Block::bordered()
        .title(format!(" {} of {} ", model.shown.len(), model.held))
        .title(Line::styled(format!(" {filter}▏"), colour(Tone::Changed)));
    let inner = block.inner(area);
    model.room = usize::from(inner.height.saturating_sub(1)).max(1);
    model.act(super::Action::Scroll(0));
    let columns = model.columns;
    let names = columns.names_with_status();
    let screen = &model.shown[model.top..(model.top + model.room).min(model.shown.len())];
    let mut widths: Vec<usize> = names.iter().map(|name| name.chars().count()).collect();
    let rows: Vec<_> = screen
        .iter()
        .map(|object| {
            let cells = cells(model, object, clock);
            for (width, (text, _)) in widths.iter_mut().zip(&cells) {
                *width = (*width).max(text.chars().count());
            }
            let style = model.mark(object).map_or(Style::new(), |tone| colour(tone).add_modifier(Modifier::BOLD));
            Row::new(cells.into_iter().map(|(text, style)| Cell::from(Span::styled(text, style)))).style(style)
        })
        .collect();
    let widths = widths.into_iter().map(|width| Constraint::Length(u16::try_from(width).unwrap_or(u16::MAX)));
    let table = Table::new(rows, widths).header(Row::new(names).style(quiet())).column_spacing(3).block(block);
    frame.render_widget(table, area);
    if model.shown.len() > model.room {
        let mut at = ScrollbarState::new(model.shown.len() - model.room).position(model.top);
        let bar = Scrollbar::new(ScrollbarOrientation::VerticalRight).begin_symbol(None).end_symbol(None);
        frame.render_stateful_widget(bar, area.inner(Margin { vertical: 1, horizontal: 0 }), &mut at);
    }
}

/// Namespace, name, status, what else the kind has, age.
fn cells(model: &Model, object: &DynamicObject, clock: Timestamp) -> Vec<(String, Style)> {
    let meta = &object.metadata;
    let (status, tone) = model.status(object);
    let mut cells = Vec::with_capacity(5);
    if model.columns.has_namespace() {
        cells.push((meta.namespace.clone().unwrap_or_default(), Style::new()));
    }
    cells.push((meta.name.clone().unwrap_or_default(), Style::new()));
    cells.push((status, colour(tone)));
    cells.extend(model.columns.facts(object).skip(1).map(|fact| (fact, Style::new())));
    cells.push((age(meta.creation_timestamp.as_ref(), clock), Style::new()));
    cells
}

fn failures(frame: &mut Frame<'_>, model: &Model, area: Rect) {
    let lines: Vec<_> = match model.errors.len() {
        0 => vec![Line::styled("none", quiet())],
        _ => model
            .errors
            .iter()
            .map(|(at, text)| {
                let at = at.strftime("%H:%M:%SZ  ").to_string();
                Line::from(vec![Span::styled(at, quiet()), Span::styled(text.clone(), colour(Tone::Bad))])
            })
            .collect(),
    };
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(" Errors, the latest first ")), area);
}

fn colour(tone: Tone) -> Style {
    match tone {
        Tone::Good => Style::new().fg(Color::Green),
        Tone::Changed => Style::new().fg(Color::Yellow),
        Tone::Bad => Style::new().fg(Color::Red),
        Tone::Quiet => quiet(),
    }
}

fn quiet() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}
