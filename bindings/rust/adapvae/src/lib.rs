//! Clusters an unlabelled stream of rows while it learns their features, finds new kinds by itself, and forgets
//! none although it stores no past row.
//!
//! ```
//! # fn main() -> adapvae::Result<()> {
//! # let rows: Vec<f32> = (0..50 * 4).map(|i| (i % 7) as f32 / 7.0).collect();
//! let mut model = adapvae::Config::new(4).set("hidden1", 8)?.set("pretrain_epochs", 2)?.model()?;
//! model.learn(&rows)?; // 4 numbers a row, each in [0, 1]: a stream
//! let scores = model.score(&rows)?; // cluster, novelty: novel if above 0.5
//! # assert_eq!(scores.len(), 50);
//! # Ok(())
//! # }
//! ```
//!
//! Rows are row after row without gaps, and are neither copied nor kept. A [`Model`] can go to another thread but is for
//! one at a time, which the compiler sees to; a [`Stopper`] works from anywhere. To score while a model learns, give other
//! threads a [`Model::scorer`].
use std::any::Any;
use std::ffi::{CStr, CString};
use std::fmt::{self, Display};
use std::mem::{size_of, MaybeUninit};
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Weak};
use std::{fs, io};

use adapvae_sys as sys;

// ---- errors ---------------------------------------------------------------------------------------------------------

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    InvalidArgument,
    ShapeMismatch,
    NonFinite,
    UnknownCluster,
    OutOfMemory,
    Unavailable,
    CorruptData,
    NewerFormat,
    Busy,
    Refused,
    Late,
    Foreign,
    Diverged,
    Other(i32),
}

impl Status {
    fn of(status: i32) -> Self {
        match status {
            sys::ADAPVAE_INVALID_ARGUMENT => Status::InvalidArgument,
            sys::ADAPVAE_SHAPE_MISMATCH => Status::ShapeMismatch,
            sys::ADAPVAE_NON_FINITE => Status::NonFinite,
            sys::ADAPVAE_UNKNOWN_CLUSTER => Status::UnknownCluster,
            sys::ADAPVAE_OUT_OF_MEMORY => Status::OutOfMemory,
            sys::ADAPVAE_UNAVAILABLE => Status::Unavailable,
            sys::ADAPVAE_CORRUPT_DATA => Status::CorruptData,
            sys::ADAPVAE_NEWER_FORMAT => Status::NewerFormat,
            sys::ADAPVAE_BUSY => Status::Busy,
            sys::ADAPVAE_REFUSED => Status::Refused,
            sys::ADAPVAE_LATE => Status::Late,
            sys::ADAPVAE_FOREIGN => Status::Foreign,
            sys::ADAPVAE_DIVERGED => Status::Diverged,
            other => Status::Other(other),
        }
    }
}

/// What the library refused, and why; it has changed nothing.
#[derive(Debug)]
pub struct Error {
    pub status: Status,
    pub message: String,
    /// Row, field of the configuration or byte of a file.
    pub index: Option<usize>,
}

impl Error {
    fn new(status: Status, message: impl Into<String>) -> Self {
        Error { status, message: message.into(), index: None }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "{} (index {})", self.message, index),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::new(Status::Unavailable, error.to_string())
    }
}

pub type Result<T> = std::result::Result<T, Error>;

/// A struct of the library, zero but for its size.
fn sized<T: Copy>() -> T {
    // All of them are numbers, pointers and optional functions: zero is a value of each. The size is first.
    unsafe {
        let mut made = MaybeUninit::<T>::zeroed();
        *(made.as_mut_ptr() as *mut u32) = size_of::<T>() as u32;
        made.assume_init()
    }
}

/// Static storage of the library, or the caller's buffer.
fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

fn failure(error: &sys::adapvae_error) -> Error {
    Error {
        status: Status::of(error.status),
        message: text(error.message),
        index: usize::try_from(error.index).ok(),
    }
}

/// A call without a model.
fn demand(call: impl FnOnce(*mut sys::adapvae_error) -> i32) -> Result<()> {
    let mut error: sys::adapvae_error = sized();
    match call(&mut error) {
        sys::ADAPVAE_OK => Ok(()),
        _ => Err(failure(&error)),
    }
}

fn c_text(given: &str) -> Result<CString> {
    CString::new(given).map_err(|_| Error::new(Status::InvalidArgument, "a text has a zero byte"))
}

