// SPDX-License-Identifier: Apache-2.0

//! What Rust programs do all day: threads, channels, hash maps, trait objects, sorting,
//! strings, allocation, system calls and a panic that is caught.
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Mutex};

trait Shape {
    fn area(&self) -> f64;
}

struct Square(f64);
struct Circle(f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.0.sin().abs() * self.0.powf(1.9) * std::f64::consts::PI
    }
}

struct Numbers(u64);

impl Iterator for Numbers {
    type Item = u64;
    fn next(&mut self) -> Option<u64> {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        Some(self.0 >> 33)
    }
}

fn shapes(seed: u64) -> f64 {
    let list: Vec<Box<dyn Shape>> = Numbers(seed)
        .take(5000)
        .map(|n| -> Box<dyn Shape> {
            if n % 2 == 0 {
                Box::new(Square(n as f64))
            } else {
                Box::new(Circle(n as f64))
            }
        })
        .collect();
    list.iter().map(|s| s.area()).sum()
}

fn words(seed: u64) -> usize {
    let text: Vec<String> = Numbers(seed).take(5000).map(|n| format!("word-{}", n % 999)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in &text {
        *counts.entry(word).or_insert(0) += 1;
    }
    let ordered: BTreeMap<_, _> = counts.into_iter().collect();
    ordered.keys().map(|k| k.to_uppercase()).collect::<Vec<_>>().join(" ").len()
}

fn sorted(seed: u64) -> u64 {
    let mut list: Vec<(u64, String)> =
        Numbers(seed).take(4000).map(|n| (n, n.to_string())).collect();
    list.sort_by(|a, b| a.1.cmp(&b.1));
    list.sort_unstable();
    list[list.len() / 2].0
}

fn tree(depth: u32) -> Option<Box<(Option<Box<()>>, u32)>> {
    if depth == 0 {
        return None;
    }
    let below = tree(depth - 1).map_or(0, |b| b.1) + tree(depth - 1).map_or(0, |b| b.1);
    Some(Box::new((Some(Box::new(())), below + 1)))
}

fn caught(n: u64) -> bool {
    std::panic::catch_unwind(|| {
        if n > 0 {
            panic!("number {}", n);
        }
    })
    .is_err()
}

fn system_calls() {
    let mut out = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
    for n in 0..200 {
        writeln!(out, "line {}", n).unwrap();
    }
}

fn worker(number: u64, total: Arc<Mutex<f64>>, done: Sender<usize>) {
    for turn in 0.. {
        let seed = number * 1000 + turn;
        let sum = shapes(seed) + sorted(seed) as f64;
        system_calls();
        *total.lock().unwrap() += sum + f64::from(tree(10).map_or(0, |b| b.1));
        let count = words(seed) + usize::from(caught(seed + 1));
        if done.send(count).is_err() {
            return;
        }
    }
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let total = Arc::new(Mutex::new(0.0));
    let (sender, receiver) = channel();
    for number in 0..4 {
        let (total, done) = (total.clone(), sender.clone());
        std::thread::spawn(move || worker(number, total, done));
    }
    drop(sender);
    let count: usize = receiver.iter().sum();
    println!("{} {}", count, total.lock().unwrap());
}
