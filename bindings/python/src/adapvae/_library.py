"""The C library: where it is, its structs and functions as adapvae.h declares them, its errors.

ctypes releases the interpreter's lock during every call.
"""
import ctypes
import pathlib
from ctypes import c_char_p, c_double, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Dict, List, NamedTuple, Optional

lib = ctypes.CDLL(str(pathlib.Path(__file__).with_name("libadapvae.so")))

NAME_BYTES = 32
_TYPES = {"i": c_int32, "u": c_uint32, "U": c_uint64, "d": c_double, "s": c_char_p, "p": c_void_p,
          "z": c_size_t, "n": ctypes.c_char * NAME_BYTES}


def _struct(name: str, fields: str) -> type:
    """struct_size is first in all of them. i int32, u uint32, U uint64, d double, s text, n a name, p a pointer,
    z a size."""
    pairs = [field.split() for field in fields.split(",")]
    return type(name, (ctypes.Structure,), {
        "_fields_": [("struct_size", c_uint32)] + [(word, _TYPES[kind]) for kind, word in pairs],
        "__init__": lambda self: ctypes.Structure.__init__(self, ctypes.sizeof(self)),
    })


CError = _struct("CError", "i status,i index,i reserved,s message")
CField = _struct("CField", "i type,i live,i reserved,d lowest,d highest,d preset,s name,s group,s choices,s sentence")
COptions = _struct("COptions", "i backend,p memory,z memory_bytes,p allocate,p release,p allocate_context,p parallel_for,"
                   "p parallel_context,i threads,i in_place,p clock,p clock_context,z max_memory_bytes")
CReport = _struct("CReport", "i streams,i rows,i clusters,i components,i births,i merges,i retirements,i refusals,"
                  "i replay_rows,i drifted,i stopped,d bound,d loss,d log_likelihood,d mixture,d entropy,"
                  "d distillation,d replay_accuracy,d largest_drift,U skipped_steps,U repairs")
CInfo = _struct("CInfo", "i clusters,i rows_waiting,i undo_steps,U streams,U rows,U ids_given,U events,U memory_bytes,"
                "U snapshot_bytes,d time,s backend,i scores_only,i latent,i inputs,i block_rows,"
                "i components")
CCluster = _struct("CCluster", "u id,i components,u parent,U born_stream,U seen_stream,d rows,d weight,d birth_rows,"
                   "d birth_gain,i provisional,n name")
CEvent = _struct("CEvent", "i type,i reason,i missed,U sequence,U stream,u id,u other,d gain,d rows,i clusters,i input")
CSnapshot = _struct("CSnapshot", "i clusters,U format,U streams,U rows,U rows_waiting,U events,d time,n version")
CGains = _struct("CGains", "i gains,i born,i clusters,U rows,U base_streams,U base_mark,U encoder_mark")
CMetrics = _struct("CMetrics", "i rows,i labels,i clusters,d nmi,d nmi_geometric,d ari,d homogeneity,d completeness,"
                   "d v_measure,d accuracy,d purity")

# adapvae_result: what a row's score is.
RESULT = [("id", "u4"), ("component", "u4"), ("probability", "f4"), ("novelty", "f4"), ("log_density", "f4"), ("flags", "u4")]
# adapvae_alias: what became of a cluster that was born at a worker.
ALIAS = [("worker", "u8"), ("sequence", "u8"), ("local", "u4"), ("id", "u4")]
EVENTS = ("born merged retired not_born forgotten split noticed labelled undone drifted repaired learnt rescaled "
          "warned").split()
REASONS = "none bound rows room one covariance step rate known range capacity stuck training missing".split()
STAGES = "pretrain adapt embed births joint close".split()
OK, BUSY, NO_MORE, OUT_OF_MEMORY = 0, 60, 62, 20

Progress = ctypes.CFUNCTYPE(c_int32, c_void_p, c_int32, c_double)

# Result (s status, v void, i int32, u id, t text) and arguments (p pointer, i int32, u uint32, d double, z size,
# t text, f progress) of every function.
_FUNCTIONS = {
    "version_number": "i", "version_string": "t", "backend_available": "i i", "instruction_set": "t",
    "status_name": "t i", "last_error": "s pp", "config_init": "s pu", "config_preset": "s ptp", "config_for_rows": "s ppiiipp",
    "preset_name": "t i", "config_set": "s pttp", "config_get": "s ptpzp", "config_field": "s ip",
    "memory_required": "s pppp", "create": "s pppp", "create_from": "s pzppp", "create_scorer": "s pppp",
    "create_scorer_from": "s pzpppp", "reset": "s p", "destroy": "v p", "learn": "s ppiip", "push": "s ppiip",
    "flush": "s pp", "pretrain": "s ppii", "set_time": "s pd", "set_budget": "s pd", "set_progress": "s pfp",
    "stop": "v p", "score": "s ppiip", "probabilities": "s ppiip", "encode": "s ppiipp", "decode": "s ppiip",
    "reconstruct": "s ppiip", "generate": "s puuippp", "interpolate": "s puuipp", "get_info": "s pp",
    "cluster_at": "s pip", "cluster_of": "s pup", "resolve": "u pu", "moments": "s pupp", "label": "s put",
    "merge": "s puuip", "split": "s puipp", "forget": "s pu", "undo": "s p", "set": "s ptt", "get_config": "s pp",
    "set_sensitivity": "s pd", "next_event": "s pp", "event_text": "s pipzp", "explain": "s ppipzp",
    "save": "s ppzp", "load": "s ppz", "inspect": "s pzppp", "evaluate": "s ppippp", "gain": "s ppiippzp",
    "merge_gains": "s pzpzpzpp", "inspect_gains": "s pzpp", "apply_gains": "s ppzpip",
}
_LETTERS = {"s": c_int32, "v": None, "i": c_int32, "u": c_uint32, "t": c_char_p, "p": c_void_p, "d": c_double,
            "z": c_size_t, "f": Progress}
