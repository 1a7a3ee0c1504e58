use super::{decode_json, reader::Reader};
use proptest::prelude::*;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::{collections::BTreeMap, fmt::Debug};

/// What the reader takes, `serde_json` takes too, and makes the same of it.
fn agrees<T: DeserializeOwned + PartialEq + Debug>(json: &[u8]) -> Option<T> {
    let taken: Option<T> = Reader::read(json).ok();
    if let Some(taken) = &taken {
        let theirs: T = serde_json::from_slice(json)
            .unwrap_or_else(|error| panic!("{:?} was taken: {error}", String::from_utf8_lossy(json)));
        assert_eq!(*taken, theirs, "{:?}", String::from_utf8_lossy(json));
    }
    taken
}

#[derive(Debug, PartialEq, Deserialize)]
struct Fields {
    a: Option<Value>,
    #[serde(default)]
    b: Vec<Fields>,
    c: Option<BTreeMap<String, String>>,
    kind: Option<Kind>,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Kind {
    Unit,
    Newtype(u8),
    Tuple(i64, f64),
    Struct { a: bool },
}

#[test]
fn every_shape_is_taken() {
    for json in [
        r#"{"a":1,"b":[],"c":{},"kind":"Unit"}"#,
        r#" { "b" : [ {"a":[1,-2,3.5,1e3,-0,"x",null,true,false,{}]} , {} ] , "c" : {"é\n":"\u00e9\"\ud83d\ude00"} } "#,
        r#"{"kind":{"Newtype":7},"unknown":[{"x":[1,{"y":"]}\"\\\u0041"},[]]},-1.5E-3,true,false,null,{}]}"#,
        r#"{"kind":{"Tuple":[-9223372036854775808,18446744073709551615]}}"#,
        r#"{"kind":{"Struct":{"a":true}},"a":{"deep":[[[[[[[[]]]]]]]]}}"#,
    ] {
        assert!(agrees::<Fields>(json.as_bytes()).is_some(), "{json}");
        assert!(agrees::<Value>(json.as_bytes()).is_some(), "{json}");
    }
}

#[test]
fn what_is_no_json_is_not_taken_wherever_it_stands() {
    for wrong in [
        "",
        "tru",
        "nul",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "1e+",
        "+1",
        "\"",
        "\"\n\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12gh\"",
        "[1,]",
        "[1 2]",
        "[,1]",
        "[1}",
        "{\"a\"}",
        "{\"a\" 1}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\":1]",
        "1 2",
        "'a'",
        "NaN",
        "1e999",
        "\u{feff}1",
    ] {
        for json in [
            wrong.to_owned(),
            format!("[{wrong}]"),
            format!(r#"{{"skipped":{wrong}}}"#),
            format!("{{\"b\":[{wrong}]}}"),
        ] {
            if serde_json::from_str::<Value>(&json).is_err() {
                assert!(Reader::read::<Value>(json.as_bytes()).is_err(), "{json}");
            }
            if serde_json::from_str::<Fields>(&json).is_err() {
                assert!(Reader::read::<Fields>(json.as_bytes()).is_err(), "{json}");
            }
        }
    }
    assert!(Reader::read::<Value>(b"\"\xff\"").is_err());
}

#[test]
fn what_it_does_not_take_may_still_be_fine() {
    let by_number: BTreeMap<u32, bool> = decode_json(br#"{"7":true}"#).unwrap();
    assert_eq!(by_number, BTreeMap::from([(7, true)]));
    let raw: Box<serde_json::value::RawValue> = decode_json(b"[1, 2]").unwrap();
    assert_eq!(raw.get(), "[1, 2]");
    let lone: Result<Value, _> = decode_json(br#""\ud800""#);
    assert!(lone.is_err());
}

#[test]
fn depth_is_bounded() {
    for depth in [126, 127, 128, 129, 100_000] {
        let json = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(Reader::read::<Value>(json.as_bytes()).is_ok(), depth <= 127, "{depth}");
        agrees::<Value>(json.as_bytes());
        agrees::<Fields>(format!(r#"{{"skipped":{json}}}"#).as_bytes());
        let objects = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        agrees::<Value>(objects.as_bytes());
        agrees::<Fields>(objects.as_bytes());
    }
    let beside_each_other = format!("[{}[]]", "[],{},".repeat(200));
    assert!(agrees::<Value>(beside_each_other.as_bytes()).is_some());
}

#[test]
fn vectors_are_full() {
    #[derive(Deserialize)]
    struct Nested {
        #[serde(default)]
        lists: Vec<Vec<Option<u64>>>,
        skipped_by: Option<Vec<Nested>>,
    }
    let json = br#"{"lists":[[1,2,3,4,5],[],[null]],"other":[[1],[2,[3]]],"skipped_by":[{"x":[1,2],"lists":[[1],[1,2],[1,2,3]]}]}"#;
    let nested: Nested = Reader::read(json).unwrap();
    let inner = nested.skipped_by.as_ref().unwrap();
    for list in nested.lists.iter().chain(&inner[0].lists) {
        assert_eq!(list.capacity(), list.len());
    }
    assert_eq!([nested.lists.capacity(), inner.capacity(), inner[0].lists.capacity()], [3, 1, 3]);
    // Where the count cannot be true, it is no more than a hint.
    assert!(Reader::read::<Vec<[u64; 32]>>(format!("[{}", "1,".repeat(1 << 20)).as_bytes()).is_err());
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,40}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("[abc]|kind|\\PC{0,9}", inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_serde_json_writes_is_taken(value in value(), pretty: bool) {
        let json = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) }.unwrap();
        // A float of many digits may be read closer to what was meant than `serde_json` does.
        let taken: Value = Reader::read(&json).expect("taken");
        prop_assert_eq!(serde_json::to_string(&taken).unwrap(), serde_json::to_string(&value).unwrap());
        let _ = Reader::read::<Fields>(&json);
    }

    #[test]
    fn nothing_is_taken_that_serde_json_does_not_take(
        value in value(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[\\[\\]{},:\"\\\\ 0-9tfnue.-]|\\PC"), 1..4),
    ) {
        let mut json = value.to_string().into_bytes();
        for (at, with) in edits {
            let at = at.index(json.len() + 1);
            json.splice(at..at, with.into_bytes());
        }
        if Reader::read::<Value>(&json).is_ok() {
            prop_assert!(serde_json::from_slice::<Value>(&json).is_ok(), "{:?}", String::from_utf8_lossy(&json));
        }
        if Reader::read::<Fields>(&json).is_ok() {
            prop_assert!(serde_json::from_slice::<Fields>(&json).is_ok(), "{:?}", String::from_utf8_lossy(&json));
        }
    }
}
