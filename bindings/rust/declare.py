#!/usr/bin/env python3
"""The declarations of adapvae-sys, from the C headers:  declare.py >adapvae-sys/src/lib.rs;  declare.py --check"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = [HERE.parent.parent / "capi/include/adapvae" / name for name in ("adapvae.h", "adapvae_experimental.h")]
TYPES = {"void": "c_void", "char": "c_char", "float": "f32", "double": "f64", "size_t": "usize", "int32_t": "i32",
         "uint32_t": "u32", "uint64_t": "u64"}


def rust_type(text):
    """`const float*` to `*const f32`."""
    text = text.strip()
    if text.endswith("*"):
        inner = text[:-1].strip()
        constant = inner.startswith("const ") and "*" not in inner
        return f"*{'const' if constant else 'mut'} {rust_type(inner)}"
    text = text.replace("const ", "").strip()
    return TYPES.get(text, text)


def arguments(text):
    out = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if part != "void":
            kind, name = re.fullmatch(r"(.*?[\s*])(\w+)", part).groups()
            out.append((name, rust_type(kind)))
    return out


def signature(result, text):
    listed = ", ".join(f"{name}: {kind}" for name, kind in arguments(text))
    return f"({listed})" + ("" if result.strip() == "void" else f" -> {rust_type(result)}")


def fields(body):
    for line in filter(None, (line.strip() for line in body.split(";"))):
        call = re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", line)
        if call:
            yield call[2], f'Option<unsafe extern "C" fn{signature(call[1], call[3])}>'
            continue
        kind, name, size = re.fullmatch(r"(.*?[\s*])(\w+)(?:\[(\w+)\])?", line).groups()
        yield ("r#type" if name == "type" else name), f"[{rust_type(kind)}; {size}]" if size else rust_type(kind)


def declarations():
    text = "\n".join(path.read_text() for path in HEADERS)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    out = ["//! The C API of adapvae.h, which is the manual. Made by declare.py, not by hand.\n"
           "#![allow(non_camel_case_types)]\n\nuse std::os::raw::{c_char, c_void};\n"]
    for name, value in re.findall(r"#define (ADAPVAE_VERSION_\w+) (\d+)", text):
        out.append(f"pub const {name}: i32 = {value};")
    out.append(f"pub const ADAPVAE_NAME_BYTES: usize = {re.search(r'ADAPVAE_NAME_BYTES (.+)', text)[1].strip()};")
    out.append("pub type adapvae_status = i32;\npub type adapvae_id = u32;\npub const ADAPVAE_NO_ID: adapvae_id = 0;")
    for body in re.findall(r"\benum \{(.*?)\}", text, re.S):
        for name, value in re.findall(r"(\w+) = (\d+)", body):
            kind = "u32" if name in ("ADAPVAE_PROVISIONAL", "ADAPVAE_NOTHING_LEARNT", "ADAPVAE_NOVEL") else "i32"
            out.append(f"pub const {name}: {kind} = {value};")
    out.append("\n#[repr(C)]\npub struct adapvae_model {\n    _private: [u8; 0],\n}\n")
    for result, name, listed in re.findall(r"typedef ([\w ]+?) \(\*(\w+)\)\((.*?)\);", text):
        out.append(f'pub type {name} = Option<unsafe extern "C" fn{signature(result, listed)}>;')
    for name, body in re.findall(r"struct (adapvae_\w+) \{(.*?)\n\}", text, re.S):
        out.append(f"\n#[repr(C)]\n#[derive(Clone, Copy, Debug)]\npub struct {name} {{")
        out += [f"    pub {field}: {kind}," for field, kind in fields(" ".join(body.split()))]
        out.append("}")
    out.append('\nextern "C" {')
    for result, name, listed in re.findall(r"ADAPVAE_API ([\w ]+[ *]+?)(adapvae_\w+)\((.*?)\);", text, re.S):
        out.append(f"    pub fn {name}{signature(result, ' '.join(listed.split()))};")
    out.append("}")
    return "\n".join(out) + "\n"


if "--check" in sys.argv:
    if (HERE / "adapvae-sys/src/lib.rs").read_text() != declarations():
        raise SystemExit("adapvae-sys/src/lib.rs is not what declare.py makes of the headers")
else:
    sys.stdout.write(declarations())
