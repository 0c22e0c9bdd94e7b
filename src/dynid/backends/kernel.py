"""Programs compiled for this machine: LLVM IR with vector types, one lane per sample, through llvmlite.

A kernel walks over samples in groups of as many lanes as the host's vectors have. Inputs are read where the
caller has them, with any strides; lanes past the last sample repeat it. Operations are emitted in the order
in which the equations made them and each output is stored as soon as it is known, which keeps values in
registers; LLVM's optimiser is not run, it gains nothing here and its time grows faster than the program.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
from numpy.typing import NDArray

from dynid.backends.cache import load_object, store_object
from dynid.backends.layout import Rows, Signature, Tile
from dynid.backends.sincos import emit_sincos, splat
from dynid.program import Program
from dynid.spatial import Array
from dynid.steps import steps_of

llvm: Any = llvmlite.binding  # it carries no types

# Samples a thread takes at a time: enough to hide the call, few enough to share the work evenly.
CHUNK = 4096
PREFETCH = 64  # samples ahead; hides most of the time that inputs take to come from memory


@dataclass(frozen=True)
class Host:
    cpu: str
    features: str
    lanes: int
    fma: bool


@cache
def host() -> Host:
    """The machine's vectors; llvmlite is initialised on the way."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    lanes = 8 if features.get("avx512f") else 4 if features.get("avx") else 2
    fma = bool(features.get("fma")) or not llvm.get_default_triple().startswith(("x86", "i"))
    return Host(llvm.get_host_cpu_name(), features.flatten(), lanes, fma)


# --- emission -----------------------------------------------------------------------------------------


class _Writer:
    """Lines of one basic block, with fresh names for results."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.lines: list[str] = []

    def __call__(self, instruction: str) -> str:
        name = f"{self.prefix}{len(self.lines)}"
        self.lines.append(f"{name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        self.lines.append(instruction)


def emit(program: Program, signature: Signature, layout: Rows | Tile, target: Host) -> str:
    """The module's text: one function `kernel(block, first, last)`.

    The block holds, as 64-bit integers: for each array its address, row stride and column stride in bytes,
    the address of the common array if there is one, the address of the output, and its row stride.
    """
    before, inside = _Writer("%c"), _Writer("%t")
    vector = f"<{target.lanes} x double>"
    samples = _lane_samples(target.lanes, inside)
    out = 3 * len(signature.arrays) + (1 if signature.common else 0)
    load = _input_loader(signature, samples, vector, before, inside)
    store = _output_store(out, layout, samples, vector, before, inside)
    if isinstance(layout, Rows):
        load, store = _poisoned(signature, vector, inside, load, store)
    _body(program, target, inside, load, store)
    lanes = target.lanes
    return "\n".join(
        [
            f"declare {vector} @llvm.fma.v{lanes}f64({vector}, {vector}, {vector})",
            "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
            # A vector that crosses a line of the cache costs two accesses, so the stack, where values wait
            # that find no register, is aligned like the vectors.
            f"define void @kernel(ptr noalias %block, i64 %first, i64 %last) alignstack({8 * lanes}) {{",
            "entry:",
            "%final = sub i64 %last, 1",
            *before.lines,
            "br label %loop",
            "loop:",
            "%s = phi i64 [%first, %entry], [%next, %loop]",
            *inside.lines,
            f"%next = add i64 %s, {lanes}",
            "%more = icmp slt i64 %next, %last",
            "br i1 %more, label %loop, label %exit",
            "exit:",
            "ret void",
            "}",
            "",
        ]
    )


def _word(write: _Writer, index: int) -> str:
    """The block's entry number `index`."""
    return write(f"load i64, ptr {write(f'getelementptr i64, ptr %block, i64 {index}')}")


def _lane_samples(lanes: int, write: _Writer) -> list[str]:
    """The sample each lane works on: lanes past the end repeat the last sample."""
    samples: list[str] = []
    for lane in range(lanes):
        sample = write(f"add i64 %s, {lane}")
        late = write(f"icmp sgt i64 {sample}, %final")
        samples.append(write(f"select i1 {late}, i64 %final, i64 {sample}"))
    return samples


