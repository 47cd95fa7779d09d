//! The whole interface.
use adapvae::{evaluate, inspect, Config, EventType, Format, Model, Stage, Status};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;

const INPUTS: usize = 8;

fn small() -> Config {
    let mut config = Config::new(INPUTS as i32);
    for (name, value) in [
        ("latent", "3"),
        ("hidden1", "16"),
        ("hidden2", "0"),
        ("pretrain_epochs", "30"),
        ("joint_epochs", "4"),
        ("adapt_epochs", "4"),
        ("learning_rate", "0.005"),
        ("block_rows", "200"),
        ("batch", "20"),
        ("max_clusters", "10"),
        ("seed", "3"),
    ] {
        config = config.set(name, value).unwrap();
    }
    config
}

/// Rows of these kinds in turn, and the kind of each.
fn kinds(which: &[usize], count: usize, seed: u32) -> (Vec<f32>, Vec<i32>) {
    let mut state = seed.wrapping_mul(2654435761) | 1;
    let mut noise = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        0.06 * (state as f32 / u32::MAX as f32 - 0.5)
    };
    let mut rows = Vec::new();
    let mut labels = Vec::new();
    for i in 0..count {
        let kind = which[i % which.len()];
        labels.push(kind as i32);
        for j in 0..INPUTS {
            let high = (kind * 37 + 11) >> (j % 6) & 1 ^ j & kind & 1;
            rows.push(0.1 + 0.8 * high as f32 + noise());
        }
    }
    (rows, labels)
}

fn learnt() -> Model {
    let mut model = small().model().unwrap();
    model.learn(&kinds(&[0, 1, 2], 200, 1).0).unwrap();
    model
}

#[test]
fn learns_and_scores() {
    let mut model = learnt();
    let (rows, labels) = kinds(&[0, 1, 2], 150, 2);
    let before = model.to_bytes().unwrap();
    let scores = model.score(&rows).unwrap();
    let ids: Vec<u32> = scores.iter().map(|score| score.id).collect();
    assert!(evaluate(&labels, &ids).unwrap().nmi > 0.8);
    assert!(scores.iter().all(|score| score.is_novel() == (score.novelty > 0.5)));
    let (columns, probability) = model.probabilities(&rows).unwrap();
    for (i, score) in scores.iter().enumerate() {
        let k = columns.iter().position(|&id| id == score.id).unwrap();
        assert_eq!(probability[i * columns.len() + k], score.probability);
    }
    let (mean, variance) = model.encode(&rows).unwrap();
    assert!(variance.iter().all(|&v| v > 0.0));
    assert_eq!(model.decode(&mean).unwrap(), model.reconstruct(&rows).unwrap());
    assert_eq!(model.to_bytes().unwrap(), before, "looking changes nothing");
}

#[test]
fn knows_nothing_at_first() {
    let mut model = small().model().unwrap();
    let score = model.score(&kinds(&[0], 1, 1).0).unwrap()[0];
    assert_eq!((score.id, score.novelty, score.nothing_learnt()), (0, 1.0, true));
    assert_eq!(model.probabilities(&kinds(&[0], 3, 1).0).unwrap(), (vec![], vec![]));
    assert!(model.score(&[]).unwrap().is_empty());
    assert!(model.clusters().is_empty());
}

