//! Plays seeds by hand: `cargo xtask simulate --seed 17`.

use clap::Parser;
use simulation::{Report, Trouble, in_virtual_time, play};

/// Plays simulations of the whole operator and says which promises were broken.
#[derive(Parser)]
struct Flags {
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many seeds.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// The rate of each kind of fault.
    #[arg(long, default_value_t = 0.02)]
    rate: f64,
    /// Print every request of the operator.
    #[arg(long)]
    log: bool,
}

fn main() -> std::process::ExitCode {
    let flags = Flags::parse();
    let mut failed = 0;
    for seed in flags.seed..flags.seed + flags.seeds {
        let report = in_virtual_time(play(seed, Trouble::Rate(seed, flags.rate)));
        failed += u64::from(!report.broken.is_empty());
        show(seed, &report, flags.log);
    }
    println!("{} of {} seeds kept every promise", flags.seeds - failed, flags.seeds);
    if failed == 0 { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
}

fn show(seed: u64, report: &Report, log: bool) {
    if log {
        for line in &report.log {
            println!("{line}");
        }
    }
    println!(
        "seed {seed}: {} after {} virtual seconds, {} requests, {} writes",
        report.end,
        report.took.as_secs(),
        report.log.len(),
        report.writes
    );
    for words in &report.broken {
        println!("  BROKEN {words}");
    }
}
