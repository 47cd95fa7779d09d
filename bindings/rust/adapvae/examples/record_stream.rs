//! Learns rows stream by stream and tells what came of it: the golden stream of tests/bindings.
//!
//!     record_stream ROWS STREAM_ROWS MODEL_OUT preset=NAME [FIELD=VALUE]...
//!
//! ROWS: little-endian floats. One JSON object a line: every stream's report, every cluster, every row's score.
use adapvae::Config;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    if words.len() < 5 {
        return Err("usage: record_stream ROWS STREAM_ROWS MODEL_OUT preset=NAME [FIELD=VALUE]...".into());
    }
    let rows: Vec<f32> = std::fs::read(&words[1])?
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
        .collect();
    let mut config = Config::preset(words[4].trim_start_matches("preset="))?;
    for word in &words[5..] {
        let (name, value) = word.split_once('=').ok_or("FIELD=VALUE")?;
        config = config.set(name, value)?;
    }
    let mut model = config.model()?;
    let block = words[2].parse::<usize>()? * model.inputs();
    for (i, stream) in rows.chunks(block).enumerate() {
        let r = model.learn(stream)?;
        println!(
            r#"{{"stream":{},"clusters":{},"births":{},"bound":{},"loss":{}}}"#,
            i, r.clusters, r.births, r.bound, r.loss
        );
    }
    for c in model.clusters() {
        println!(r#"{{"cluster":{},"components":{},"parent":{},"rows":{}}}"#, c.id, c.components, c.parent, c.rows);
    }
    for s in model.score(&rows)? {
        println!(r#"{{"id":{},"component":{},"novelty":{}}}"#, s.id, s.component, s.novelty);
    }
    model.save(&words[3])?;
    Ok(())
}
