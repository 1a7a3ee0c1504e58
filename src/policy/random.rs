use std::{fmt, sync::Arc};

/// Where jitter comes from.
#[derive(Clone, Default)]
pub(super) enum Random {
    /// The thread's generator, so that clones of one policy do not move in step.
    #[default]
    Thread,
    Seeded(fastrand::Rng),
    Closure(Arc<dyn Fn() -> f64 + Send + Sync>),
}

impl Random {
    /// A number in `[0, 1)`.
    pub(super) fn draw(&mut self) -> f64 {
        match self {
            Random::Thread => fastrand::f64(),
            Random::Seeded(rng) => rng.f64(),
            Random::Closure(draw) => {
                let drawn = draw();
                if drawn.is_finite() { drawn.clamp(0.0, 1.0) } else { 0.0 }
            }
        }
    }
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Random::Thread => "Thread",
            Random::Seeded(_) => "Seeded",
            Random::Closure(_) => "Closure",
        })
    }
}