/// Asks for text until there is room; Err: the status.
fn ask(call: impl Fn(*mut c_char, usize, *mut usize) -> i32) -> std::result::Result<String, i32> {
    let mut room = vec![0u8; 1024];
    loop {
        let mut needed = 0;
        match call(room.as_mut_ptr() as *mut c_char, room.len(), &mut needed) {
            sys::ADAPVAE_OK => return Ok(text(room.as_ptr() as *const c_char)),
            sys::ADAPVAE_OUT_OF_MEMORY if needed > room.len() => room.resize(needed, 0),
            status => return Err(status),
        }
    }
}

// ---- configuration --------------------------------------------------------------------------------------------------

/// Every field of the configuration; [`fields`] lists them.
#[derive(Clone)]
pub struct Config(sys::adapvae_config);

impl Config {
    /// The defaults, for rows of so many numbers.
    pub fn new(inputs: i32) -> Self {
        let mut config = Self::defaults();
        config.0.inputs = inputs;
        config
    }

    fn defaults() -> Self {
        let mut config: sys::adapvae_config = sized();
        unsafe { sys::adapvae_config_init(&mut config, size_of::<sys::adapvae_config>() as u32) };
        Config(config)
    }

    /// `desktop`, `paper`, `browser` or `edge`.
    pub fn preset(name: &str) -> Result<Self> {
        let mut config = Self::defaults();
        let name = c_text(name)?;
        demand(|error| unsafe { sys::adapvae_config_preset(&mut config.0, name.as_ptr(), error) })?;
        Ok(config)
    }

    /// What the library chooses for rows like these, of `inputs` numbers each. Without any rows the number of columns
    /// alone decides.
    pub fn for_rows(rows: &[f32], inputs: i32) -> Result<Self> {
        let mut config = Self::defaults();
        let count = i32::try_from(rows.len() / inputs.max(1) as usize).unwrap_or(i32::MAX);
        demand(|error| unsafe {
            sys::adapvae_config_for_rows(&mut config.0, rows.as_ptr(), count, inputs, 0, null_mut(), error)
        })?;
        Ok(config)
    }

    /// A field by name: a number, `on` or `off`, the name of a choice.
    pub fn set(mut self, name: &str, value: impl Display) -> Result<Self> {
        let (name, value) = (c_text(name)?, c_text(&value.to_string())?);
        demand(|error| unsafe { sys::adapvae_config_set(&mut self.0, name.as_ptr(), value.as_ptr(), error) })?;
        Ok(self)
    }

    /// A field as text that `set` reads back.
    pub fn get(&self, name: &str) -> Result<String> {
        let field = c_text(name)?;
        ask(|to, room, needed| unsafe { sys::adapvae_config_get(&self.0, field.as_ptr(), to, room, needed) })
            .map_err(|status| Error::new(Status::of(status), format!("{} is not a field", name)))
    }

    /// The fields themselves.
    pub fn raw(&mut self) -> &mut sys::adapvae_config {
        &mut self.0
    }

    /// Bytes that a model will take, exactly.
    pub fn memory_required(&self) -> Result<usize> {
        let mut bytes = 0;
        demand(|error| unsafe { sys::adapvae_memory_required(&self.0, null(), &mut bytes, error) })?;
        Ok(bytes)
    }

    pub fn model(&self) -> Result<Model> {
        Model::made(|model, error| unsafe { sys::adapvae_create(&self.0, null(), model, error) })
    }
}

/// A field of the configuration.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub group: String,
    pub sentence: String,
    pub choices: Vec<String>,
    /// 0 whole number, 1 real number, 2 switch, 3 choice.
    pub kind: i32,
    pub live: bool,
    pub lowest: f64,
    pub highest: f64,
    pub default: f64,
}

pub fn fields() -> Vec<Field> {
    let mut field: sys::adapvae_field = sized();
    let mut out = Vec::new();
    while unsafe { sys::adapvae_config_field(out.len() as i32, &mut field) } == sys::ADAPVAE_OK {
        out.push(Field {
            name: text(field.name),
            group: text(field.group),
            sentence: text(field.sentence),
            choices: text(field.choices).split_whitespace().map(String::from).collect(),
            kind: field.r#type,
            live: field.live != 0,
            lowest: field.lowest,
            highest: field.highest,
            default: field.preset,
        });
    }
    out
}

pub fn presets() -> Vec<String> {
    (0..)
        .map(|index| unsafe { sys::adapvae_preset_name(index) })
        .take_while(|name| !name.is_null())
        .map(text)
        .collect()
}

/// Of the library.
pub fn version() -> String {
    text(unsafe { sys::adapvae_version_string() })
}

/// What the kernels use; `ADAPVAE_ISA` in the environment forces another.
pub fn instruction_set() -> String {
    text(unsafe { sys::adapvae_instruction_set() })
}

// ---- records --------------------------------------------------------------------------------------------------------

