//! Counts the bytes that are allocated, for cases that bound them.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The bytes that are allocated now.
pub fn live() -> usize {
    LIVE.load(Ordering::Relaxed)
}

/// The most bytes that were allocated since the process began.
pub fn peak() -> usize {
    PEAK.load(Ordering::Relaxed)
}

fn grown(by: usize) {
    PEAK.fetch_max(LIVE.fetch_add(by, Ordering::Relaxed) + by, Ordering::Relaxed);
}

// SAFETY: everything is passed on to the system's allocator as it came.
#[expect(unsafe_code, reason = "an allocator is made of unsafe functions")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}
