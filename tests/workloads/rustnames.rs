// SPDX-License-Identifier: Apache-2.0
// Rust names: a module, a trait, a generic function.
use std::time::{Duration, Instant};

// std::hint::black_box is younger than Debian 12's compiler.
#[inline(always)]
fn black_box(value: u64) -> u64 {
    unsafe { std::ptr::read_volatile(&value) }
}

mod demo {
    pub trait Burns {
        fn burn_in_trait(&self, turns: u64) -> u64;
    }
    pub struct Furnace;
    impl Burns for Furnace {
        #[inline(never)]
        fn burn_in_trait(&self, turns: u64) -> u64 {
            let mut sum = 0u64;
            for i in 0..turns {
                sum = super::black_box(sum ^ i);
            }
            sum
        }
    }
    #[inline(never)]
    pub fn burn_in_generic<T: Burns>(furnace: &T) -> u64 {
        super::black_box(furnace.burn_in_trait(1_000_000))
    }
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(0.5);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs_f64(seconds) {
        black_box(demo::burn_in_generic(&demo::Furnace));
    }
}
