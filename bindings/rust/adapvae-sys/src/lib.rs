//! The C API of adapvae.h, which is the manual. Made by declare.py, not by hand.
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_void};

pub const ADAPVAE_VERSION_MAJOR: i32 = 0;
pub const ADAPVAE_VERSION_MINOR: i32 = 1;
pub const ADAPVAE_VERSION_PATCH: i32 = 0;
pub const ADAPVAE_NAME_BYTES: usize = 32;
pub type adapvae_status = i32;
pub type adapvae_id = u32;
pub const ADAPVAE_NO_ID: adapvae_id = 0;
pub const ADAPVAE_BACKEND_AUTO: i32 = 0;
pub const ADAPVAE_BACKEND_CPU: i32 = 1;
pub const ADAPVAE_BACKEND_CUDA: i32 = 2;
pub const ADAPVAE_OK: i32 = 0;
pub const ADAPVAE_INVALID_ARGUMENT: i32 = 1;
pub const ADAPVAE_SHAPE_MISMATCH: i32 = 2;
pub const ADAPVAE_NON_FINITE: i32 = 3;
pub const ADAPVAE_UNKNOWN_CLUSTER: i32 = 4;
pub const ADAPVAE_OUT_OF_MEMORY: i32 = 20;
pub const ADAPVAE_UNAVAILABLE: i32 = 21;
pub const ADAPVAE_CORRUPT_DATA: i32 = 40;
pub const ADAPVAE_NEWER_FORMAT: i32 = 41;
pub const ADAPVAE_BUSY: i32 = 60;
pub const ADAPVAE_REFUSED: i32 = 61;
pub const ADAPVAE_NO_MORE: i32 = 62;
pub const ADAPVAE_LATE: i32 = 63;
pub const ADAPVAE_FOREIGN: i32 = 64;
pub const ADAPVAE_DIVERGED: i32 = 65;
pub const ADAPVAE_STAGE_PRETRAIN: i32 = 0;
pub const ADAPVAE_STAGE_ADAPT: i32 = 1;
pub const ADAPVAE_STAGE_EMBED: i32 = 2;
pub const ADAPVAE_STAGE_BIRTHS: i32 = 3;
pub const ADAPVAE_STAGE_JOINT: i32 = 4;
pub const ADAPVAE_STAGE_CLOSE: i32 = 5;
pub const ADAPVAE_PROVISIONAL: u32 = 1;
pub const ADAPVAE_NOTHING_LEARNT: u32 = 2;
pub const ADAPVAE_NOVEL: u32 = 4;
pub const ADAPVAE_BORN: i32 = 0;
pub const ADAPVAE_MERGED: i32 = 1;
pub const ADAPVAE_RETIRED: i32 = 2;
pub const ADAPVAE_NOT_BORN: i32 = 3;
pub const ADAPVAE_FORGOTTEN: i32 = 4;
pub const ADAPVAE_SPLIT: i32 = 5;
pub const ADAPVAE_NOTICED: i32 = 6;
pub const ADAPVAE_LABELLED: i32 = 7;
pub const ADAPVAE_UNDONE: i32 = 8;
pub const ADAPVAE_DRIFTED: i32 = 9;
pub const ADAPVAE_REPAIRED: i32 = 10;
pub const ADAPVAE_LEARNT: i32 = 11;
pub const ADAPVAE_RESCALED: i32 = 12;
pub const ADAPVAE_WARNED: i32 = 13;
pub const ADAPVAE_REASON_NONE: i32 = 0;
pub const ADAPVAE_REASON_BOUND: i32 = 1;
pub const ADAPVAE_REASON_ROWS: i32 = 2;
pub const ADAPVAE_REASON_ROOM: i32 = 3;
pub const ADAPVAE_REASON_ONE: i32 = 4;
pub const ADAPVAE_REASON_COVARIANCE: i32 = 5;
pub const ADAPVAE_REASON_STEP: i32 = 6;
pub const ADAPVAE_REASON_RATE: i32 = 7;
pub const ADAPVAE_REASON_KNOWN: i32 = 8;
pub const ADAPVAE_REASON_RANGE: i32 = 9;
pub const ADAPVAE_REASON_CAPACITY: i32 = 10;
pub const ADAPVAE_REASON_STUCK: i32 = 11;
pub const ADAPVAE_REASON_TRAINING: i32 = 12;
pub const ADAPVAE_REASON_MISSING: i32 = 13;
pub const ADAPVAE_TEXT: i32 = 0;
pub const ADAPVAE_JSON: i32 = 1;