#[test]
fn refusals_change_nothing() {
    let mut model = learnt();
    let before = model.to_bytes().unwrap();
    let (mut rows, _) = kinds(&[0], 20, 1);
    rows[13 * INPUTS + 2] = f32::NAN;
    let error = model.learn(&rows).unwrap_err();
    assert_eq!((error.status, error.index), (Status::NonFinite, Some(13)));
    let status = |error: adapvae::Error| error.status;
    assert_eq!(model.score(&rows[..9]).map_err(status), Err(Status::ShapeMismatch));
    assert_eq!(model.learn(&[]).err().map(status), Some(Status::ShapeMismatch));
    assert_eq!(model.score_into(&rows[..INPUTS], &mut []).map_err(status), Err(Status::ShapeMismatch));
    let mut two = vec![adapvae::Score::default(); 2];
    assert_eq!(model.score_into(&rows[..INPUTS], &mut two).map_err(status), Err(Status::ShapeMismatch));
    assert_eq!(model.cluster(4000).map_err(status), Err(Status::UnknownCluster));
    assert_eq!(model.explain(&rows[..3], Format::Text).map_err(status), Err(Status::ShapeMismatch));
    assert_eq!(model.label(1, "a\0b").map_err(status), Err(Status::InvalidArgument));
    assert!(model.label(1, &"x".repeat(32)).is_err());
    assert!(model.set("latent", 2).is_err(), "latent is not live");
    assert!(small().set("hiden1", 3).err().unwrap().message.contains("hidden1"));
    assert!(Config::preset("huge").is_err());
    assert!(Config::new(0).model().is_err());
    assert_eq!(Model::from_bytes(&before[1..]).err().map(status), Some(Status::CorruptData));
    assert!(Model::from_bytes(&[]).is_err());
    assert!(inspect(b"x").is_err());
    assert!(Model::load("/nowhere/model").is_err());
    assert!(model.save("/nowhere/model").is_err());
    assert!(evaluate(&[1], &[]).is_err());
    assert_eq!(model.to_bytes().unwrap(), before);
}

#[test]
fn files_go_on_byte_for_byte() {
    let mut model = learnt();
    let folder = std::env::temp_dir().join(format!("adapvae-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    model.save(folder.join("model")).unwrap();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    let mut loaded = Model::load(folder.join("model")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let (rows, _) = kinds(&[0, 1, 2, 3], 200, 5);
    model.learn(&rows).unwrap();
    for part in rows.chunks(40 * INPUTS) {
        loaded.push(part).unwrap();
    }
    assert_eq!(loaded.flush().unwrap().streams, 0);
    assert_eq!(loaded.to_bytes().unwrap(), model.to_bytes().unwrap());
    let told = inspect(&model.to_bytes().unwrap()).unwrap();
    assert_eq!((told.rows, told.version, told.config.get("latent").unwrap()), (400, adapvae::version(), "3".into()));
    assert_eq!(told.config.memory_required().unwrap() as u64, model.info().unwrap().memory_bytes);
}

#[test]
fn progress_stop_and_panic() {
    let mut model = learnt();
    let (rows, _) = kinds(&[0, 1, 2], 200, 5);
    let whole = Arc::new(AtomicBool::new(false));
    let seen = whole.clone();
    model.set_progress(move |stage, fraction| {
        if stage == Stage::Close && fraction == 1.0 {
            seen.store(true, Ordering::Relaxed);
        }
        true
    });
    assert_eq!(model.learn(&rows).unwrap().stopped, 0);
    assert!(whole.load(Ordering::Relaxed));
    // Blocks that bring something new: others are over at once.
    let (rows, _) = kinds(&[3, 4], 200, 6);
    let stopper = model.stopper();
    let also = stopper.clone();
    model.set_progress(move |_, _| {
        also.stop();
        true
    });
    assert_eq!(model.learn(&rows).unwrap().stopped, 1);
    model.set_progress(|_, _| panic!("mine"));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| model.learn(&rows)));
    assert_eq!(caught.err().unwrap().downcast_ref(), Some(&"mine"));
    model.clear_progress();
    model.set_budget(1e-9).unwrap();
    let (rows, _) = kinds(&[5, 6], 200, 7);
    assert_eq!(model.learn(&rows).unwrap().stopped, 1);
    drop(model);
    stopper.stop(); // of a model that is gone
}