/// What learning came to; all but `streams` is of the last stream. The fields are those of adapvae.h.
pub type Report = sys::adapvae_report;
/// Agreement of clusters with labels; 1 is best.
pub type Metrics = sys::adapvae_metrics;

/// What is known of a row. It lies as `adapvae_result` does.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Most probable cluster; 0: nothing is learnt.
    pub id: u32,
    /// Most probable component of that cluster.
    pub component: u32,
    pub probability: f32,
    /// In [0, 1]; novel if above 0.5.
    pub novelty: f32,
    pub log_density: f32,
    pub flags: u32,
}

const _: () = assert!(size_of::<Score>() == size_of::<sys::adapvae_result>());

impl Score {
    pub fn is_novel(&self) -> bool {
        self.flags & sys::ADAPVAE_NOVEL != 0
    }
    pub fn is_provisional(&self) -> bool {
        self.flags & sys::ADAPVAE_PROVISIONAL != 0
    }
    pub fn nothing_learnt(&self) -> bool {
        self.flags & sys::ADAPVAE_NOTHING_LEARNT != 0
    }
}

/// A model at a glance.
#[derive(Clone, Debug)]
pub struct Info {
    pub clusters: usize,
    pub rows_waiting: usize,
    pub undo_steps: usize,
    pub streams: u64,
    pub rows: u64,
    pub ids_given: u64,
    pub events: u64,
    pub memory_bytes: u64,
    pub snapshot_bytes: u64,
    pub time: f64,
    pub backend: String,
    pub scores_only: bool,
    pub latent: usize,
    pub inputs: usize,
    pub block_rows: usize,
    pub components: usize,
}

/// A cluster; its id never changes. `parent` 0: none.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    pub id: u32,
    /// Of the mixture that belong to it.
    pub components: usize,
    pub parent: u32,
    pub born_stream: u64,
    pub seen_stream: u64,
    pub rows: f64,
    pub weight: f64,
    pub birth_rows: f64,
    pub birth_gain: f64,
    pub provisional: bool,
    pub name: String,
}

impl Cluster {
    fn of(c: &sys::adapvae_cluster) -> Self {
        Cluster {
            id: c.id,
            components: c.components as usize,
            parent: c.parent,
            born_stream: c.born_stream,
            seen_stream: c.seen_stream,
            rows: c.rows,
            weight: c.weight,
            birth_rows: c.birth_rows,
            birth_gain: c.birth_gain,
            provisional: c.provisional != 0,
            name: text(c.name.as_ptr()),
        }
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventType {
    Born,
    Merged,
    Retired,
    NotBorn,
    Forgotten,
    Split,
    Noticed,
    Labelled,
    Undone,
    Drifted,
    Repaired,
    Learnt,
    Rescaled,
    Warned,
    Other(i32),
}

impl EventType {
    fn of(number: i32) -> Self {
        use EventType::*;
        const ALL: [EventType; 14] =
            [Born, Merged, Retired, NotBorn, Forgotten, Split, Noticed, Labelled, Undone, Drifted, Repaired, Learnt, Rescaled, Warned];
        ALL.get(number as usize).copied().unwrap_or(Other(number))
    }
}

/// An event; `to_string` says it in English.
#[derive(Clone, Copy)]
pub struct Event(sys::adapvae_event);

impl Event {
    pub fn kind(&self) -> EventType {
        EventType::of(self.0.r#type)
    }
    /// One JSON object.
    pub fn json(&self) -> String {
        self.told(sys::ADAPVAE_JSON)
    }
    fn told(&self, format: i32) -> String {
        ask(|to, room, needed| unsafe { sys::adapvae_event_text(&self.0, format, to, room, needed) }).unwrap_or_default()
    }
}

/// Its fields: id, other, stream, sequence, gain, rows, reason, missed, clusters, input.
impl std::ops::Deref for Event {
    type Target = sys::adapvae_event;
    fn deref(&self) -> &sys::adapvae_event {
        &self.0
    }
}

impl Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(sys::ADAPVAE_TEXT))
    }
}

/// The events of a model that are still kept, from the oldest.
pub struct Events<'a> {
    model: &'a Model,
    last: sys::adapvae_event,
}

impl Iterator for Events<'_> {
    type Item = Event;
    fn next(&mut self) -> Option<Event> {
        match unsafe { sys::adapvae_next_event(self.model.handle(), &mut self.last) } {
            sys::ADAPVAE_OK => Some(Event(self.last)),
            _ => None,
        }
    }
}

/// A part of learning a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    Pretrain,
    Adapt,
    Embed,
    Births,
    Joint,
    Close,
    Other(i32),
}

