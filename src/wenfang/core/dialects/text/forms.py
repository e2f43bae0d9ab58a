"""How a reply and a result look in each text dialect. The model is shown these forms, and history is
written in them, so that it sees only well-formed steps of itself.

`{name}`, `{arguments}` (JSON), `{thought}`, `{answer}` and `{result}` are put in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..examples import Language
from .shapes import SHAPES


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    thought: str
    action: str
    answer: str
    result: str


_TAGGED = Form(
    thought="Thought: {thought}",
    action=("Action:\n<tool_name>{name}</tool_name>\n<arguments>\n{arguments}\n</arguments>"),
    answer="<final_answer>\n{answer}\n</final_answer>",
    result="Observation:\n<tool_result>\n{result}\n</tool_result>",
)
_BOLD = Form(
    thought="**Thought**: {thought}",
    action='**Action**:\n```json\n{{"tool": "{name}", "parameters": {arguments}}}\n```',
    answer="**Answer**: {answer}",
    result="**Observation**:\n{result}",
)
_SIMPLE_ZH = Form(
    thought="思考：{thought}",
    action='工具调用：{{"tool": "{name}", "parameters": {arguments}}}',
    answer="答案：{answer}",
    result="观察：\n{result}",
)
_SIMPLE_EN = Form(
    thought="Thought: {thought}",
    action='Action: {{"tool": "{name}", "parameters": {arguments}}}',
    answer="Answer: {answer}",
    result="Observation:\n{result}",
)
_BRACKET = Form(
    thought="Thought: {thought}",
    action="Action: {name}[{arguments}]",
    answer="Answer: {answer}",
    result="Observation:\n{result}",
)
_CLASSIC = Form(
    thought="Thought: {thought}",
    action="Action: {name}\nAction Input: {arguments}",
    answer="Final Answer: {answer}",
    result="Observation:\n{result}",
)

# For all formats that models were trained on: a special token that is written as text is none.
_TRAINED = Form(
    thought="{thought}",
    action='<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>',
    answer="{answer}",
    result="<tool_response>\n{result}\n</tool_response>",
)

# By the name of the shape, in Chinese and in English.
FORMS: Mapping[str, Mapping[Language, Form]] = {
    **{shape.name: {"zh": _TRAINED, "en": _TRAINED} for shape in SHAPES.values() if shape.parallel},
    "tagged": {"zh": _TAGGED, "en": _TAGGED},
    "bold": {"zh": _BOLD, "en": _BOLD},
    "simple": {"zh": _SIMPLE_ZH, "en": _SIMPLE_EN},
    "bracket": {"zh": _BRACKET, "en": _BRACKET},
    "classic": {"zh": _CLASSIC, "en": _CLASSIC},
}
