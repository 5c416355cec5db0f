//! What a session may print otherwise on the embedded cluster, each with its reason.

/// Session, beginning of the command, why. One that no longer differs has to leave the list.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("describe", "kubectl describe node", "no Event of a Node that arrives"),
    ("discovery", "kubectl api-resources --api-group=''", "no Bindings, no ComponentStatuses"),
    ("discovery", "kubectl api-resources --namespaced", "no ComponentStatuses"),
    ("discovery", "kubectl api-resources -o name", "no Bindings, no ComponentStatuses"),
    ("rights", "kubectl get cm settings --token", "kubectl sends no token over plain HTTP"),
];

/// Why this command may print something else, if it may.
pub fn allowed(session: &str, command: &str) -> Option<&'static str> {
    ALLOWED
        .iter()
        .find(|(of, begins, _)| *of == session && command.starts_with(begins))
        .map(|(_, _, why)| *why)
}