impl Stage {
    fn of(number: i32) -> Self {
        use Stage::*;
        const ALL: [Stage; 6] = [Pretrain, Adapt, Embed, Births, Joint, Close];
        ALL.get(number as usize).copied().unwrap_or(Other(number))
    }
}

/// Of explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
}

/// Rows made up: `rows` and `features` row after row, the cluster of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    pub rows: Vec<f32>,
    pub features: Vec<f32>,
    pub ids: Vec<u32>,
}

/// What is in a file.
#[derive(Clone)]
pub struct Snapshot {
    pub clusters: usize,
    pub format: u64,
    pub streams: u64,
    pub rows: u64,
    pub rows_waiting: u64,
    pub events: u64,
    pub time: f64,
    /// Of the library that wrote it.
    pub version: String,
    pub config: Config,
}

/// Looks at what [`Model::to_bytes`] gave without making a model of it.
pub fn inspect(bytes: &[u8]) -> Result<Snapshot> {
    let mut s: sys::adapvae_snapshot = sized();
    let mut config = Config(sized());
    demand(|error| unsafe {
        sys::adapvae_inspect(bytes.as_ptr() as *const c_void, bytes.len(), &mut s, &mut config.0, error)
    })?;
    Ok(Snapshot {
        clusters: s.clusters as usize,
        format: s.format,
        streams: s.streams,
        rows: s.rows,
        rows_waiting: s.rows_waiting,
        events: s.events,
        time: s.time,
        version: text(s.version.as_ptr()),
        config,
    })
}

/// What is in a set of gains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gains {
    pub gains: usize,
    /// Clusters, of all gains.
    pub born: usize,
    pub rows: u64,
    /// That the base has learnt.
    pub base_streams: u64,
}

/// What became of a cluster that was born at a worker: `worker`, `sequence`, `local` (from 1) and `id`.
pub type Alias = sys::adapvae_alias;

/// Looks at what [`Model::gain`] or [`merge_gains`] gave.
pub fn inspect_gains(gains: &[u8]) -> Result<Gains> {
    let mut found: sys::adapvae_gains = sized();
    demand(|error| unsafe {
        sys::adapvae_inspect_gains(gains.as_ptr() as *const c_void, gains.len(), &mut found, error)
    })?;
    Ok(Gains {
        gains: found.gains as usize,
        born: found.born as usize,
        rows: found.rows,
        base_streams: found.base_streams,
    })
}

/// All gains of both sets, each once: the same bytes whatever the order.
pub fn merge_gains(a: &[u8], b: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut size = 0;
    for _ in 0..2 {
        out.resize(size, 0u8);
        let to = if size == 0 { null_mut() } else { out.as_mut_ptr() as *mut c_void };
        let (x, y) = (a.as_ptr() as *const c_void, b.as_ptr() as *const c_void);
        demand(|error| unsafe { sys::adapvae_merge_gains(x, a.len(), y, b.len(), to, out.len(), &mut size, error) })?;
    }
    Ok(out)
}

/// Compares labels that the model has never seen with ids.
pub fn evaluate(labels: &[i32], ids: &[u32]) -> Result<Metrics> {
    if labels.len() != ids.len() || i32::try_from(ids.len()).is_err() {
        return Err(Error::new(Status::ShapeMismatch, "there must be as many labels as ids"));
    }
    let mut metrics: Metrics = sized();
    demand(|error| unsafe {
        sys::adapvae_evaluate(labels.as_ptr(), ids.as_ptr(), ids.len() as i32, null(), &mut metrics, error)
    })?;
    Ok(metrics)
}

// ---- the model ------------------------------------------------------------------------------------------------------

/// Owns the memory; a Stopper may hold it a moment longer than the Model.
struct Handle(*mut sys::adapvae_model);

// A model is for one thread at a time, and any; adapvae_stop(), all that a shared Handle is used for, is for any at any
// time.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        unsafe { sys::adapvae_destroy(self.0) }
    }
}

/// Ends the stream that is being learnt, from any thread.
#[derive(Clone)]
pub struct Stopper(Weak<Handle>);

impl Stopper {
    /// No effect if nothing is being learnt, or the model is gone.
    pub fn stop(&self) {
        if let Some(handle) = self.0.upgrade() {
            unsafe { sys::adapvae_stop(handle.0) }
        }
    }
}

type Progress = Box<dyn FnMut(Stage, f64) -> bool + Send>;

struct Listener {
    tell: Progress,
    panic: Option<Box<dyn Any + Send>>,
}

