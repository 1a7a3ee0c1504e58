//! A list's body of any bytes is items and metadata or errors; its cuts change nothing; no item over the limit comes.
#![no_main]

use futures::StreamExt;
use libfuzzer_sys::fuzz_target;
use listwatch::{Kinded, Raw, client::ListDecoder, source::ListPart};
use listwatch_fuzz::{Chunks, Input, said};

fuzz_target!(|bytes: &[u8]| {
    let Some(input) = Input::new(bytes) else { return };
    let list = |decoder: ListDecoder, chunks: Chunks| {
        let body = decoder.decode::<Raw>(chunks.map(|chunk| chunk.map(Into::into)));
        said(body, |part| matches!(part, ListPart::Progress))
    };
    let whole = list(ListDecoder::new(), input.whole());
    assert_eq!(list(ListDecoder::new(), input.chunks().0), whole, "cuts changed something");

    let decoder = || ListDecoder::new().max_item_size(input.limit());
    let limited = list(decoder(), input.whole());
    assert_eq!(list(decoder(), input.chunks().0), limited, "cuts changed what the limit does");
    let same = limited.iter().zip(&whole).take_while(|(a, b)| a == b).count();
    assert!(limited.len() <= same + 1, "a limit changed what comes before it");

    let mut body = decoder().decode::<Raw>(input.whole().map(|chunk| chunk.map(Into::into)));
    while let Some(Some(part)) = futures::FutureExt::now_or_never(body.next()) {
        if let Ok(ListPart::Item(object)) = part {
            // An item that says no kind is given that of its list, whose words are held to the limit as well.
            let given = object.api_version_kind().map_or(0, |(version, kind)| 2 * (version.len() + kind.len()) + 32);
            assert!(object.json().len() <= input.limit() + given, "an item over the limit");
        }
    }
});
