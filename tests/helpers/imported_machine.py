"""A server that was measured elsewhere."""

from dataclasses import replace

from advisor.calibration.measurement_file import Fingerprint, MeasurementHistory
from advisor.probes.measurement import CurvePoint, Measurement

PARTS = Fingerprint(
    cpu="AMD EPYC 7763 64-Core Processor",
    cores=64,
    memory=256 * 2**30,
    gpus=("NVIDIA GeForce RTX 4090",),
    sockets=1,
    instruction_sets=("avx2",),
    gpu_memory=(24 * 2**30,),
    driver="580.10",
)
RAM = Measurement(
    name="ram_read",
    value=150e9,
    unit="B/s",
    spread=0.02,
    threads=64,
    when="2026-11-20T10:00:00+00:00",
    note="Read RAM.",
    curve=(
        CurvePoint(threads=1, block=0, value=12e9, best=12.5e9),
        CurvePoint(threads=64, block=0, value=150e9, best=152e9),
    ),
)
DISK = replace(RAM, name="disk_read_direct", value=6.4e9, curve=())
COPY = replace(RAM, name="h2d_pinned", value=21e9, curve=())
SERVER = MeasurementHistory(fingerprint=PARTS, history=(RAM, DISK, COPY))