unsafe extern "C" fn listen(context: *mut c_void, stage: i32, fraction: f64) -> i32 {
    let listener = &mut *(context as *mut Listener);
    if listener.panic.is_some() {
        return 0;
    }
    let tell = &mut listener.tell;
    match catch_unwind(AssertUnwindSafe(|| tell(Stage::of(stage), fraction))) {
        Ok(go_on) => go_on as i32,
        Err(panic) => {
            listener.panic = Some(panic);
            0
        }
    }
}

/// A model; made by [`Config::model`] or from a file.
pub struct Model {
    handle: Arc<Handle>,
    inputs: usize,
    latent: usize,
    progress: Option<Progress>,
    // Not Sync: looking uses the model's own room.
    _one_thread: std::marker::PhantomData<std::cell::Cell<()>>,
}

impl Model {
    fn made(make: impl FnOnce(*mut *mut sys::adapvae_model, *mut sys::adapvae_error) -> i32) -> Result<Model> {
        let mut handle = null_mut();
        demand(|error| make(&mut handle, error))?;
        let handle = Arc::new(Handle(handle));
        let mut config: sys::adapvae_config = sized();
        unsafe { sys::adapvae_get_config(handle.0, &mut config) };
        Ok(Model {
            handle,
            inputs: config.inputs as usize,
            latent: config.latent as usize,
            progress: None,
            _one_thread: std::marker::PhantomData,
        })
    }

