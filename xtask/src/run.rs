//! What the stages of one run share: the programs that were built, the directory of their logs.

use crate::controlplane::{self, Building};
use crate::real::built::{self, Built};
use crate::tally::Tally;
use crate::{go, guard};
use std::path::{Path, PathBuf};

/// How a stage ended, if nothing failed.
pub(crate) enum Ending {
    Passed,
    /// Nothing ran; the words say why, and what to add.
    LeftOut(String),
}

/// One run of the test command.
#[derive(Default)]
pub(crate) struct Run {
    pub(crate) tally: Tally,
    /// Whether every play of faults is asked for.
    pub(crate) all_faults: bool,
    built: Option<Built>,
    building: Option<Building>,
    control_plane: Option<Result<PathBuf, String>>,
    directory: Option<PathBuf>,
}

impl Run {
    pub(crate) fn new(all_faults: bool) -> Self {
        Self { all_faults, ..Self::default() }
    }

    /// Begins to build the control plane's program, beside whatever comes first.
    pub(crate) fn build_control_plane(&mut self) {
        if self.building.is_none() && self.control_plane.is_none() {
            self.building = Some(controlplane::build());
        }
    }

    /// The control plane's program; the inner error says why there is none here, the outer one what
    /// doesn't build.
    pub(crate) fn control_plane(&mut self) -> Result<Result<PathBuf, String>, String> {
        if self.control_plane.is_none() {
            self.build_control_plane();
            let building = self.building.take().expect("it was begun a moment ago");
            self.control_plane = Some(building.wait()?);
        }
        Ok(self.control_plane.clone().expect("it was set a moment ago"))
    }

    /// Why nothing that is written in Go can be run; `None` if it can.
    pub(crate) fn without_go(&mut self) -> Result<Option<String>, String> {
        if !go::is_there()? {
            return Ok(Some(controlplane::WITHOUT_GO.to_owned()));
        }
        // Modules are fetched before the program is built.
        Ok(self.control_plane()?.err())
    }

    /// Our own programs.
    pub(crate) fn built(&mut self) -> Result<&Built, String> {
        if self.built.is_none() {
            self.built = Some(built::programs()?);
        }
        Ok(self.built.as_ref().expect("it was set a moment ago"))
    }

    /// A new directory for a stage, that only this user can read: private keys are going to lie there.
    pub(crate) fn directory(&mut self, stage: &str) -> Result<PathBuf, String> {
        let base = std::env::temp_dir().join(format!("sluice-test-{}", std::process::id()));
        let path = base.join(stage);
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let made = builder.recursive(true).create(&path);
        made.map_err(|error| format!("{}: {error}", path.display()))?;
        println!("                logs and state are in {}", path.display());
        self.directory = Some(base);
        Ok(path)
    }

    /// What is left of a stage that passed is only a nuisance.
    pub(crate) fn forget(&self, stage: &str) {
        if let Some(base) = &self.directory {
            let _ = std::fs::remove_dir_all(base.join(stage));
            // It stays while another stage's is in it.
            let _ = std::fs::remove_dir(base);
        }
    }

    /// Where logs were left.
    pub(crate) fn logs(&self) -> Option<&Path> {
        self.directory.as_deref().filter(|base| base.is_dir())
    }

    /// Ends whatever is still under way.
    pub(crate) fn stop(&mut self) {
        guard::end_all();
        if let Some(building) = self.building.take() {
            building.abandon();
        }
    }
}
