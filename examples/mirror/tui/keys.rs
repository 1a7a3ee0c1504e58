//! What keys do.

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    End,
    Relist,
    /// One more letter of the filter.
    Type(char),
    Erase,
    Clear,
    /// So many lines, down if positive.
    Scroll(isize),
    /// So many screens.
    Page(isize),
    Top,
    Bottom,
}

impl Action {
    /// What an event of the terminal asks for, if anything.
    pub fn of(event: &Event) -> Option<Self> {
        let Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press | KeyEventKind::Repeat, .. }) = event
        else {
            return None;
        };
        if modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return match (modifiers.contains(KeyModifiers::CONTROL), code) {
                (true, KeyCode::Char('c' | 'd')) => Some(Action::End),
                (true, KeyCode::Char('r')) => Some(Action::Relist),
                (true, KeyCode::Char('u')) => Some(Action::Clear),
                _ => None,
            };
        }
        Some(match code {
            KeyCode::Char(letter) => Action::Type(*letter),
            KeyCode::Backspace => Action::Erase,
            KeyCode::Esc => Action::Clear,
            KeyCode::Up => Action::Scroll(-1),
            KeyCode::Down => Action::Scroll(1),
            KeyCode::PageUp => Action::Page(-1),
            KeyCode::PageDown => Action::Page(1),
            KeyCode::Home => Action::Top,
            KeyCode::End => Action::Bottom,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_filter_and_control_letters_do_not() {
        let key = |code, modifiers| Action::of(&Event::Key(KeyEvent::new(code, modifiers)));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::NONE), Some(Action::Type('c')));
        assert_eq!(key(KeyCode::Char('C'), KeyModifiers::SHIFT), Some(Action::Type('C')));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::End));
        assert_eq!(key(KeyCode::Char('x'), KeyModifiers::CONTROL), None);
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::ALT), None);
        let release = KeyEvent { kind: KeyEventKind::Release, ..KeyCode::Esc.into() };
        assert_eq!(Action::of(&Event::Key(release)), None);
    }
}
