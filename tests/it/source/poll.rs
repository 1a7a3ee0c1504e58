use super::{S, api, next, status};
use crate::objects::config_map;
use listwatch::source::ListWatch;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn lists_again_each_period_and_needs_no_version() {
    let api = api().on_list("", [config_map("a", "5")]).on_list_error(status(503)).on_list("", [config_map("b", "6")]);
    let (mut poll, start) = (api.clone().poll_every(S * 10), Instant::now());
    assert_eq!(next(&mut poll, 3).await, ["start", "listed a", "end "]);
    assert_eq!(next(&mut poll, 4).await, ["Relist 503", "start", "listed b", "end "]);
    assert_eq!(start.elapsed(), S * 10 + S / 10, "the floor after the error");
    assert_eq!(api.lines()[0], r#"L "0" limit 500"#);
}

#[tokio::test(start_paused = true)]
async fn goes_on_at_the_version_where_there_is_one() {
    let api = api().on_list("7", []).on_list("8", []);
    let mut poll = api.clone().poll_every(S * 10);
    assert_eq!(next(&mut poll, 4).await, ["start", "end 7", "start", "end 8"]);
    assert_eq!(api.lines(), [r#"L "0" limit 500"#, r#"L "7""#]);
}
