//! placeholder
use crate::exit::Outcome;
use crate::out::Out;
#[derive(clap::Args, Debug)]
pub struct Flags {}
pub async fn run(_: &Flags, _: &mut Out) -> Outcome { Ok(crate::exit::Exit::Done) }
