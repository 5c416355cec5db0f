//! Kruise on the cluster of a kubeconfig, until it is ended:
//! `cargo run -p kruise --example drive -- KUBECONFIG`.

use std::path::PathBuf;
use std::process::ExitCode;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("which kubeconfig?");
        return ExitCode::FAILURE;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime.expect("a runtime").block_on(async {
        let config = Kubeconfig::read_from(path)?;
        let options = KubeConfigOptions::default();
        let mut config = Config::from_custom_kubeconfig(config, &options).await?;
        config.default_retry = false;
        let driver = kruise::install_all(&Client::try_from(config)?).await?;
        println!("Kruise is there");
        driver.drive(std::future::pending()).await?;
        Ok::<(), Box<dyn std::error::Error>>(())
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
