"""A model of the C library, owned."""
import ctypes
import threading
import weakref
from typing import Any, Callable, Optional

import numpy as np

from ._library import BUSY, OK, STAGES, AdapVAEError, CError, Config, Progress, demand, fail, lib


class Native:
    """One adapvae_model. The library gives a model to one thread at a time: here others wait."""

    def __init__(self, make: Callable[..., int], *arguments: Any):
        """make(*arguments, &model, &error) of the library."""
        handle = ctypes.c_void_p()
        demand(make, *arguments, ctypes.byref(handle))
        self.handle = handle.value
        self._close = weakref.finalize(self, lib.adapvae_destroy, self.handle)
        # Again by the thread that learns, from its progress function: the library refuses that, as it should.
        self.lock = threading.RLock()
        config = self.config()
        self.inputs: int = config.get("inputs")
        self.latent: int = config.get("latent")
        self._progress: Any = None
        self._raised: Optional[BaseException] = None

    def close(self) -> None:
        with self.lock:
            self._close()
            self.handle = None

    def call(self, function: Any, *arguments: Any) -> None:
        with self.lock:
            if self.handle is None:
                raise ValueError("the model is closed")
            status = function(self.handle, *arguments)
            if status == BUSY:  # which the model has no time to note
                raise AdapVAEError("called from within a call on the same model", "ADAPVAE_BUSY")
            if status != OK:
                error = CError()
                lib.adapvae_last_error(self.handle, ctypes.byref(error))
                fail(error)

    def config(self) -> Config:
        config = Config()
        self.call(lib.adapvae_get_config, config.buffer)
        return config

    def on_rows(self, function: Any, rows: np.ndarray, *rest: Any) -> None:
        """function(model, rows, count, stride, *rest); rows as float_rows() gives them."""
        count = rows.shape[0]
        self.call(function, address(rows), count, rows.strides[0] // 4 if count > 1 else 0, *rest)

    def learning(self, progress: Optional[Callable[[str, float], Any]], call: Callable[[], None]) -> None:
        """call(), which learns, telling progress(stage, fraction); False from it, or an exception, Ctrl-C among them,
        ends the stream early. The model is whole then, and the exception goes on."""

        def tell(_context: Any, stage: int, fraction: float) -> int:
            try:
                return 0 if progress is not None and progress(STAGES[stage], fraction) is False else 1
            except BaseException as error:  # noqa: B902: must not cross the library
                self._raised = error
                return 0

        with self.lock:
            if self._progress is not None:  # within a progress function
                call()
                return
            self._progress = Progress(tell)
            self.call(lib.adapvae_set_progress, self._progress, None)
            try:
                call()
            finally:
                raised, self._raised, self._progress = self._raised, None, None
                self.call(lib.adapvae_set_progress, Progress(), None)
                if raised is not None:
                    raise raised

    def to_bytes(self) -> bytes:
        with self.lock:
            size = ctypes.c_size_t()
            self.call(lib.adapvae_save, None, 0, ctypes.byref(size))
            bytes_ = ctypes.create_string_buffer(size.value)
            self.call(lib.adapvae_save, bytes_, size, ctypes.byref(size))
            return bytes_.raw


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def float_rows(given: Any, columns: Optional[int] = None) -> np.ndarray:
    """A matrix of float32 whose rows lie one after the other, with gaps if the caller's have: not copied if it is one."""
    if type(given) is not np.ndarray or given.dtype != np.float32:
        if hasattr(given, "toarray"):
            raise TypeError("sparse rows are not supported: give rows.toarray()")
        given = np.asarray(given)
        if given.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        given = given.astype(np.float32, copy=False) if given.dtype.kind != "f" else _narrow(given)
    if given.ndim != 2:
        raise ValueError(f"Expected 2D array, got {given.ndim}D. Reshape your data: rows.reshape(1, -1) is a single row")
    count, width = given.shape
    if width == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={given.shape}) while a minimum of 1 is required.")
    if columns is not None and width != columns:
        raise ValueError(f"X has {width} features, but AdapVAE is expecting {columns} features as input")
    row, number = given.strides
    if not given.flags.aligned or (number != 4 and width > 1) or row % 4 != 0 or (count > 1 and row < 4 * width):
        given = np.array(given, order="C")
    return given


def _narrow(given: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # becomes infinite, which the library refuses with the row's number
        return given.astype(np.float32, copy=False)