def _row_pointers(base: str, stride: str, samples: Sequence[str], write: _Writer) -> list[str]:
    """Where each lane's row begins."""
    return [
        write(f"getelementptr i8, ptr {base}, i64 {write(f'mul i64 {sample}, {stride}')}")
        for sample in samples
    ]


def _input_loader(
    signature: Signature, samples: Sequence[str], vector: str, before: _Writer, inside: _Writer
) -> Callable[[str], str]:
    """A function that emits the load of a named input and returns the name of its value."""
    where: dict[str, tuple[list[str], str]] = {}
    for a, (stem, width) in enumerate(signature.arrays):
        base = before(f"inttoptr i64 {_word(before, 3 * a)} to ptr")
        row_stride, column_stride = _word(before, 3 * a + 1), _word(before, 3 * a + 2)
        pointers = _row_pointers(base, row_stride, samples, inside)
        ahead = before(f"mul i64 {row_stride}, {PREFETCH}")
        for pointer in pointers:
            later = inside(f"getelementptr i8, ptr {pointer}, i64 {ahead}")
            inside.do(f"call void @llvm.prefetch.p0(ptr {later}, i32 0, i32 3, i32 1)")
        for k in range(width):
            where[f"{stem}{k + 1}"] = (pointers, before(f"mul i64 {column_stride}, {k}"))
    common: dict[str, str] = {}
    if signature.common:
        stem, width = signature.common
        shared = before(f"inttoptr i64 {_word(before, 3 * len(signature.arrays))} to ptr")
        for k in range(width):
            common[f"{stem}{k + 1}"] = f"getelementptr double, ptr {shared}, i64 {k}"

    def load(name: str) -> str:
        if name in common:
            one = inside(f"load double, ptr {inside(common[name])}")
            first = inside(f"insertelement {vector} undef, double {one}, i32 0")
            zeros = f"<{len(samples)} x i32> zeroinitializer"
            return inside(f"shufflevector {vector} {first}, {vector} undef, {zeros}")
        value = "undef"
        pointers, column = where[name]
        for lane, pointer in enumerate(pointers):
            one = inside(f"load double, ptr {inside(f'getelementptr i8, ptr {pointer}, i64 {column}')}")
            value = inside(f"insertelement {vector} {value}, double {one}, i32 {lane}")
        return value

    return load


def _output_store(
    index: int, layout: Rows | Tile, samples: Sequence[str], vector: str, before: _Writer, inside: _Writer
) -> Callable[[int, str], None]:
    """A function that emits the store of output k; the block's entry `index` is the output's address."""
    base = before(f"inttoptr i64 {_word(before, index)} to ptr")
    if isinstance(layout, Tile):
        column = inside(f"getelementptr double, ptr {base}, i64 {inside('sub i64 %s, %first')}")

        def store_column(k: int, value: str) -> None:
            address = inside(f"getelementptr double, ptr {column}, i64 {k * layout.samples}")
            inside.do(f"store {vector} {value}, ptr {address}, align 8")

        return store_column
    pointers = _row_pointers(base, _word(before, index + 1), samples, inside)

    def store_row(k: int, value: str) -> None:
        for lane, pointer in enumerate(pointers):
            one = inside(f"extractelement {vector} {value}, i32 {lane}")
            address = inside(f"getelementptr double, ptr {pointer}, i64 {layout.offsets[k]}")
            inside.do(f"store double {one}, ptr {address}, align 8")

    return store_row


def _poisoned(
    signature: Signature,
    vector: str,
    inside: _Writer,
    load: Callable[[str], str],
    store: Callable[[int, str], None],
) -> tuple[Callable[[str], str], Callable[[int, str], None]]:
    """Load and store under which a NaN or infinity anywhere in a sample reaches all of its outputs.

    Without this an input that happens to have no effect would swallow its NaN.
    """
    loaded = {
        f"{stem}{k + 1}": load(f"{stem}{k + 1}") for stem, width in signature.arrays for k in range(width)
    }
    poison = "zeroinitializer"
    for value in loaded.values():
        nothing = inside(f"fmul {vector} {value}, zeroinitializer")
        poison = inside(f"fadd {vector} {poison}, {nothing}")

    def store_poisoned(k: int, value: str) -> None:
        store(k, inside(f"fadd {vector} {value}, {poison}"))

    return lambda name: loaded.get(name) or load(name), store_poisoned


