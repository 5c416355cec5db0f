//! The rules for the steps of a Rollout.

use api::Severity;
use api::batches::{Context, Rules};
use serde_json::{Value, json};

use super::{STEPS, accept, errors, old_steps, refuse, said, steps, with};

#[test]
fn a_rollout_has_steps_and_steps_have_sizes() {
    let empty = "The number of Canary.Steps cannot be empty";
    refuse(&steps(json!([])), STEPS, empty);
    refuse(&steps(json!(null)), STEPS, empty);
    refuse(&old_steps(json!([])), STEPS, empty);
    let none = "replicas cannot be empty";
    refuse(
        &steps(json!([{"replicas": 1}, {}, {"replicas": "100%"}])),
        &format!("{STEPS}[1].replicas"),
        none,
    );
    let none = "weight and replicas cannot be empty at the same time";
    refuse(&old_steps(json!([{}, {"replicas": "100%"}])), &format!("{STEPS}[0]"), none);
}

#[test]
fn sizes_are_above_nothing_and_at_most_everything() {
    let words = "replicas must be positive number, or a percentage with \"0%\" < canaryReplicas <= \
                 \"100%\"";
    let wrong = [
        json!(0),
        json!(-1),
        json!("0%"),
        json!("101%"),
        json!("-5%"),
        json!("5"),
        json!("half"),
        json!(""),
        json!(2_147_483_648_i64),
        json!(1.5),
    ];
    for size in wrong {
        let path = format!("{STEPS}[0].replicas");
        let list = json!([{"replicas": size}, {"replicas": "100%"}]);
        refuse(&steps(list.clone()), &path, words);
        refuse(&old_steps(list), &path, words);
    }
    for size in [json!(1), json!("1%"), json!("100%")] {
        accept(&steps(json!([{"replicas": size}, {"replicas": "100%"}])));
    }
}

#[test]
fn steps_of_one_type_do_not_go_back() {
    let words = "Steps.CanaryReplicas must be a non decreasing sequence";
    let check = |sizes: [Value; 3], at: Option<usize>| {
        let list: Vec<Value> = sizes.iter().map(|size| json!({"replicas": size})).collect();
        for object in [steps(json!(list)), old_steps(json!(list))] {
            match at {
                Some(index) => refuse(&object, &format!("{STEPS}[{index}].replicas"), words),
                None => accept(&object),
            }
        }
    };
    check([json!(5), json!(4), json!("100%")], Some(1));
    check([json!("20%"), json!("20%"), json!("10%")], Some(2));
    check([json!("20%"), json!("20%"), json!("100%")], None);
    // Which of these is more depends on the workload.
    check([json!("20%"), json!(5), json!("10%")], None);
    let weights = old_steps(json!([{"weight": 20}, {"replicas": "10%"}, {"replicas": "100%"}]));
    refuse(&weights, &format!("{STEPS}[1].replicas"), words);
}

#[test]
fn at_most_50_steps_where_the_original_has_that_limit() {
    let many = json!(vec![json!({"replicas": "100%"}); 51]);
    refuse(&steps(many.clone()), STEPS, "has 51 entries, at most 50 are allowed");
    accept(&old_steps(many));
}

#[test]
fn a_step_with_traffic_is_a_small_one_and_its_traffic_a_share() {
    let path = |key: &str| format!("{STEPS}[0].{key}");
    let words = "For partition style rollout: step[x].replicas must not greater than \
                 partition-percent-limit if traffic specified";
    let one = |step: Value| steps(json!([step, {"replicas": "100%"}]));
    refuse(&one(json!({"replicas": "51%", "traffic": "5%"})), &path("replicas"), words);
    refuse(&one(json!({"replicas": "51%", "matches": [{}]})), &path("replicas"), words);
    accept(&one(json!({"replicas": "51%", "matches": []})));
    accept(&one(json!({"replicas": "50%", "traffic": "5%"})));
    accept(&one(json!({"replicas": 51, "traffic": "100%"})));
    let words = "traffic must be percentage with \"0%\" < traffic <= \"100%\" in canary strategy";
    for traffic in ["0%", "101%", "5", "much", ""] {
        refuse(&one(json!({"replicas": 1, "traffic": traffic})), &path("traffic"), words);
    }
    let rules = Rules { partition_percent_limit: 60, ..Rules::default() };
    let context = Context { rules, ..Context::default() };
    let step = one(json!({"replicas": "60%", "traffic": "5%"}));
    assert_eq!(said(&step, &context, Severity::Error), []);
}

#[test]
fn a_weight_alone_is_a_small_share() {
    let path = format!("{STEPS}[0].weight");
    let one = |step: Value| old_steps(json!([step, {"replicas": "100%"}]));
    let words = "weight must be positive number, and less than or equal to \
                 replicasLimitWithTraffic (defaults to 30)";
    for weight in [0, -1, 101] {
        refuse(&one(json!({ "weight": weight })), &path, words);
    }
    let words = "For patition style rollout: step[x].weight must not greater than \
                 replicasLimitWithTraffic if replicas is not specified";
    refuse(&one(json!({"weight": 51})), &path, words);
    accept(&one(json!({"weight": 50})));
    let words = "For patition style rollout: step[x].replicas must not greater than \
                 replicasLimitWithTraffic if traffic or matches specified";
    let replicas = format!("{STEPS}[0].replicas");
    refuse(&one(json!({"weight": 5, "replicas": "51%"})), &replicas, words);
    refuse(&one(json!({"matches": [], "replicas": "51%"})), &replicas, words);
    let routed = with(
        old_steps(json!([
            {"weight": 20, "replicas": 1}, {"weight": 10, "replicas": 2}, {"replicas": "100%"},
        ])),
        "/spec/strategy/canary/trafficRoutings",
        json!([{"service": "web"}]),
    );
    let words = "Steps.Weight must be a non decreasing sequence";
    assert!(errors(&routed).contains(&(format!("{STEPS}[1].weight"), words.into())));
}
