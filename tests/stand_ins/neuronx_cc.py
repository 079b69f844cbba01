"""The stand-in for neuronx-cc: a program that behaves as the documentation says the real one does.

It checks its command line, reads its HLO protobuf, applies the documented refusals and writes a
NEFF. It compiles nothing. Environment variables beginning with STAND_IN_ make it misbehave:

- MODE: what it does instead (see `misbehave`); with ONCE=FILE only until FILE exists.
- VERSION: the version that it claims. DELAY: seconds that it takes.
- SAY: what it prints as it fails.
- CALLS: a file to which each compilation adds its arguments as a line of JSON.
- INT64_AS_INT32: declare 64-bit inputs and outputs as 32-bit ones, as the default flags do.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
VERSION = "2.27.5334.0+stand.in"
TARGETS = ("inf2", "trn1", "trn1n", "trn2", "trn3")
VALUED = {
    "--framework": ("XLA",),
    "--target": TARGETS,
    "--model-type": ("generic", "transformer", "unet-inference"),
    "--auto-cast": ("none", "matmult", "all"),
    "--auto-cast-type": ("bf16", "fp16", "tf32", "fp8_e4m3"),
    "--native-int64": ("default", "enabled", "disabled"),
    "--implicit-integer-downcast": None,
    "--distribution-strategy": ("llm-training", "NEMO"),
    "--lnc": ("1", "2"),
    "--optlevel": ("1", "2", "3"),
    "--logfile": None,
    "--output": None,
    "--verbose": None,
}
SWITCHES = (
    "--enable-mixed-precision-accumulation",
    "--disable-mixed-precision-accumulation",
    "--enable-saturate-infinity",
    "--enable-fast-context-switch",
    "--enable-fast-loading-neuron-binaries",
)
OPERATORS = (
    "Abs",
    "Add",
    "Convolution",
    "Dot",
    "DotGeneral",
    "Gather",
    "Reduce",
    "Scatter",
    "TopK",
)
ELEMENTS = {
    "PRED": "UINT8", "S8": "INT8", "U8": "UINT8", "S16": "INT16", "U16": "UINT16", "S32": "INT32",
    "U32": "UINT32", "S64": "INT64", "U64": "UINT64", "F16": "FLOAT16", "BF16": "BFLOAT16",
    "F32": "FLOAT32", "F8E5M2": "FP8_E5", "F8E4M3": "FP8_E4",
}  # fmt: skip


def setting(name: str) -> str:
    return os.environ.get(f"STAND_IN_{name}", "")


def usage(problem: str) -> int:
    print(f"usage: neuronx-cc compile ...\nneuronx-cc: error: {problem}", file=sys.stderr)
    return 2


def parse(arguments: list[str]) -> tuple[list[str], dict[str, Any]] | str:
    """The model files and the flags, or what is wrong."""
    models: list[str] = []
    flags: dict[str, Any] = {}
    words = list(arguments)
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            models.append(word)
            continue
        name, equals, value = word.partition("=")
        if name in SWITCHES:
            flags[name] = True
        elif name in VALUED:
            if not equals:
                if not words:
                    return f"argument {name}: expected one argument"
                value = words.pop(0)
            allowed = VALUED[name]
            if allowed is not None and value not in allowed:
                return f"argument {name}: invalid choice: {value!r}"
            flags[name] = value
        else:
            return f"unrecognized arguments: {word}"
    return models, flags


def misbehave(mode: str, output: Path) -> int | None:
    """Do what the mode says; None to go on as if nothing were the matter."""
    say = setting("SAY")
    if say:
        print(say, flush=True)
    if mode in {"", "ok"}:
        return None
    if mode.startswith("exit"):
        return int(mode.removeprefix("exit"))
    if mode.startswith("signal"):
        os.kill(os.getpid(), int(mode.removeprefix("signal")))
    if mode == "missing":
        return 0
    if mode == "empty":
        output.write_bytes(b"")
        return 0
    if mode == "garbage":
        output.write_bytes(b"not a neff" * 500)
        return 0
    if mode == "partial":
        return None
    if mode == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(setting("CHILD") or os.devnull).write_text(f"{os.getpid()} {child.pid}")
        print("Compiling .....", flush=True)
        time.sleep(600)
    raise SystemExit(f"the stand-in has no mode {mode}")


def compile_model(arguments: list[str]) -> int:
    parsed = parse(arguments)
    if isinstance(parsed, str):
        return usage(parsed)
    models, flags = parsed
    if len(models) != 1 or "--framework" not in flags or "--target" not in flags:
        return usage("the following arguments are required: model, --framework, --target")
    if setting("CALLS"):
        with Path(setting("CALLS")).open("a") as stream:
            stream.write(json.dumps(arguments) + "\n")
    target = flags["--target"]
    if target not in {"trn2", "trn3"} and flags.get("--lnc") == "2":
        print(f"[ERROR] [NCC_EARG001] --lnc 2 is not supported on {target}")
        return 1
    # The real one leaves files where it runs.
    Path("log-neuron-cc.txt").write_text("started\n")
    print(f"neuronx-cc {setting('VERSION') or VERSION}: compiling {models[0]}", flush=True)
    delay = float(setting("DELAY") or 0)
    while delay > 0:
        print(f"pass with {delay:.1f} s to go", flush=True)
        time.sleep(min(delay, 0.25))
        delay -= 0.25
    output = Path(flags.get("--output", "file.neff"))
    mode, once = setting("MODE"), setting("ONCE")
    if once and Path(once).exists():
        mode = ""
    elif once:
        Path(once).touch()
    ended = misbehave(mode, output)
    return write_neff(models[0], flags, output, mode) if ended is None else ended


def write_neff(model: str, flags: dict[str, Any], output: Path, mode: str) -> int:
    sys.path.insert(0, str(TESTS))
    from stand_ins import documented_neff
    from stand_ins.hlo_proto import read_module
    from stand_ins.refusals import refuse

    data = Path(model).read_bytes()
    try:
        module = read_module(data)
    except ValueError as error:
        print(f"[ERROR] [NCC_EVRF064] HLO verification failed: {error}")
        return 1
    allowed = set(flags.get("--implicit-integer-downcast", "all").split(","))
    if allowed & {"all", "default"}:
        allowed = {"dot", "scatter", "all_reduce", "reduce_scatter", "pow"}
    refused = list(refuse(module, flags["--target"], allowed))
    for code, message, instruction in refused:
        print(f"[ERROR] [NCC_{code}] {message}\n  {instruction}")
    if refused:
        return 70
    neff = documented_neff.write(
        members_of(module, data, flags),
        name=module.name,
        lnc=int(flags.get("--lnc", 1)),
        is_gzipped="--enable-fast-loading-neuron-binaries" not in flags,
        uuid=hashlib.md5(data).digest(),
    )
    output.write_bytes(neff[: len(neff) // 2] if mode == "partial" else neff)
    print("Compiler status PASS")
    return 0


def members_of(module: Any, data: bytes, flags: dict[str, Any]) -> dict[str, bytes]:
    """The documented files, and the listing that the stand-in of libnrt runs."""
    lines = []
    for usage, shapes in (("input", module.parameters), ("output", module.results)):
        for index, shape in enumerate(shapes):
            element = ELEMENTS[shape.element]
            if setting("INT64_AS_INT32"):
                element = element.replace("INT64", "INT32")
            sizes = " ".join(map(str, shape.sizes))
            lines.append(
                f"tensor {usage}{index} {usage} {element} {len(shape.sizes)} {sizes}".strip()
            )
    lines += listing(module)
    return {
        "neff.json": json.dumps({"name": module.name, "target": flags["--target"]}).encode(),
        "kelf-0.json": b"{}",
        "info.json": json.dumps({"flags": sorted(map(str, flags))}).encode(),
        "hlo_stats.json": json.dumps({"computations": len(module.computations)}).encode(),
        "metrics.json": b"{}",
        "sg00/def.json": b"{}",
        "sg00/model.hlo.pb": data,
        "sg00/listing.txt": ("\n".join(lines) + "\n").encode(),
    }


def listing(module: Any) -> list[str]:
    """The entry computation, where it is one of the few that the stand-in of libnrt can run."""
    entry = module.computations[module.entry]
    names = {}
    lines = []
    for number, instruction in entry.instructions.items():
        if instruction.opcode == "parameter":
            names[number] = f"input{instruction.first(9, 0)}"
        elif instruction.opcode in {"add", "subtract", "multiply", "maximum", "negate"}:
            names[number] = f"t{number}"
            sources = " ".join(names[i] for i in instruction.operands)
            lines.append(f"{instruction.opcode} t{number} {sources}")
        elif instruction.opcode != "tuple":
            return ["unknown"]
    root = entry.instructions[entry.root]
    results = root.operands if root.opcode == "tuple" else [root.id]
    return lines + [f"copy output{i} {names[number]}" for i, number in enumerate(results)]


def main() -> int:
    words = sys.argv[1:]
    if words == ["--version"]:
        print(f"NeuronX Compiler version {setting('VERSION') or VERSION}\n\nPython version 3.11")
        return int(setting("VERSION_EXIT") or 0)
    if words[:1] == ["compile"]:
        return compile_model(words[1:])
    if words[:1] == ["list-operators"]:
        print("\n".join(OPERATORS))
        return 0
    return usage("invalid choice")


def install(folder: Path) -> Path:
    """Put the stand-in into `folder` as an executable called `neuronx-cc`."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "neuronx-cc"
    script = Path(__file__).resolve()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {script} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


if __name__ == "__main__":
    sys.exit(main())
