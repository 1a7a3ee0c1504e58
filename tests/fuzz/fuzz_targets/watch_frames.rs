//! A watch's body of any bytes is events or errors; its cuts change nothing; no line over the limit is kept.
#![no_main]

use futures::StreamExt;
use libfuzzer_sys::fuzz_target;
use listwatch::{Raw, client::WatchDecoder};
use listwatch_fuzz::{Input, said};
use std::sync::atomic::Ordering;

fuzz_target!(|bytes: &[u8]| {
    let Some(input) = Input::new(bytes) else { return };
    let watch = |decoder: WatchDecoder, chunks: listwatch_fuzz::Chunks| {
        said(decoder.decode::<Raw>(chunks.map(|chunk| chunk.map(Into::into))), |_| false)
    };
    let whole = watch(WatchDecoder::new(), input.whole());
    assert_eq!(watch(WatchDecoder::new(), input.chunks().0), whole, "cuts changed something");

    let (chunks, taken) = input.chunks();
    let limited = watch(WatchDecoder::new().max_event_size(input.limit()), chunks);
    let long = input.body.split(|byte| *byte == b'\n').position(|line| line.len() > input.limit());
    match long {
        None => assert_eq!(limited, whole, "a limit that is not met changed something"),
        Some(line) => {
            let before: usize = input.body.split(|byte| *byte == b'\n').take(line).map(|line| line.len() + 1).sum();
            let most = before + input.limit() + 256;
            assert!(taken.load(Ordering::Relaxed) <= most, "more was taken than the limit and a chunk");
            let same = limited.iter().zip(&whole).take_while(|(a, b)| a == b).count();
            assert!(limited.len() <= same + 1, "a limit changed what comes before it");
        }
    }
});
