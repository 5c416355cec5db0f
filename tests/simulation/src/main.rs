//! Plays seeds by hand: `cargo xtask simulate --seed 17`.

use clap::Parser;
use simulation::batches::kind::{KRUISE, Kind, NATIVE};
use simulation::{Report, Trouble, batches, bedrock, in_virtual_time};

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
    /// Play a Rollout in batches, instead of a StatefulsetRollout.
    #[arg(long)]
    batches: bool,
    /// In batches: of a workload of Kruise, instead of one of Kubernetes.
    #[arg(long)]
    kruise: bool,
    /// Print every request of the operator.
    #[arg(long)]
    log: bool,
    /// Measure one rollout of that many Pods instead: a tenth at a time, 20 s each to start up.
    #[arg(long)]
    pods: Option<u32>,
    /// Of which kind they are, in batches.
    #[arg(long, default_value = "Deployment")]
    kind: String,
}

fn main() -> std::process::ExitCode {
    let flags = Flags::parse();
    match flags.pods {
        Some(pods) if flags.batches => return measure_batches(&flags.kind, pods),
        Some(pods) => return measure(pods),
        None => {}
    }
    let kinds = if flags.kruise { &KRUISE } else { &NATIVE };
    let mut failed = 0;
    for seed in flags.seed..flags.seed + flags.seeds {
        let trouble = Trouble::Rate(seed, flags.rate);
        let report = match flags.batches {
            true => in_virtual_time(batches::play(seed, kinds, trouble)),
            false => in_virtual_time(bedrock::play(seed, trouble)),
        };
        if flags.log && flags.batches {
            println!("{:#?}", batches::script::Script::of(seed, kinds));
        }
        failed += u64::from(!report.broken.is_empty());
        show(seed, &report, flags.log);
    }
    println!("{} of {} seeds kept every promise", flags.seeds - failed, flags.seeds);
    if failed == 0 { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
}

#[expect(clippy::disallowed_methods, reason = "wall time is what is measured")]
fn measure_batches(kind: &str, pods: u32) -> std::process::ExitCode {
    let Some(kind) = Kind::named(kind) else {
        let kinds: Vec<&str> = Kind::all().map(|kind| kind.name).collect();
        eprintln!("there is no kind {kind:?}; there are {}", kinds.join(", "));
        return std::process::ExitCode::FAILURE;
    };
    let began = std::time::Instant::now();
    let batches = in_virtual_time(batches::bench::release(kind, pods, 1));
    println!("{kind} of {pods} Pods, 1 s each to start up, steps 20/60/100 %, pauses of 1 s");
    println!("wall time {:.2} s, creation of the Pods included", began.elapsed().as_secs_f64());
    for (number, batch) in batches.iter().enumerate() {
        let name = ["20 %", "60 %", "100 %", "given back"][number];
        println!("{name}: virtual time {:.1} s", batch.took.as_secs_f64());
        for (kind, number) in &batch.requests {
            println!("  {number:>6} {kind}");
        }
    }
    std::process::ExitCode::SUCCESS
}

#[expect(clippy::disallowed_methods, reason = "wall time is what is measured")]
fn measure(pods: u32) -> std::process::ExitCode {
    let began = std::time::Instant::now();
    let cost = in_virtual_time(simulation::bedrock::bench::roll(pods, pods.div_ceil(10), 20));
    let wall = began.elapsed();
    let ratio = cost.took.as_secs_f64() / cost.least.as_secs_f64();
    println!("{pods} Pods, {} at a time, 20 s each to start up", pods.div_ceil(10));
    println!("virtual time {:.1} s, {ratio:.2} of the least possible", cost.took.as_secs_f64());
    println!("wall time {:.2} s, creation of the Pods included", wall.as_secs_f64());
    println!("requests of the operator during the rollout:");
    for (kind, number) in &cost.requests {
        println!("  {number:>6} {kind}");
    }
    println!("requests in the ten minutes after it:");
    for (kind, number) in &cost.after {
        println!("  {number:>6} {kind}");
    }
    std::process::ExitCode::SUCCESS
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
