"""What reading a text dialect costs per delta of ordinary text, above native calling. The gate, 3 us, is in
the design's time (see `server.py`)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import count

from wenfang.core.dialects import DIALECTS
from wenfang.core.messages import user
from wenfang.core.models import Delta

# An answer in each form, up to where its text begins.
OPENINGS = {
    "tagged": "<thought>想一想。</thought>\n<answer>",
    "markdown": "**Thought:** plain\n\n**Final Answer:** ",
    "plain_zh": "思考：想一想\n最终答案：",
    "bracket": "Thought: plain\nFinish[",
    "classic": "Thought: plain\nFinal Answer: ",
}
TEXT = 40 * (
    "The road went on along the river, past the mill and the old ferry house, and nobody spoke. "
    "她把信放在桌上，没有拆开。窗外的雨下了一整夜，街灯照着湿漉漉的石板路。"
    "In the morning the harbour was grey and quiet; three boats were missing. 船长说：没有人会回来了。\n"
)
DELTA_CHARS = 4
ROUNDS = 9


def deltas(text: str) -> list[Delta]:
    return [
        Delta(kind="text", text=text[at : at + DELTA_CHARS])
        for at in range(0, len(text), DELTA_CHARS)
    ]


def decoding_us(name: str, opening: str, pieces: Sequence[Delta]) -> float:
    """CPU microseconds per delta of one answer."""
    ids = count()
    conversation = DIALECTS[name].open((), lambda: str(next(ids)))
    conversation.request([user("写一章")], tool_choice="auto", stream=True)
    decoder = conversation.decoder()
    for delta in deltas(opening):
        decoder.feed(delta)
    shown = 0
    began = time.process_time()
    for delta in pieces:
        for each in decoder.feed(delta):
            shown += len(each.text)
    spent = time.process_time() - began
    if shown < len(TEXT) * 0.9:
        raise SystemExit(f"{name} showed {shown} of {len(TEXT)} characters")
    return spent * 1e6 / len(pieces)


def above_native() -> dict[str, float]:
    """CPU microseconds per delta of each text dialect, without those of native calling."""
    pieces = deltas(TEXT)
    best = {
        name: min(decoding_us(name, opening, pieces) for _ in range(ROUNDS))
        for name, opening in {"native": "", **OPENINGS}.items()
    }
    native = best.pop("native")
    return {name: us - native for name, us in best.items()}