    /// Of what `to_bytes` gave. The model takes at most 1 GiB.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        Model::from_bytes_within(bytes, 0)
    }

    /// `from_bytes` for a model that takes at most `max_memory` bytes; 0: 1 GiB.
    pub fn from_bytes_within(bytes: &[u8], max_memory: usize) -> Result<Model> {
        let start = bytes.as_ptr() as *const c_void;
        let mut options: sys::adapvae_options = sized();
        options.max_memory_bytes = max_memory;
        Model::made(|model, error| unsafe { sys::adapvae_create_from(start, bytes.len(), &options, model, error) })
    }

    /// One that only scores, of what `to_bytes` gave.
    pub fn scorer_from_bytes(bytes: &[u8]) -> Result<Model> {
        let start = bytes.as_ptr() as *const c_void;
        Model::made(|model, error| unsafe {
            sys::adapvae_create_scorer_from(start, bytes.len(), null(), model, null_mut(), error)
        })
    }

    /// Of a file, which may be another language's or the program's.
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        Model::from_bytes(&fs::read(path)?)
    }

    /// A copy of what is known now, for another thread, in a fraction of the memory; it does not learn.
    pub fn scorer(&mut self) -> Result<Model> {
        let handle = self.handle();
        Model::made(|scorer, error| unsafe { sys::adapvae_create_scorer(handle, null(), scorer, error) })
    }

    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::downgrade(&self.handle))
    }

    /// Numbers in a row.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Features.
    pub fn latent(&self) -> usize {
        self.latent
    }

    fn handle(&self) -> *mut sys::adapvae_model {
        self.handle.0
    }

    fn check(&self, status: i32) -> Result<()> {
        if status == sys::ADAPVAE_OK {
            return Ok(());
        }
        let mut error: sys::adapvae_error = sized();
        unsafe { sys::adapvae_last_error(self.handle(), &mut error) };
        Err(failure(&error))
    }

    fn count(numbers: &[f32], width: usize) -> Result<i32> {
        match i32::try_from(numbers.len() / width) {
            Ok(count) if numbers.len() % width == 0 => Ok(count),
            _ => Err(Error::new(
                Status::ShapeMismatch,
                format!("{} numbers are not a whole number of rows of {}", numbers.len(), width),
            )),
        }
    }

    // -- learning --

    /// Has `tell` called often while a stream is learnt, with the part of it that is done; false ends the stream early.
    pub fn set_progress(&mut self, tell: impl FnMut(Stage, f64) -> bool + Send + 'static) {
        self.progress = Some(Box::new(tell));
    }

    pub fn clear_progress(&mut self) {
        self.progress = None;
    }

    fn learning(&mut self, call: impl FnOnce(*mut sys::adapvae_model, *mut Report) -> i32) -> Result<Report> {
        let mut report: Report = sized();
        let handle = self.handle();
        let mut listener = self.progress.take().map(|tell| Listener { tell, panic: None });
        if let Some(listener) = &mut listener {
            let context = listener as *mut Listener as *mut c_void;
            unsafe { sys::adapvae_set_progress(handle, Some(listen), context) };
        }
        let status = call(handle, &mut report);
        if let Some(listener) = listener {
            unsafe { sys::adapvae_set_progress(handle, None, null_mut()) };
            self.progress = Some(listener.tell);
            if let Some(panic) = listener.panic {
                resume_unwind(panic);
            }
        }
        self.check(status).map(|()| report)
    }

    /// A stream of 1 to `block_rows` rows. The first teaches the network its features: it should be a full one.
    pub fn learn(&mut self, rows: &[f32]) -> Result<Report> {
        let count = Self::count(rows, self.inputs)?;
        self.learning(|model, report| unsafe { sys::adapvae_learn(model, rows.as_ptr(), count, 0, report) })
    }

    /// Any number of rows: they wait in the model until there are `block_rows` of them.
    pub fn push(&mut self, rows: &[f32]) -> Result<Report> {
        let count = Self::count(rows, self.inputs)?;
        self.learning(|model, report| unsafe { sys::adapvae_push(model, rows.as_ptr(), count, 0, report) })
    }

    /// Learns the rows that wait, however few.
    pub fn flush(&mut self) -> Result<Report> {
        self.learning(|model, report| unsafe { sys::adapvae_flush(model, report) })
    }

    /// Teaches the network its features from rows given apart, before anything else. May change.
    pub fn pretrain(&mut self, rows: &[f32]) -> Result<()> {
        let count = Self::count(rows, self.inputs)?;
        self.learning(|model, _| unsafe { sys::adapvae_pretrain(model, rows.as_ptr(), count, 0) }).map(|_| ())
    }

    /// What rows, any number of them, would add to this model, the base, which stays as it is: a set of one gain, for
    /// [`merge_gains`] and [`Model::apply_gains`]. A pair of worker and sequence counts once.
    pub fn gain(&mut self, rows: &[f32], worker: u64, sequence: u64) -> Result<Vec<u8>> {
        let count = Self::count(rows, self.inputs)?;
        let mut size = 0;
        self.check(unsafe { sys::adapvae_gain(self.handle(), null(), 0, 0, null(), null_mut(), 0, &mut size) })?;
        let mut out = vec![0u8; size];
        let to = out.as_mut_ptr() as *mut c_void;
        let key = sys::adapvae_gain_key { worker, sequence };
        self.check(unsafe {
            sys::adapvae_gain(self.handle(), rows.as_ptr(), count, 0, &key, to, out.len(), &mut size)
        })?;
        out.truncate(size);
        Ok(out)
    }

    /// Adds gains of this model, of any number of workers, as one stream: all of them, or, if it is refused, none.
    pub fn apply_gains(&mut self, gains: &[u8]) -> Result<(Report, Vec<Alias>)> {
        let born = inspect_gains(gains)?.born;
        let mut aliases = vec![Alias { worker: 0, sequence: 0, local: 0, id: 0 }; born];
        let mut report: Report = sized();
        let (start, to) = (gains.as_ptr() as *const c_void, aliases.as_mut_ptr());
        self.check(unsafe {
            sys::adapvae_apply_gains(self.handle(), start, gains.len(), to, born as i32, &mut report)
        })?;
        Ok((report, aliases))
    }

    /// Time of the rows to come, for `half_life_time`.
    pub fn set_time(&mut self, time: f64) -> Result<()> {
        self.check(unsafe { sys::adapvae_set_time(self.handle(), time) })
    }

    /// Seconds that a stream may take; 0: as long as it takes.
    pub fn set_budget(&mut self, seconds: f64) -> Result<()> {
        self.check(unsafe { sys::adapvae_set_budget(self.handle(), seconds) })
    }

    /// Nothing is learnt any more; live settings stay.
    pub fn reset(&mut self) -> Result<()> {
        self.check(unsafe { sys::adapvae_reset(self.handle()) })
    }

    // -- rows, without learning --

    pub fn score(&mut self, rows: &[f32]) -> Result<Vec<Score>> {
        let mut out = vec![Score::default(); rows.len() / self.inputs];
        self.score_into(rows, &mut out)?;
        Ok(out)
    }

    /// `score` without an allocation.
    pub fn score_into(&mut self, rows: &[f32], out: &mut [Score]) -> Result<()> {
        let count = Self::count(rows, self.inputs)?;
        if out.len() != count as usize {
            return Err(Error::new(Status::ShapeMismatch, format!("{} scores for {} rows", out.len(), count)));
        }
        let to = out.as_mut_ptr() as *mut sys::adapvae_result;
        self.check(unsafe { sys::adapvae_score(self.handle(), rows.as_ptr(), count, 0, to) })
    }

    /// Of every cluster: ids of the columns, probabilities row after row.
    pub fn probabilities(&mut self, rows: &[f32]) -> Result<(Vec<u32>, Vec<f32>)> {
        let count = Self::count(rows, self.inputs)?;
        let ids: Vec<u32> = self.clusters().iter().map(|cluster| cluster.id).collect();
        let mut out = vec![0.0; count as usize * ids.len()];
        self.check(unsafe { sys::adapvae_probabilities(self.handle(), rows.as_ptr(), count, 0, out.as_mut_ptr()) })?;
        Ok((ids, out))
    }

    /// Mean and variance of the features.
    pub fn encode(&mut self, rows: &[f32]) -> Result<(Vec<f32>, Vec<f32>)> {
        let count = Self::count(rows, self.inputs)?;
        let mut mean = vec![0.0; count as usize * self.latent];
        let mut variance = mean.clone();
        self.check(unsafe {
            sys::adapvae_encode(self.handle(), rows.as_ptr(), count, 0, mean.as_mut_ptr(), variance.as_mut_ptr())
        })?;
        Ok((mean, variance))
    }

    /// Rows that the network makes of features.
    pub fn decode(&mut self, features: &[f32]) -> Result<Vec<f32>> {
        let count = Self::count(features, self.latent)?;
        let mut rows = vec![0.0; count as usize * self.inputs];
        self.check(unsafe { sys::adapvae_decode(self.handle(), features.as_ptr(), count, 0, rows.as_mut_ptr()) })?;
        Ok(rows)
    }

    /// `decode` of `encode`.
    pub fn reconstruct(&mut self, rows: &[f32]) -> Result<Vec<f32>> {
        let count = Self::count(rows, self.inputs)?;
        let mut out = vec![0.0; rows.len()];
        self.check(unsafe { sys::adapvae_reconstruct(self.handle(), rows.as_ptr(), count, 0, out.as_mut_ptr()) })?;
        Ok(out)
    }

    /// Rows made up, of a cluster or of all by their weight. Row i of a seed is always the same.
    pub fn generate(&mut self, id: Option<u32>, seed: u32, count: usize) -> Result<Generated> {
        let number = i32::try_from(count).map_err(|_| Error::new(Status::InvalidArgument, "too many rows"))?;
        let mut out = Generated {
            rows: vec![0.0; count * self.inputs],
            features: vec![0.0; count * self.latent],
            ids: vec![0; count],
        };
        self.check(unsafe {
            sys::adapvae_generate(
                self.handle(),
                id.unwrap_or(sys::ADAPVAE_NO_ID),
                seed,
                number,
                out.rows.as_mut_ptr(),
                out.features.as_mut_ptr(),
                out.ids.as_mut_ptr(),
            )
        })?;
        Ok(out)
    }

    /// Rows from one cluster's mean to another's, both included; the same id twice: its prototype.
    pub fn interpolate(&mut self, from: u32, to: u32, count: usize) -> Result<Vec<f32>> {
        let number = i32::try_from(count).map_err(|_| Error::new(Status::InvalidArgument, "too many rows"))?;
        let mut rows = vec![0.0; count * self.inputs];
        self.check(unsafe {
            sys::adapvae_interpolate(self.handle(), from, to, number, rows.as_mut_ptr(), null_mut())
        })?;
        Ok(rows)
    }

    /// Why a row is as novel as it is.
    pub fn explain(&mut self, row: &[f32], format: Format) -> Result<String> {
        if row.len() != self.inputs {
            return Err(Error::new(Status::ShapeMismatch, "explain takes one row"));
        }
        let handle = self.handle();
        let told = ask(|to, room, needed| unsafe {
            sys::adapvae_explain(handle, row.as_ptr(), format as i32, to, room, needed)
        });
        told.map_err(|status| self.check(status).err().unwrap_or_else(|| Error::new(Status::of(status), "no text")))
    }

    // -- clusters and corrections --

    /// Takes as long as scoring some rows.
    pub fn info(&self) -> Result<Info> {
        let mut i: sys::adapvae_info = sized();
        self.check(unsafe { sys::adapvae_get_info(self.handle(), &mut i) })?;
        Ok(Info {
            clusters: i.clusters as usize,
            rows_waiting: i.rows_waiting as usize,
            undo_steps: i.undo_steps as usize,
            streams: i.streams,
            rows: i.rows,
            ids_given: i.ids_given,
            events: i.events,
            memory_bytes: i.memory_bytes,
            snapshot_bytes: i.snapshot_bytes,
            time: i.time,
            backend: text(i.backend),
            scores_only: i.scores_only != 0,
            latent: i.latent as usize,
            inputs: i.inputs as usize,
            block_rows: i.block_rows as usize,
            components: i.components as usize,
        })
    }

    /// All that there are; their order means nothing.
    pub fn clusters(&self) -> Vec<Cluster> {
        let mut cluster: sys::adapvae_cluster = sized();
        let mut out = Vec::new();
        while unsafe { sys::adapvae_cluster_at(self.handle(), out.len() as i32, &mut cluster) } == sys::ADAPVAE_OK {
            out.push(Cluster::of(&cluster));
        }
        out
    }

    /// The one that holds what `id` held.
    pub fn cluster(&self, id: u32) -> Result<Cluster> {
        let mut cluster: sys::adapvae_cluster = sized();
        self.check(unsafe { sys::adapvae_cluster_of(self.handle(), id, &mut cluster) })?;
        Ok(Cluster::of(&cluster))
    }

    /// Id of the cluster that holds what `id` held.
    pub fn resolve(&self, id: u32) -> Option<u32> {
        match unsafe { sys::adapvae_resolve(self.handle(), id) } {
            sys::ADAPVAE_NO_ID => None,
            id => Some(id),
        }
    }

    /// Mean and covariance, row after row, of a cluster's features.
    pub fn moments(&self, id: u32) -> Result<(Vec<f64>, Vec<f64>)> {
        let (mut mean, mut covariance) = (vec![0.0; self.latent], vec![0.0; self.latent * self.latent]);
        self.check(unsafe { sys::adapvae_moments(self.handle(), id, mean.as_mut_ptr(), covariance.as_mut_ptr()) })?;
        Ok((mean, covariance))
    }

    /// At most 31 bytes; "" takes a name away.
    pub fn label(&mut self, id: u32, name: &str) -> Result<()> {
        let name = c_text(name)?;
        self.check(unsafe { sys::adapvae_label(self.handle(), id, name.as_ptr()) })
    }

    /// `other` goes into `id`; gives the change of the evidence bound.
    pub fn merge(&mut self, id: u32, other: u32, force: bool) -> Result<f64> {
        let mut gain = 0.0;
        self.check(unsafe { sys::adapvae_merge(self.handle(), id, other, force as i32, &mut gain) })?;
        Ok(gain)
    }

    /// In two; gives the new one's id and the change of the evidence bound.
    pub fn split(&mut self, id: u32, force: bool) -> Result<(u32, f64)> {
        let (mut part, mut gain) = (0, 0.0);
        self.check(unsafe { sys::adapvae_split(self.handle(), id, force as i32, &mut part, &mut gain) })?;
        Ok((part, gain))
    }

    /// All that it holds is gone.
    pub fn forget(&mut self, id: u32) -> Result<()> {
        self.check(unsafe { sys::adapvae_forget(self.handle(), id) })
    }

    /// The last correction never happened.
    pub fn undo(&mut self) -> Result<()> {
        self.check(unsafe { sys::adapvae_undo(self.handle()) })
    }

    // -- settings and events --

    /// A live field.
    pub fn set(&mut self, name: &str, value: impl Display) -> Result<()> {
        let (name, value) = (c_text(name)?, c_text(&value.to_string())?);
        self.check(unsafe { sys::adapvae_set(self.handle(), name.as_ptr(), value.as_ptr()) })
    }

    /// Above 1 more is called novel, below 1 less.
    pub fn set_sensitivity(&mut self, sensitivity: f64) -> Result<()> {
        self.check(unsafe { sys::adapvae_set_sensitivity(self.handle(), sensitivity) })
    }

    pub fn config(&self) -> Result<Config> {
        let mut config = Config(sized());
        self.check(unsafe { sys::adapvae_get_config(self.handle(), &mut config.0) })?;
        Ok(config)
    }

    /// Those after event number `after` that are still kept; 0: all.
    pub fn events(&self, after: u64) -> Events<'_> {
        let mut last: sys::adapvae_event = sized();
        last.sequence = after;
        Events { model: self, last }
    }

    // -- files --

    /// Everything that the model knows, as every language and platform reads it.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut size = 0;
        self.check(unsafe { sys::adapvae_save(self.handle(), null_mut(), 0, &mut size) })?;
        let mut out = vec![0u8; size];
        self.check(unsafe { sys::adapvae_save(self.handle(), out.as_mut_ptr() as *mut c_void, size, &mut size) })?;
        Ok(out)
    }

    /// Takes over what `to_bytes` of a model with the same configuration gave.
    pub fn update(&mut self, bytes: &[u8]) -> Result<()> {
        self.check(unsafe { sys::adapvae_load(self.handle(), bytes.as_ptr() as *const c_void, bytes.len()) })
    }

    /// A file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(name);
        let written = (|| {
            let mut file = fs::File::create(&part)?;
            io::Write::write_all(&mut file, &self.to_bytes()?)?;
            file.sync_all()?;
            fs::rename(&part, path)?;
            Ok(())
        })();
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }
}
