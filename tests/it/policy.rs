use listwatch::{
    ExponentialBackoff, Recovery,
    policy::{Backoff, FixedBackoff},
};
use std::time::Duration;

fn delays(mut policy: impl Backoff, n: u32) -> Vec<f64> {
    (0..n).map(|attempt| policy.delay(Recovery::Resume, attempt).as_secs_f64()).collect()
}

#[test]
fn the_defaults_are_client_gos() {
    let mut policy = ExponentialBackoff::default();
    assert_eq!(policy.reset_after(), Duration::from_secs(120));
    let bases = [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0];
    for (attempt, base) in (0..).zip(bases) {
        for _ in 0..200 {
            let delay = policy.delay(Recovery::Relist, attempt).as_secs_f64();
            assert!((base..base * 2.0).contains(&delay), "{attempt}: {delay} is not in [{base}, {})", base * 2.0);
        }
    }
}

#[test]
fn the_maximum_bounds_the_delay_before_jitter() {
    let policy = ExponentialBackoff::builder().random(|| 0.999).build().unwrap();
    let last = delays(policy, 20)[19];
    assert!(last > 59.9 && last < 60.0, "{last}");
}

#[test]
fn no_attempt_overflows() {
    let mut policy = ExponentialBackoff::builder().max(Duration::MAX).factor(1e300).build().unwrap();
    for attempt in [0, 1, 2, 1000, i32::MAX as u32, u32::MAX] {
        assert!(policy.delay(Recovery::Resume, attempt) >= Duration::from_millis(800));
    }
}

#[test]
fn a_seed_gives_the_same_delays_and_clones_of_the_default_do_not_move_in_step() {
    let seeded = |seed| delays(ExponentialBackoff::builder().seed(seed).build().unwrap(), 8);
    assert_eq!(seeded(7), seeded(7));
    assert_ne!(seeded(7), seeded(8));
    let default = ExponentialBackoff::default();
    assert_ne!(delays(default.clone(), 8), delays(default, 8));
}

#[test]
fn a_closure_out_of_its_range_is_cut_to_it() {
    for (drawn, delay) in [(-1.0, 0.8), (2.0, 1.6), (f64::NAN, 0.8), (f64::INFINITY, 0.8)] {
        let policy = ExponentialBackoff::builder().random(move || drawn).build().unwrap();
        assert_eq!(delays(policy, 1), [delay], "{drawn}");
    }
}

#[test]
fn what_cannot_be_built_says_why() {
    let builder = ExponentialBackoff::builder;
    let wrong = [
        (builder().initial(Duration::ZERO), "first delay is zero"),
        (builder().max(Duration::from_millis(799)), "longer than the maximum"),
        (builder().factor(0.99), "factor"),
        (builder().factor(f64::NAN), "factor"),
        (builder().factor(f64::INFINITY), "factor"),
        (builder().jitter(-0.1), "jitter"),
        (builder().jitter(f64::NAN), "jitter"),
    ];
    for (builder, why) in wrong {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(why), "{error:?} does not say {why:?}");
    }
    assert!(builder().max(Duration::from_millis(800)).factor(1.0).jitter(0.0).build().is_ok());
}

#[test]
fn boxes_and_iterators_are_policies() {
    let boxed: Box<dyn Backoff + Send> = Box::new(FixedBackoff::new(Duration::from_secs(3)));
    assert_eq!(delays(boxed, 2), [3.0, 3.0]);
    let policy = ExponentialBackoff::builder().reset_after(Duration::from_secs(9)).build().unwrap();
    let boxed: Box<dyn Backoff + Send + Sync> = Box::new(policy);
    assert_eq!(boxed.reset_after(), Duration::from_secs(9));
    let scripted = [1, 2].into_iter().map(Duration::from_secs);
    assert_eq!(delays(scripted, 3), [1.0, 2.0, 0.0]);
}