#[test]
fn corrections_and_events() {
    let mut model = learnt();
    let clusters = model.clusters();
    let (a, b) = (clusters[0].id, clusters[1].id);
    model.label(a, "größer").unwrap();
    assert_eq!(model.cluster(a).unwrap().name, "größer");
    assert_eq!(model.merge(a, b, false).unwrap_err().status, Status::Refused);
    assert!(model.merge(a, b, true).unwrap() < 0.0);
    assert_eq!(model.resolve(b), Some(a));
    model.undo().unwrap();
    assert_eq!(model.resolve(b), Some(b));
    let events: Vec<_> = model.events(0).collect();
    assert!(events.iter().enumerate().all(|(i, event)| event.sequence == i as u64 + 1));
    assert_eq!(events.last().unwrap().kind(), EventType::Undone);
    assert!(!events[0].to_string().is_empty() && events[0].json().starts_with('{'));
    assert_eq!(model.events(events.len() as u64).count(), 0);
    let (row, _) = kinds(&[7], 1, 1);
    assert!(!model.explain(&row, Format::Text).unwrap().is_empty());
    assert!(model.explain(&row, Format::Json).unwrap().starts_with('{'));
    let drawn = model.generate(Some(a), 4, 5).unwrap();
    assert_eq!((drawn.rows.len(), drawn.features.len(), drawn.ids), (5 * INPUTS, 15, vec![a; 5]));
    assert_eq!(model.generate(None, 4, 0).unwrap().ids, vec![]);
    assert_eq!(model.interpolate(a, b, 4).unwrap().len(), 4 * INPUTS);
    assert!(model.moments(a).unwrap().1[0] > 0.0);
    let (part, _) = model.split(a, true).unwrap();
    model.forget(part).unwrap();
    assert_eq!(model.resolve(part), None);
    model.set_sensitivity(3.0).unwrap();
    assert_eq!(model.config().unwrap().get("sensitivity").unwrap(), "3");
    model.reset().unwrap();
    assert_eq!(model.info().unwrap().clusters, 0);
}

#[test]
fn scorers_beside_a_learner() {
    let mut model = learnt();
    let (rows, _) = kinds(&[0, 1, 2], 200, 6);
    let expected = model.score(&rows).unwrap();
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let (mut scorer, rows, expected) = (model.scorer().unwrap(), rows.clone(), expected.clone());
            thread::spawn(move || {
                for _ in 0..20 {
                    assert_eq!(scorer.score(&rows).unwrap(), expected);
                }
                assert_eq!(scorer.learn(&rows).err().unwrap().status, Status::Unavailable);
            })
        })
        .collect();
    model.learn(&rows).unwrap();
    for thread in threads {
        thread.join().unwrap();
    }
    let mut scorer = Model::scorer_from_bytes(&model.to_bytes().unwrap()).unwrap();
    scorer.update(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(scorer.score(&rows).unwrap(), model.score(&rows).unwrap());
}

#[test]
fn configuration() {
    let fields = adapvae::fields();
    assert!(fields.len() > 70 && adapvae::presets().len() == 4 && !adapvae::instruction_set().is_empty());
    // The declarations lie as the library's do: every default is where its name says.
    let mut config = Config::new(7);
    assert_eq!(config.raw().inputs, 7);
    assert_eq!(config.raw().sensitivity, 1.0);
    assert_eq!(config.raw().false_alarm_rate, 0.01);
    let config = small().set("drift", "shift").unwrap().set("kinds", "off").unwrap();
    let model = config.model().unwrap();
    assert_eq!(model.config().unwrap().get("drift").unwrap(), "shift");
    assert!(config.get("nothing").is_err());
}

#[test]
fn gains_of_two_workers() {
    let (rows, _) = kinds(&[0, 1, 2], 600, 7);
    let mut base = learnt();
    let bytes = base.to_bytes().unwrap();
    let mut worker = Model::from_bytes(&bytes).unwrap();
    let half = rows.len() / 2;
    let a = base.gain(&rows[..half], 1, 1).unwrap();
    let b = worker.gain(&rows[half..], 2, 1).unwrap();
    assert_eq!(base.to_bytes().unwrap(), bytes);
    let set = adapvae::merge_gains(&b, &a).unwrap();
    assert_eq!(adapvae::merge_gains(&a, &adapvae::merge_gains(&set, &b).unwrap()).unwrap(), set);
    let found = adapvae::inspect_gains(&set).unwrap();
    assert_eq!((found.gains, found.rows, found.base_streams), (2, 600, 1));
    let (report, aliases) = base.apply_gains(&set).unwrap();
    assert_eq!((report.rows, aliases.len()), (600, found.born));
    assert_eq!(base.apply_gains(&set).err().unwrap().status, Status::Late);
    assert_eq!(base.info().unwrap().rows, 800);
    let mut other = small().set("seed", "9").unwrap().model().unwrap();
    other.learn(&rows[..half / 2]).unwrap();
    assert_eq!(other.apply_gains(&set).err().unwrap().status, Status::Foreign);
    assert!(adapvae::inspect_gains(&set[1..]).is_err());
}