#[repr(C)]
pub struct adapvae_model {
    _private: [u8; 0],
}

pub type adapvae_task = Option<unsafe extern "C" fn(argument: *mut c_void, index: i32)>;
pub type adapvae_progress = Option<unsafe extern "C" fn(context: *mut c_void, stage: i32, fraction: f64) -> i32>;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_error {
    pub struct_size: u32,
    pub status: adapvae_status,
    pub index: i32,
    pub reserved: i32,
    pub message: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_config {
    pub struct_size: u32,
    pub reserved: u32,
    pub inputs: i32,
    pub latent: i32,
    pub hidden1: i32,
    pub hidden2: i32,
    pub hidden3: i32,
    pub hidden4: i32,
    pub scale_inputs: i32,
    pub missing_values: i32,
    pub likelihood: i32,
    pub likelihood_variance: f64,
    pub activation: i32,
    pub initialisation: i32,
    pub covariance: i32,
    pub max_clusters: i32,
    pub block_rows: i32,
    pub pass_rows: i32,
    pub replay_rows: i32,
    pub pending_rows: i32,
    pub aliases: i32,
    pub undo_steps: i32,
    pub events: i32,
    pub restore_on_failure: i32,
    pub seed: u64,
    pub batch: i32,
    pub pretrain_epochs: i32,
    pub adapt_epochs: i32,
    pub joint_epochs: i32,
    pub sweeps: i32,
    pub freeze_encoder_after: i32,
    pub neighbour_epochs: i32,
    pub neighbour_weight: f64,
    pub learning_rate: f64,
    pub prior_weight: f64,
    pub pretrain_mask_probability: f64,
    pub pretrain_noise: f64,
    pub joint_mask_probability: f64,
    pub joint_noise: f64,
    pub image_width: i32,
    pub image_height: i32,
    pub image_channels: i32,
    pub augment: i32,
    pub augment_shift: f64,
    pub augment_rotation: f64,
    pub augment_scale: f64,
    pub augment_shear: f64,
    pub replay_ratio: f64,
    pub replay_balance: f64,
    pub replay_radius: f64,
    pub replay_filter: i32,
    pub drift: i32,
    pub distillation: f64,
    pub replay_in_fit: i32,
    pub prior_mode: i32,
    pub learn_concentration: i32,
    pub prior_scale: f64,
    pub prior_beta: f64,
    pub prior_strength: f64,
    pub concentration: f64,
    pub row_weight: f64,
    pub effective_rows: f64,
    pub effective_part: f64,
    pub laps: i32,
    pub rounds: i32,
    pub divisions: i32,
    pub merge_old_with_new: i32,
    pub unexplained_births: i32,
    pub birth_novelty: f64,
    pub hysteresis_streams: i32,
    pub hysteresis_growth: f64,
    pub pending_part: f64,
    pub pending_streams: i32,
    pub kinds: i32,
    pub kind_resolution: f64,
    pub half_life_rows: f64,
    pub half_life_time: f64,
    pub false_alarm_rate: f64,
    pub sensitivity: f64,
    pub novelty_error_weight: f64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_field {
    pub struct_size: u32,
    pub r#type: i32,
    pub live: i32,
    pub reserved: i32,
    pub lowest: f64,
    pub highest: f64,
    pub preset: f64,
    pub name: *const c_char,
    pub group: *const c_char,
    pub choices: *const c_char,
    pub sentence: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_options {
    pub struct_size: u32,
    pub backend: i32,
    pub memory: *mut c_void,
    pub memory_bytes: usize,
    pub allocate: Option<unsafe extern "C" fn(context: *mut c_void, bytes: usize, alignment: usize) -> *mut c_void>,
    pub release: Option<unsafe extern "C" fn(context: *mut c_void, memory: *mut c_void, bytes: usize, alignment: usize)>,
    pub allocate_context: *mut c_void,
    pub parallel_for: Option<unsafe extern "C" fn(context: *mut c_void, count: i32, task: adapvae_task, argument: *mut c_void)>,
    pub parallel_context: *mut c_void,
    pub threads: i32,
    pub in_place: i32,
    pub clock: Option<unsafe extern "C" fn(context: *mut c_void) -> f64>,
    pub clock_context: *mut c_void,
    pub max_memory_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_report {
    pub struct_size: u32,
    pub streams: i32,
    pub rows: i32,
    pub clusters: i32,
    pub components: i32,
    pub births: i32,
    pub merges: i32,
    pub retirements: i32,
    pub refusals: i32,
    pub replay_rows: i32,
    pub drifted: i32,
    pub stopped: i32,
    pub bound: f64,
    pub loss: f64,
    pub log_likelihood: f64,
    pub mixture: f64,
    pub entropy: f64,
    pub distillation: f64,
    pub replay_accuracy: f64,
    pub largest_drift: f64,
    pub skipped_steps: u64,
    pub repairs: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_result {
    pub id: adapvae_id,
    pub component: adapvae_id,
    pub probability: f32,
    pub novelty: f32,
    pub log_density: f32,
    pub flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_info {
    pub struct_size: u32,
    pub clusters: i32,
    pub rows_waiting: i32,
    pub undo_steps: i32,
    pub streams: u64,
    pub rows: u64,
    pub ids_given: u64,
    pub events: u64,
    pub memory_bytes: u64,
    pub snapshot_bytes: u64,
    pub time: f64,
    pub backend: *const c_char,
    pub scores_only: i32,
    pub latent: i32,
    pub inputs: i32,
    pub block_rows: i32,
    pub components: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_cluster {
    pub struct_size: u32,
    pub id: adapvae_id,
    pub components: i32,
    pub parent: adapvae_id,
    pub born_stream: u64,
    pub seen_stream: u64,
    pub rows: f64,
    pub weight: f64,
    pub birth_rows: f64,
    pub birth_gain: f64,
    pub provisional: i32,
    pub name: [c_char; ADAPVAE_NAME_BYTES],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_event {
    pub struct_size: u32,
    pub r#type: i32,
    pub reason: i32,
    pub missed: i32,
    pub sequence: u64,
    pub stream: u64,
    pub id: adapvae_id,
    pub other: adapvae_id,
    pub gain: f64,
    pub rows: f64,
    pub clusters: i32,
    pub input: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_snapshot {
    pub struct_size: u32,
    pub clusters: i32,
    pub format: u64,
    pub streams: u64,
    pub rows: u64,
    pub rows_waiting: u64,
    pub events: u64,
    pub time: f64,
    pub version: [c_char; 32],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_gain_key {
    pub worker: u64,
    pub sequence: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_gains {
    pub struct_size: u32,
    pub gains: i32,
    pub born: i32,
    pub clusters: i32,
    pub rows: u64,
    pub base_streams: u64,
    pub base_mark: u64,
    pub encoder_mark: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_alias {
    pub worker: u64,
    pub sequence: u64,
    pub local: adapvae_id,
    pub id: adapvae_id,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct adapvae_metrics {
    pub struct_size: u32,
    pub rows: i32,
    pub labels: i32,
    pub clusters: i32,
    pub nmi: f64,
    pub nmi_geometric: f64,
    pub ari: f64,
    pub homogeneity: f64,
    pub completeness: f64,
    pub v_measure: f64,
    pub accuracy: f64,
    pub purity: f64,
}

extern "C" {
    pub fn adapvae_version_number() -> i32;
    pub fn adapvae_version_string() -> *const c_char;
    pub fn adapvae_backend_available(backend: i32) -> i32;
    pub fn adapvae_instruction_set() -> *const c_char;
    pub fn adapvae_status_name(status: adapvae_status) -> *const c_char;
    pub fn adapvae_last_error(model: *const adapvae_model, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_config_init(config: *mut adapvae_config, struct_size: u32) -> adapvae_status;
    pub fn adapvae_config_preset(config: *mut adapvae_config, name: *const c_char, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_preset_name(index: i32) -> *const c_char;
    pub fn adapvae_config_for_rows(config: *mut adapvae_config, rows: *const f32, count: i32, inputs: i32, stride: i32, why: *mut *const c_char, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_config_set(config: *mut adapvae_config, name: *const c_char, value: *const c_char, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_config_get(config: *const adapvae_config, name: *const c_char, text: *mut c_char, capacity: usize, needed: *mut usize) -> adapvae_status;
    pub fn adapvae_config_field(index: i32, field: *mut adapvae_field) -> adapvae_status;
    pub fn adapvae_memory_required(config: *const adapvae_config, options: *const adapvae_options, bytes: *mut usize, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_create(config: *const adapvae_config, options: *const adapvae_options, model: *mut *mut adapvae_model, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_create_from(bytes: *const c_void, size: usize, options: *const adapvae_options, model: *mut *mut adapvae_model, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_create_scorer(model: *mut adapvae_model, options: *const adapvae_options, scorer: *mut *mut adapvae_model, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_create_scorer_from(bytes: *const c_void, size: usize, options: *const adapvae_options, scorer: *mut *mut adapvae_model, bytes_required: *mut usize, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_reset(model: *mut adapvae_model) -> adapvae_status;
    pub fn adapvae_destroy(model: *mut adapvae_model);
    pub fn adapvae_learn(model: *mut adapvae_model, rows: *const f32, count: i32, stride: i32, report: *mut adapvae_report) -> adapvae_status;
    pub fn adapvae_push(model: *mut adapvae_model, rows: *const f32, count: i32, stride: i32, report: *mut adapvae_report) -> adapvae_status;
    pub fn adapvae_flush(model: *mut adapvae_model, report: *mut adapvae_report) -> adapvae_status;
    pub fn adapvae_set_time(model: *mut adapvae_model, time: f64) -> adapvae_status;
    pub fn adapvae_set_budget(model: *mut adapvae_model, seconds_per_stream: f64) -> adapvae_status;
    pub fn adapvae_set_progress(model: *mut adapvae_model, progress: adapvae_progress, context: *mut c_void) -> adapvae_status;
    pub fn adapvae_stop(model: *mut adapvae_model);
    pub fn adapvae_score(model: *mut adapvae_model, rows: *const f32, count: i32, stride: i32, results: *mut adapvae_result) -> adapvae_status;
    pub fn adapvae_probabilities(model: *mut adapvae_model, rows: *const f32, count: i32, stride: i32, out: *mut f32) -> adapvae_status;
    pub fn adapvae_encode(model: *mut adapvae_model, rows: *const f32, count: i32, stride: i32, mean: *mut f32, variance: *mut f32) -> adapvae_status;
    pub fn adapvae_decode(model: *mut adapvae_model, features: *const f32, count: i32, stride: i32, rows: *mut f32) -> adapvae_status;
    pub fn adapvae_reconstruct(model: *mut adapvae_model, rows: *const f32, count: i32, stride: i32, out: *mut f32) -> adapvae_status;
    pub fn adapvae_generate(model: *mut adapvae_model, id: adapvae_id, seed: u32, count: i32, rows: *mut f32, features: *mut f32, ids: *mut adapvae_id) -> adapvae_status;
    pub fn adapvae_interpolate(model: *mut adapvae_model, from: adapvae_id, to: adapvae_id, count: i32, rows: *mut f32, features: *mut f32) -> adapvae_status;
    pub fn adapvae_get_info(model: *const adapvae_model, info: *mut adapvae_info) -> adapvae_status;
    pub fn adapvae_cluster_at(model: *const adapvae_model, index: i32, cluster: *mut adapvae_cluster) -> adapvae_status;
    pub fn adapvae_cluster_of(model: *const adapvae_model, id: adapvae_id, cluster: *mut adapvae_cluster) -> adapvae_status;
    pub fn adapvae_resolve(model: *const adapvae_model, id: adapvae_id) -> adapvae_id;
    pub fn adapvae_moments(model: *const adapvae_model, id: adapvae_id, mean: *mut f64, covariance: *mut f64) -> adapvae_status;
    pub fn adapvae_label(model: *mut adapvae_model, id: adapvae_id, name: *const c_char) -> adapvae_status;
    pub fn adapvae_merge(model: *mut adapvae_model, id: adapvae_id, other: adapvae_id, force: i32, gain: *mut f64) -> adapvae_status;
    pub fn adapvae_split(model: *mut adapvae_model, id: adapvae_id, force: i32, part: *mut adapvae_id, gain: *mut f64) -> adapvae_status;
    pub fn adapvae_forget(model: *mut adapvae_model, id: adapvae_id) -> adapvae_status;
    pub fn adapvae_undo(model: *mut adapvae_model) -> adapvae_status;
    pub fn adapvae_set(model: *mut adapvae_model, name: *const c_char, value: *const c_char) -> adapvae_status;
    pub fn adapvae_get_config(model: *const adapvae_model, config: *mut adapvae_config) -> adapvae_status;
    pub fn adapvae_set_sensitivity(model: *mut adapvae_model, sensitivity: f64) -> adapvae_status;
    pub fn adapvae_next_event(model: *const adapvae_model, event: *mut adapvae_event) -> adapvae_status;
    pub fn adapvae_event_text(event: *const adapvae_event, format: i32, text: *mut c_char, capacity: usize, needed: *mut usize) -> adapvae_status;
    pub fn adapvae_explain(model: *mut adapvae_model, row: *const f32, format: i32, text: *mut c_char, capacity: usize, needed: *mut usize) -> adapvae_status;
    pub fn adapvae_save(model: *const adapvae_model, bytes: *mut c_void, capacity: usize, size: *mut usize) -> adapvae_status;
    pub fn adapvae_load(model: *mut adapvae_model, bytes: *const c_void, size: usize) -> adapvae_status;
    pub fn adapvae_inspect(bytes: *const c_void, size: usize, snapshot: *mut adapvae_snapshot, config: *mut adapvae_config, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_gain(model: *mut adapvae_model, rows: *const f32, count: i32, stride: i32, key: *const adapvae_gain_key, bytes: *mut c_void, capacity: usize, size: *mut usize) -> adapvae_status;
    pub fn adapvae_merge_gains(a: *const c_void, a_size: usize, b: *const c_void, b_size: usize, bytes: *mut c_void, capacity: usize, size: *mut usize, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_inspect_gains(bytes: *const c_void, size: usize, gains: *mut adapvae_gains, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_apply_gains(model: *mut adapvae_model, bytes: *const c_void, size: usize, aliases: *mut adapvae_alias, capacity: i32, report: *mut adapvae_report) -> adapvae_status;
    pub fn adapvae_evaluate(labels: *const i32, ids: *const adapvae_id, count: i32, options: *const adapvae_options, metrics: *mut adapvae_metrics, error: *mut adapvae_error) -> adapvae_status;
    pub fn adapvae_pretrain(model: *mut adapvae_model, rows: *const f32, count: i32, stride: i32) -> adapvae_status;
}