for _name, _text in _FUNCTIONS.items():
    _result, *_arguments = _text.split()
    _function = getattr(lib, "adapvae_" + _name)
    _function.restype = _LETTERS[_result]
    _function.argtypes = [_LETTERS[letter] for letter in "".join(_arguments)]


class AdapVAEError(ValueError):
    """What the library refused, and why; it has changed nothing. status: "ADAPVAE_NON_FINITE" and so on. index: the
    row, the field of the configuration or the byte of a file; -1: none."""

    def __init__(self, message: str, status: str = "ADAPVAE_INVALID_ARGUMENT", index: int = -1):
        super().__init__(message)
        self.status = status
        self.index = index

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.status, self.index)


def fail(error: Any) -> None:
    message = error.message.decode()
    status = lib.adapvae_status_name(error.status).decode()
    if status == "ADAPVAE_NON_FINITE":
        message += " (NaN or inf)"
    raise AdapVAEError(message if error.index < 0 else f"{message} (index {error.index})", status, error.index)


def demand(function: Any, *arguments: Any) -> None:
    """For calls without a model: the adapvae_error goes last."""
    error = CError()
    if function(*arguments, ctypes.byref(error)) != OK:
        fail(error)


# ---- configuration --------------------------------------------------------------------------------------------------

CONFIG_BYTES = 2048  # more than adapvae_config has: what is beyond it stays zero


class Field(NamedTuple):
    """A field of the configuration."""

    name: str
    group: str
    sentence: str
    kind: str  # integer, number, switch, choice
    default: Any
    lowest: float
    highest: float
    choices: List[str]
    live: bool

    def text(self, value: Any) -> bytes:
        if self.kind == "switch" and not isinstance(value, str):
            return b"on" if value else b"off"
        if self.kind == "number" and not isinstance(value, str):
            return repr(float(value)).encode()
        if self.kind == "integer" and not isinstance(value, str) and int(value) == value:
            return str(int(value)).encode()
        return str(value).encode()

    def value(self, text: str) -> Any:
        if self.kind == "switch":
            return text == "on"
        return text if self.kind == "choice" else int(text) if self.kind == "integer" else float(text)


def _read_fields() -> Dict[str, Field]:
    out: Dict[str, Field] = {}
    field = CField()
    while lib.adapvae_config_field(len(out), ctypes.byref(field)) == OK:
        kind = ["integer", "number", "switch", "choice"][field.type]
        choices = field.choices.decode().split()
        default: Any = field.preset if kind == "number" else int(field.preset)
        if kind == "switch":
            default = bool(default)
        elif kind == "choice":
            default = choices[default]
        out[field.name.decode()] = Field(field.name.decode(), field.group.decode(), field.sentence.decode(), kind,
                                         default, field.lowest, field.highest, choices, bool(field.live))
    return out


FIELDS = _read_fields()


class Config:
    """An adapvae_config."""

    def __init__(self, preset: Optional[str] = None):
        self.buffer = ctypes.create_string_buffer(CONFIG_BYTES)
        ctypes.memmove(self.buffer, ctypes.byref(c_uint32(CONFIG_BYTES)), 4)
        if lib.adapvae_config_init(self.buffer, CONFIG_BYTES) != OK:
            raise AdapVAEError("the library does not know its configuration")
        if preset is not None:
            demand(lib.adapvae_config_preset, self.buffer, str(preset).encode())

    def suit(self, rows: Any, inputs: int) -> None:
        """What the library chooses for such rows, of which there may be none."""
        demand(lib.adapvae_config_for_rows, self.buffer, rows.ctypes.data if len(rows) else None, len(rows), inputs,
               rows.strides[0] // 4 if len(rows) > 1 else 0, None)

    def set(self, name: str, value: Any) -> None:
        if name not in FIELDS:
            demand(lib.adapvae_config_set, self.buffer, str(name).encode(), b"0")  # names the field most like it
        try:
            text = FIELDS[name].text(value)
        except (TypeError, ValueError, OverflowError):
            raise AdapVAEError(f"{name}: {value!r} is not a value for it") from None
        demand(lib.adapvae_config_set, self.buffer, name.encode(), text)

    def get(self, name: str) -> Any:
        text = ctypes.create_string_buffer(64)
        if lib.adapvae_config_get(self.buffer, name.encode(), text, 64, None) != OK:
            raise AdapVAEError(f"{name} is not a field of the configuration")
        return FIELDS[name].value(text.value.decode())

    def values(self) -> Dict[str, Any]:
        return {name: self.get(name) for name in FIELDS}