def _body(
    program: Program,
    target: Host,
    write: _Writer,
    load: Callable[[str], str],
    store: Callable[[int, str], None],
) -> None:
    """All steps in order; each output is stored as soon as it is known."""
    vector = f"<{target.lanes} x double>"
    code = steps_of(program)
    value: dict[int, str] = {}
    pairs: dict[int, tuple[str, str]] = {}
    outputs: dict[int, list[int]] = {}
    for k, out in enumerate(code.outputs):
        if isinstance(out, int):
            outputs.setdefault(out, []).append(k)
        else:
            store(k, splat(target.lanes, out))
    for kind, number, a, b, what in code.steps:
        match kind:
            case "const":
                value[number] = splat(target.lanes, float(what))
            case "input":
                value[number] = load(str(what))
            case "sin" | "cos":
                if a not in pairs:
                    pairs[a] = emit_sincos(write, value[a], target.lanes, target.fma)
                value[number] = pairs[a][0 if kind == "sin" else 1]
            case "neg":
                value[number] = write(f"fneg {vector} {value[a]}")
            case "double":
                value[number] = write(f"fadd {vector} {value[a]}, {value[a]}")
            case _:
                op = {"*": "fmul", "+": "fadd", "-": "fsub"}[kind]
                value[number] = write(f"{op} contract {vector} {value[a]}, {value[b]}")
        for k in outputs.get(number, ()):
            store(k, value[number])


# --- compilation --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kernel:
    """A compiled program; `run` may be called from several threads at once."""

    signature: Signature
    layout: Rows | Tile
    function: Callable[[int, int, int], None]
    engine: Any  # keeps the machine code alive

    def bind(self, arrays: Sequence[Array], common: Array | None, out: Array) -> Callable[[int, int], None]:
        """A function of (first, last) for these samples of these arrays, which it keeps alive."""
        block = self._block(arrays, common, out)
        address, function = block.ctypes.data, self.function

        def run(first: int, last: int, _alive: object = (self, block, arrays, common, out)) -> None:
            if last > first:
                function(address, first, last)

        return run

    def run_all(self, arrays: Sequence[Array], common: Array | None, out: Array, count: int) -> None:
        """All samples, on as many threads as they are worth."""
        run = self.bind(arrays, common, out)
        if count <= CHUNK:
            run(0, count)
            return
        chunks = [(k, min(k + CHUNK, count)) for k in range(0, count, CHUNK)]
        for done in [_pool().submit(run, *chunk) for chunk in chunks]:
            done.result()

    def _block(self, arrays: Sequence[Array], common: Array | None, out: Array) -> NDArray[np.int64]:
        """Addresses and strides of these arrays."""
        words: list[int] = []
        for array in arrays:
            words += [array.ctypes.data, array.strides[0], array.strides[1]]
        if common is not None:
            words.append(common.ctypes.data)
        words += [out.ctypes.data, out.strides[0]]
        return np.array(words, dtype=np.int64)


@cache
def _pool() -> ThreadPoolExecutor:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return ThreadPoolExecutor(cores)


if hasattr(os, "register_at_fork"):  # threads do not survive a fork: the child makes its own
    os.register_at_fork(after_in_child=_pool.cache_clear)


def compile_program(program: Program, signature: Signature, layout: Rows | Tile) -> Kernel:
    """Machine code for a program whose inputs are those of the signature."""
    target = host()
    text = emit(program, signature, layout, target)
    engine = _engine(text, target)
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    return Kernel(signature, layout, prototype(engine.get_function_address("kernel")), engine)


def _engine(text: str, target: Host) -> Any:
    """An execution engine with the module's code, from the cache on disk where it is there."""
    key = "\n".join([text, target.cpu, target.features, ".".join(map(str, llvm.llvm_version_info))])
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=target.cpu, features=target.features, opt=2
    )
    stored = load_object(key)
    if stored is not None:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(stored))
        engine.finalize_object()
        return engine
    module = llvm.parse_assembly(text)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, machine)

    def keep(_module: Any, code: Any) -> None:
        store_object(key, bytes(code))

    engine.set_object_cache(notify_func=keep)
    engine.finalize_object()
    return engine
