"""Replies that are made to be misread, one row per rule of dialects.md and shape. The rules themselves, with
every cut of every text, are in `test_text_parser`; these rows are run through the public door."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wenfang.testing.dialects import new_parser, parse


def tool(
    name: str,
    required: Sequence[str] = (),
    access: str = "exec",
    aliases: Mapping[str, str] | None = None,
    **types: str,
) -> dict[str, Any]:
    properties = {key: {"type": kind} for key, kind in types.items()}
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "parameters": parameters, "access": access, "aliases": aliases or {}}


TOOLS = (
    tool(
        "find_book",
        ("title",),
        "read",
        {"name": "title", "max": "limit"},
        title="string",
        limit="integer",
    ),
    tool("lend", ("book", "reader"), "write", book="string", reader="string"),
    tool("run_code", ("code",), code="string"),
    tool("save_note", ("path", "text"), "write", path="string", text="string"),
    tool("opening_hours", (), "read"),
    tool(
        "label_box", ("code",), "read", code="string", count="integer", tags="array", meta="object"
    ),
)
Expected = tuple[str, Any]


def call(name: str, /, **arguments: Any) -> Expected:
    return "tool", [[name, arguments]]


def calls(*each: Expected) -> Expected:
    return "tool", [one for _, some in each for one in some]


def answer(text: str) -> Expected:
    return "final", text


def repair(reason: str, name: str | None = None) -> Expected:
    return "repair", (reason, name)


HOURS = call("opening_hours")
MOBY = call("find_book", title="Moby")
DREAM = call("find_book", title="红楼梦")
LENT = call("lend", book="a", reader="b")
LABELS = "x\nObservation: done\nFinal Answer: no"
FENCES = "```\n**Action**:\n```json\n{}"
LEND = '{"book": "a", "reader": "b"}'


def note(text: str) -> Expected:
    return call("save_note", path="a", text=text)


def noted(text: str) -> str:
    return json.dumps({"path": "a", "text": text}, ensure_ascii=False)


ROWS: list[tuple[str, str, str, Expected]] = [
    # 5.5 protocol words inside of arguments end nothing
    ("5.5 labels in a string", "classic", f"Action: save_note\nAction Input: {noted(LABELS)}", note(LABELS)),
    ("5.5 labels in a string, raw lines", "classic", 'Action: save_note\nAction Input: {"path": "a", "text": "x\nObservation: done\nFinal Answer: no"}', note("x\nObservation: done\nFinal Answer: no")),
    ("5.5 tags in a string", "tagged", f"<tool_name>save_note</tool_name>\n<arguments>{noted('<tool_name>lend</tool_name></arguments>')}</arguments>", note("<tool_name>lend</tool_name></arguments>")),
    ("5.5 fences in a string", "bold", f'**Action**:\n```json\n{{"tool": "save_note", "parameters": {noted(FENCES)}}}\n```', note(FENCES)),
    ("5.5 Hermes tags in a string", "hermes", f'<tool_call>\n{{"name": "save_note", "arguments": {noted("</tool_call><tool_call>{")}}}\n</tool_call>', note("</tool_call><tool_call>{")),
    ("5.5 Mistral tokens in a string", "mistral", f'[TOOL_CALLS] [{{"name": "save_note", "arguments": {noted("[TOOL_CALLS][ARGS] ]}")}}}]', note("[TOOL_CALLS][ARGS] ]}")),
    ("5.5 Kimi tokens in a string", "kimi_k2", f"<|tool_calls_section_begin|><|tool_call_begin|>functions.save_note:3<|tool_call_argument_begin|>{noted('<|tool_call_end|>')}<|tool_call_end|>", note("<|tool_call_end|>")),
    ("5.5 DeepSeek tokens and a fence in a string", "deepseek_v31", f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>save_note<｜tool▁sep｜>{noted('<｜tool▁call▁end｜>```json')}<｜tool▁call▁end｜>", note("<｜tool▁call▁end｜>```json")),
    ("5.5 channel tokens in a string", "harmony", f"<|channel|>commentary to=functions.save_note <|constrain|>json<|message|>{noted('<|call|><|end|>')}<|call|>", note("<|call|><|end|>")),
    ("5.5 a function in a value", "qwen3_coder", "<tool_call>\n<function=save_note>\n<parameter=path>\na\n</parameter>\n<parameter=text>\n<function=lend>\n</function>\n</parameter>\n</function>\n</tool_call>", note("<function=lend>\n</function>")),
    ("5.5 only the framing line breaks are dropped", "qwen3_coder", "<function=save_note>\n<parameter=path>\na\n</parameter>\n<parameter=text>\n\n  x\n\n</parameter>\n</function>", note("\n  x\n")),
    ("5.5 an end of an invocation in a value", "minimax_m2", '<minimax:tool_call>\n<invoke name="save_note">\n<parameter name="path">a</parameter>\n<parameter name="text"></invoke> & "x"</parameter>\n</invoke>\n</minimax:tool_call>', note('</invoke> & "x"')),
    ("5.5 a key in a value", "glm45", "<tool_call>save_note\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>text</arg_key>\n<arg_value>see <arg_key>text</arg_key>, ok</arg_value>\n</tool_call>", note("see <arg_key>text</arg_key>, ok")),
    ("5.5 a comment in an address", "classic", 'Action: find_book\nAction Input: {"title": "https://x.org/a?b=//c#d"}', call("find_book", title="https://x.org/a?b=//c#d")),
    ("5.5 entities stay", "classic", 'Action: find_book\nAction Input: {"title": "Tom &amp; Ann"}', call("find_book", title="Tom &amp; Ann")),
    ("5.5 text that is JSON stays text", "qwen3_coder", '<function=label_box>\n<parameter=code>\n{"a": 1}\n</parameter>\n<parameter=tags>\n["x"]\n</parameter>\n<parameter=meta>\n{"k": null}\n</parameter>\n</function>', call("label_box", code='{"a": 1}', tags=["x"], meta={"k": None})),
    # 5.5 words behind the arguments
    ("5.5 words behind an object", "classic", 'Action: find_book\nAction Input: {"title": "Moby"} and then I will see.', MOBY),
    ("5.5 words behind the tags", "tagged", '<tool_name>find_book</tool_name>\n<arguments>{"title": "Moby"}</arguments>\nNow I wait.', MOBY),
    ("5.5 words behind a fence", "bold", '**Action**:\n```json\n{"tool": "find_book", "parameters": {"title": "Moby"}}\n```\n等待结果。', MOBY),
    ("5.5 words behind a call", "simple", 'Action: {"tool": "find_book", "parameters": {"title": "Moby"}} (waiting)', MOBY),
    ("5.5 words behind brackets", "bracket", "Action: find_book[Moby]. Then I decide.", MOBY),
    ("5.5 a stray quote at the end", "classic", 'Action: find_book\nAction Input: {"title": "Moby"}"', MOBY),
    ("5.5 a string goes on behind its bracket", "classic", 'Action: find_book\nAction Input: {"title": "use "}" here", "limit": 1}', repair("bad_json", "find_book")),
    ("5.5 the same where it would be complete", "classic", 'Action: run_code\nAction Input: {"code": "print("}")"}', repair("bad_json", "run_code")),
    # 5.5 step 4: quotes inside of strings, for tools that only read
    ("5.5 a quotation", "classic", 'Action: find_book\nAction Input: {"title": "the "old" man", "limit": 2}', call("find_book", title='the "old" man', limit=2)),
    ("5.5 a quotation at the start", "classic", 'Action: find_book\nAction Input: {"title": ""old" man"}', call("find_book", title='"old" man')),
    ("5.5 a quotation at the end", "bold", '**Action**: {"tool": "find_book", "parameters": {"title": "man "old""}}', call("find_book", title='man "old"')),
    ("5.5 quotations with commas", "classic", 'Action: find_book\nAction Input: {"title": "he said "yes, no", or "maybe"", "limit": 1}', call("find_book", title='he said "yes, no", or "maybe"', limit=1)),
    ("5.5 a quotation in Chinese", "tagged", '<tool_name>find_book</tool_name>\n<arguments>{"title": "论"慢"生活"}</arguments>', call("find_book", title='论"慢"生活')),
    ("5.5 a quotation for a tool that writes", "classic", 'Action: lend\nAction Input: {"book": "the "old" man", "reader": "An"}', repair("bad_json", "lend")),
    ("5.5 the same, named in the object", "hermes", '<tool_call>{"name": "lend", "arguments": {"book": "the "old" man", "reader": "An"}}</tool_call>', repair("bad_json", "lend")),
    ("5.5 an answer is never guessed", "bold", '**Action**: {"action": "Final Answer", "action_input": "the "old" man"}', repair("unknown_tool", "Final Answer")),
    ("5.5 a quotation, then a call that writes", "hermes", f'<tool_call>[{{"name": "find_book", "arguments": {{"title": "the "a" b"}}}}, {{"name": "lend", "arguments": {LEND}}}]</tool_call>', call("find_book", title='the "a" b')),
    ("5.5 a sum of strings is no quotation", "classic", 'Action: find_book\nAction Input: {"title": "a" + "b"}', repair("bad_json", "find_book")),
    ("5.5 three quotes are no quotation", "classic", 'Action: find_book\nAction Input: {"title": """Moby"""}', repair("bad_json", "find_book")),
    ("5.5 one quote is no quotation", "classic", 'Action: find_book\nAction Input: {"title": "5" pipe", "limit": 1}', repair("truncated", "find_book")),
    ("5.5 a single quote in single quotes", "classic", "Action: find_book\nAction Input: {'title': 'it's'}", repair("bad_json", "find_book")),
    # 5.5 aliases of arguments
    ("5.5 an alias", "classic", 'Action: find_book\nAction Input: {"name": "Moby", "max": 2}', call("find_book", name="Moby", max=2)),
    ("5.5 an alias in a flat call", "bold", '**Action**: {"tool": "find_book", "max": 2, "title": "Moby"}', call("find_book", title="Moby", max=2)),
    ("5.5 the type of an alias", "qwen3_coder", "<function=find_book>\n<parameter=name>\n007\n</parameter>\n<parameter=max>\n3\n</parameter>\n</function>", call("find_book", name="007", max=3)),
    ("5.5 a wrong type under an alias", "classic", 'Action: find_book\nAction Input: {"name": ["Moby"]}', repair("invalid_arguments", "find_book")),
    # 5.3 input without JSON
    ("5.3 program in a fence", "classic", "Action: run_code\nAction Input:\n```python\n    x = 1\n    print(x)\n```\nObservation: 1", call("run_code", code="    x = 1\n    print(x)")),
    ("5.3 fences in a fence", "classic", "Action: run_code\nAction Input:\n```\n# T\n```bash\nmake\n```\nmore\n```\n", call("run_code", code="# T\n```bash\nmake\n```\nmore")),
    ("5.3 a longer fence", "bracket", "Action: run_code\nAction Input:\n````\n```\nx\n```\n````\n\nThought: so", call("run_code", code="```\nx\n```")),
    ("5.3 labels in a fence", "classic", "Action: run_code\nAction Input:\n```python\n# x\nAction: lend\nprint(1)\n```", call("run_code", code="# x\nAction: lend\nprint(1)")),
    ("5.3 a fence, then what a stop word left", "classic", "Action: run_code\nAction Input:\n```py\nx\n```\nObserv", call("run_code", code="x")),
    ("5.3 a fence in a turn in a fence", "classic", "```\nAction: run_code\nAction Input:\n```py\nprint(1)\n```\n```", call("run_code", code="print(1)")),
    ("5.3 a fence with words behind it", "classic", "Action: run_code\nAction Input:\n```python\nprint(1)\n```\nThis prints one.", repair("bad_json", "run_code")),
    ("5.3 a fence on one line", "classic", "Action: run_code\nAction Input: ```print(1)```", repair("bad_json", "run_code")),
    ("5.3 a fence that is not closed", "classic", "Action: run_code\nAction Input:\n```python\nprint(1)\n", repair("truncated", "run_code")),
    ("5.3 a fence for two arguments", "classic", "Action: save_note\nAction Input:\n```\nhi\n```", repair("bad_json", "save_note")),
    ("5.3 nothing in a fence", "classic", "Action: run_code\nAction Input:\n```\n```", repair("missing_args", "run_code")),
    ("5.3 object as inline code", "classic", 'Action: find_book\nAction Input: `{"title": "Moby"}`', MOBY),
    ("5.3 call as inline code", "bold", '**Action**: ``{"tool": "find_book", "parameters": {"title": "Moby"}}``', MOBY),
    ("5.3 text as inline code", "classic", "**Action:** `find_book`\n**Action Input:** `Moby`", MOBY),
    ("5.3 named text in brackets", "bracket", 'Action: find_book[title="Moby"]', MOBY),
    ("5.3 named texts in brackets", "bracket", 'Action: lend[book="a", reader="b"]', LENT),
    ("5.3 another name is text", "bracket", 'Action: find_book[author="Moby"]', call("find_book", title='author="Moby"')),
    ("5.3 a program that begins like a name", "classic", 'Action: run_code\nAction Input: code = "x"\nprint(code)', call("run_code", code='code = "x"\nprint(code)')),
    # Chinese, and the signs of its keyboard
    ("5.4 labels in Chinese", "classic", "思考：查。\n行动：find_book\n行动输入：红楼梦\n观察：", DREAM),
    ("5.4 call in Chinese", "plain_zh", '思考：先查。\n工具调用：{"tool": "find_book", "parameters": {"title": "红楼梦"}}\n观察：有\n答案：有。', DREAM),
    ("5.4 decorated label in Chinese", "plain_zh", '**工具调用**：\n```json\n{"tool": "find_book", "parameters": {"title": "红楼梦"}}\n```', DREAM),
    ("5.4 name and arguments in Chinese", "plain_zh", '工具调用：find_book\n参数：{"title": "红楼梦"}', DREAM),
    ("5.4 a sentence about calls", "plain_zh", '工具调用是一种格式，例如 {"tool": "find_book"}。', answer('工具调用是一种格式，例如 {"tool": "find_book"}。')),
    ("5.4 labels in an answer", "plain_zh", "答案：一。\n思考：三", answer("一。\n思考：三")),
    ("5.5 wide brackets", "classic", "Action： find_book\nAction Input： ｛“title”： “红楼梦”｝", DREAM),
    ("5.5 wide brackets around a call", "bold", '**Action**: ｛"tool": "find_book", "parameters": ｛"title"："红楼梦"｝｝', DREAM),
    ("5.5 wide brackets behind a name", "classic", 'Action: find_book ｛"title"："红楼梦"｝', DREAM),
    ("5.5 wide digits", "classic", 'Action: find_book\nAction Input: {"title": "红楼梦", "limit": ３}', repair("bad_json", "find_book")),
    ("5.5 keys in Chinese are no names", "plain_zh", '工具调用: {"工具": "find_book", "参数": {"title": "红楼梦"}}', repair("bad_json")),
    ("5.10 what was neutralised stays so", "tagged", "＜tool_name＞lend＜/tool_name＞", repair("no_action")),
    # 5.2 line ends, marks, thoughts
    ("5.2 CRLF and a mark", "classic", '\ufeffThought: a\r\nAction: find_book\r\nAction Input: {"title": "Moby"}\r\n', MOBY),
    ("5.2 CRLF in an answer", "tagged", "\ufeff\r\n<final_answer>\r\none\r\ntwo\r\n</final_answer>\r\n", answer("one\ntwo")),
    ("5.2 CRLF between tags", "qwen3_coder", "<tool_call>\r\n<function=find_book>\r\n<parameter=title>\r\nMoby\r\n</parameter>\r\n</function>\r\n</tool_call>", MOBY),
    ("5.2 CRLF in a fence", "classic", "Action: run_code\r\nAction Input:\r\n```py\r\nx\r\n```\r\n", call("run_code", code="x")),
    ("5.2 action in a thought", "tagged", "<think>maybe <tool_name>lend</tool_name></think>\n<tool_name>opening_hours</tool_name>", HOURS),
    ("5.2 label right behind a thought", "classic", "<thinking>Action: lend</thinking>Action: opening_hours", HOURS),
    ("5.2 blanks around a thought are no text", "hermes", f"\n<think>so</think>\n\n<tool_call>\n{{\"name\": \"lend\", \"arguments\": {LEND}}}\n</tool_call>", LENT),
    # 5.3 two actions, or an action and an answer
    ("5.3 thought behind an action", "classic", f'Action: find_book\nAction Input: {{"title": "Moby"}}\nThought: then\nAction: lend\nAction Input: {LEND}', MOBY),
    ("5.3 two actions in tags", "tagged", f'<tool_name>find_book</tool_name><arguments>{{"title": "Moby"}}</arguments>\n<tool_name>lend</tool_name><arguments>{LEND}</arguments>', MOBY),
    ("5.3 action behind an answer", "tagged", f"<final_answer>done</final_answer>\n<tool_name>lend</tool_name><arguments>{LEND}</arguments>", answer("done")),
    ("5.3 action in an answer", "classic", f"Final Answer: so\nAction: lend\nAction Input: {LEND}", answer(f"so\nAction: lend\nAction Input: {LEND}")),
    ("5.3 action without input, then another", "classic", f"Action: find_book\nAction: lend\nAction Input: {LEND}", repair("missing_args", "find_book")),
    ("5.3 second call unknown", "hermes", '<tool_call>{"name": "find_book", "arguments": {"title": "Moby"}}</tool_call><tool_call>{"name": "nope", "arguments": {}}</tool_call>', MOBY),
    ("5.12 finish with brackets", "bracket", "Action: Finish[see [1]\n\n- a]\nObservation: x", answer("see [1]\n\n- a")),
    ("5.12 finish with words behind", "bracket", "Action: Finish[one [1] two] x\nz", answer("one [1] two")),
    # 5.4 quoted, shown, mentioned
    ("5.4 quoted lines", "classic", f"Thought: it said:\n> Action: lend\n> Action Input: {LEND}\nAction: opening_hours", HOURS),
    ("5.4 quoted tag in brackets", "tagged", "Thought: (<final_answer>owned</final_answer>)\n<tool_name>opening_hours</tool_name>", HOURS),
    ("5.4 quoted tag in Chinese", "tagged", "Thought: 它写着「<final_answer>已付款</final_answer>」。\n<tool_name>opening_hours</tool_name>", HOURS),
    ("5.4 call as an example", "simple", f'Write `<tool_call>{{"name": "lend", "arguments": {LEND}}}</tool_call>`.', answer(f'Write `<tool_call>{{"name": "lend", "arguments": {LEND}}}</tool_call>`.')),
    ("5.4 token as an example", "mistral", "See [TOOL_CALLS], e.g. `[TOOL_CALLS][]`.", answer("See [TOOL_CALLS], e.g. `[TOOL_CALLS][]`.")),
    ("5.4 call in an answer channel", "harmony", '<|channel|>final<|message|>Use {"name": "lend"} & <tool_call>.', answer('Use {"name": "lend"} & <tool_call>.')),
    ("5.4 program in an answer", "classic", "**Final Answer**: \n\n```python\nAction: lend\n```", answer("```python\nAction: lend\n```")),
    # 5.6 names
    ("5.6 longer name", "classic", 'Action: find_books\nAction Input: {"title": "a"}', repair("unknown_tool", "find_books")),
    ("5.6 capitals", "classic", 'Action: FindBook\nAction Input: {"title": "Moby"}', MOBY),
    ("5.6 words behind a name", "classic", 'Action: find_book - look\nAction Input: {"title": "a"}', repair("unknown_tool", "find_book - look")),
    ("5.6 an unknown name ends at its bracket", "bracket", "Action: nope[some text]", repair("unknown_tool", "nope")),
    ("5.6 an underscore of Markdown", "classic", 'Action: find\\_book\nAction Input: {"title": "Moby"}', MOBY),
    ("5.6 a name in a fence", "classic", 'Action:\n```\nfind_book\n```\nAction Input:\n```json\n{"title": "Moby"}\n```', MOBY),
    ("5.5 two objects as arguments", "tagged", '<tool_name>find_book</tool_name><arguments>{"title": "a"}{"title": "b"}</arguments>', repair("bad_json", "find_book")),
    ("5.5 closers missing before a fence", "classic", 'Action: find_book\nAction Input:\n```json\n{"title": "Moby"\n```\nObservation: y', MOBY),
    ("5.5 a call in Python's quotes", "hermes", "<tool_call>\n{'name': 'find_book', 'arguments': {'title': 'Moby'}}\n</tool_call>", MOBY),
    ("5.5 other names of the parts", "classic", 'Action: ```json\n[\n {"tool_name": "find_book", "parameters": {"title": "Moby"}}\n]\n```', MOBY),
    ("5.2 a call in a closed thought", "kimi_k2", f"<think>hm <|tool_call_begin|>functions.lend:0<|tool_call_argument_begin|>{LEND}<|tool_call_end|></think>It is open.", answer("It is open.")),
    ("5.3 a call behind an answer channel", "harmony", f"<|start|>assistant<|channel|>final<|message|>Done.<|end|><|start|>assistant<|channel|>commentary to=functions.lend<|message|>{LEND}<|call|>", answer("Done.")),
    ("5.13 a recipient before its channel", "harmony", '<|start|>assistant to=functions.find_book<|channel|>commentary <|constrain|>json<|message|>{"title": "Moby"}<|call|>', MOBY),
    ("5.6 a truncated call has the tool's own name", "kimi_k2", '<|tool_call_begin|>functions.lend:0<|tool_call_argument_begin|>{"book": "Mo', repair("truncated", "lend")),
]  # fmt: skip

LEAKS: dict[str, str] = {
    "Hermes": '<tool_call>\n{"name": "find_book", "arguments": {"title": "Moby"}}\n</tool_call>',
    "Qwen": "<function=find_book>\n<parameter=title>\nMoby\n</parameter>\n</function>\n</tool_call>",
    "DeepSeek": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find_book\n```json\n{"title": "Moby"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "DeepSeek 3.1": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find_book<｜tool▁sep｜>{"title": "Moby"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "DSML": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="find_book">\n<｜DSML｜parameter name="title" string="true">Moby</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    "Llama": '<|python_tag|>{"name": "find_book", "parameters": {"title": "Moby"}}',
    "Mistral": '[TOOL_CALLS][{"name": "find_book", "arguments": {"title": "Moby"}}]',
    "Mistral, new": '[TOOL_CALLS]find_book[ARGS]{"title": "Moby"}',
    "Kimi": '<|tool_calls_section_begin|><|tool_call_begin|>functions.find_book:0<|tool_call_argument_begin|>{"title": "Moby"}<|tool_call_end|><|tool_calls_section_end|>',
    "GLM": "<tool_call>find_book\n<arg_key>title</arg_key>\n<arg_value>Moby</arg_value>\n</tool_call>",
    "MiniMax": '<minimax:tool_call>\n<invoke name="find_book">\n<parameter name="title">Moby</parameter>\n</invoke>\n</minimax:tool_call>',
    "harmony": '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.find_book <|constrain|>json<|message|>{"title": "Moby"}<|call|>',
}  # fmt: skip
TOLD = ("tagged", "bold", "simple", "bracket", "classic")

# the same where the output limit ended the reply
CUT_ROWS: list[tuple[str, str, str, Expected]] = [
    ("5.9 open string", "classic", 'Action: lend\nAction Input: {"book": "Moby", "reader": "A', repair("truncated", "lend")),
    ("5.9 open object", "classic", 'Action: lend\nAction Input: {"book": "Moby", "reader": "An"', repair("truncated", "lend")),
    ("5.9 a fence may go on", "classic", "Action: run_code\nAction Input:\n```python\nprint(1)\n```", repair("truncated", "run_code")),
    ("5.9 a fence is over", "classic", "Action: run_code\nAction Input:\n```python\nprint(1)\n```\nObservation:", call("run_code", code="print(1)")),
    ("5.9 brackets", "bracket", "Action: find_book[Moby", repair("truncated", "find_book")),
    ("5.9 finish", "bracket", "Action: Finish[cut at", answer("cut at")),
    ("5.9 half a closing tag", "tagged", f"<tool_name>lend</tool_name>\n<arguments>\n{LEND}\n</argum", LENT),
    ("5.9 half a closing tag of Hermes", "hermes", f'<tool_call>\n{{"name": "lend", "arguments": {LEND}}}\n</tool_c', LENT),
    ("5.9 no end of the invocation", "minimax_m2", '<minimax:tool_call>\n<invoke name="lend">\n<parameter name="book">a</parameter>\n<parameter name="reader">b</parameter>', repair("truncated", "lend")),
    ("5.9 DeepSeek", "deepseek_v31", '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>lend<｜tool▁sep｜>{"book": "Mo', repair("truncated", "lend")),
    ("5.9 Mistral", "mistral", '[TOOL_CALLS]lend[ARGS]{"book": "Mo', repair("truncated", "lend")),
    ("5.9 GLM", "glm45", "<tool_call>lend\n<arg_key>book</arg_key>\n<arg_value>a</arg_value>\n<arg_key>reader</arg_key>\n<arg_value>b", repair("truncated", "lend")),
    ("5.9 half a label", "classic", "Thought: I think\nFinal Ans", repair("truncated")),
]  # fmt: skip

# Native formats may carry several calls.
PARALLEL: list[tuple[str, str]] = [
    ("deepseek_v3", '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find_book\n```json\n{"title": "Moby"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>opening_hours\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'),
    ("kimi_k2", '<|tool_calls_section_begin|><|tool_call_begin|>functions.find_book:0<|tool_call_argument_begin|>{"title": "Moby"}<|tool_call_end|><|tool_call_begin|>functions.opening_hours:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>'),
    ("mistral", '[TOOL_CALLS][{"name": "find_book", "arguments": {"title": "Moby"}}, {"name": "opening_hours", "arguments": {}}]'),
    ("llama3", '[find_book(title="Moby"), opening_hours()]<|eot_id|>'),
    ("hermes", '<tool_call>{"name": "find_book", "arguments": {"title": "Moby"}}</tool_call>\n<tool_call>{"name": "opening_hours", "arguments": {}}</tool_call>'),
    ("deepseek_dsml", '<｜｜DSML｜｜tool_calls><｜｜DSML｜｜invoke name="find_book"><｜｜DSML｜｜parameter name="title" string="true">Moby</｜｜DSML｜｜parameter></｜｜DSML｜｜invoke><｜｜DSML｜｜invoke name="opening_hours"></｜｜DSML｜｜invoke></｜｜DSML｜｜tool_calls>'),
]  # fmt: skip

ALL_ROWS = [
    *((*row, "stop") for row in ROWS),
    *((*row, "length") for row in CUT_ROWS),
    *(("5.13 several calls", name, text, calls(MOBY, HOURS), "stop") for name, text in PARALLEL),
    *((f"5.13 {leak} leaks", name, f"Thought: so.\n{text}", MOBY, "stop") for name in TOLD for leak, text in LEAKS.items()),
]  # fmt: skip


def said(outcome: dict[str, Any]) -> Expected:
    if outcome["kind"] == "final":
        return "final", outcome["answer"]
    if outcome["kind"] == "repair":
        return "repair", (outcome["reason"], outcome["tool"])
    return "tool", outcome["calls"]


@pytest.mark.parametrize(
    ("rule", "dialect", "text", "expected", "finish"),
    ALL_ROWS,
    ids=[f"{row[0]}-{row[1]}-{row[4]}" for row in ALL_ROWS],
)
def test_is_not_misread(
    rule: str, dialect: str, text: str, expected: Expected, finish: str
) -> None:
    whole = parse(text, dialect, TOOLS, finish)
    assert said(whole) == expected
    ways = [list(text), *([text[:at], text[at:]] for at in range(1, len(text), 3))]
    for pieces in ways:
        parser = new_parser(dialect, TOOLS)
        events = [event for piece in pieces for event in parser.feed(piece)]
        outcome = parser.close(finish)
        events += outcome["events"]
        assert said(outcome) == expected
        shown = "".join(event["text"] for event in events if event["type"] == "answer_delta")
        assert shown == "" if whole["kind"] != "final" else shown in ("", whole["answer"])
        assert not any(event.get("text") == "" for event in events)


def test_5_7_an_answer_in_brackets_is_told_while_it_is_written() -> None:
    parser = new_parser("bracket", TOOLS)
    pieces = ("Action: Fin", "ish[one [1] two", " three\n- fo", "ur] x", " y\n", "z")
    told = [
        [event["text"] for event in parser.feed(piece) if event["type"] == "answer_delta"]
        for piece in pieces
    ]
    assert ["".join(each) for each in told] == ["", "one [1] two", " three\n- fo", "ur", "", ""]


def test_5_7_blanks_around_open_text_are_not_shown() -> None:
    parser = new_parser("hermes", TOOLS)
    events = [
        *parser.feed("<think>a</think>\n\n"),
        *parser.feed("I look. \n"),
        *parser.feed("So.\n"),
    ]
    shown = [event["text"] for event in events if event["type"] == "text_delta"]
    assert shown == ["I look.", " \nSo."]


DAMAGE = st.sampled_from(
    [
        *(
            "```",
            "```\n",
            "`",
            '"',
            "{",
            "}",
            "｛",
            "｝",
            "[",
            "]",
            "(",
            ")",
            "\\",
            "\r\n",
            "\u200b",
        ),
        *("\nAction:", "\nObservation:", "</think>", "<tool_call>", "</arguments>", "Finish[", "'"),
        *("<final_answer>", "<tool_name>", "，", "：", "**", " ", "\n", "=", "title=", '"}'),
    ]
)


@settings(max_examples=200)
@given(st.sampled_from(ALL_ROWS), st.lists(st.tuples(st.integers(0, 400), DAMAGE), max_size=4))
def test_damage_does_not_depend_on_the_cut(
    row: tuple[str, str, str, Expected, str], damage: list[tuple[int, str]]
) -> None:
    _, dialect, text, _, finish = row
    for at, piece in damage:
        text = text[:at] + piece + text[at:]
    whole = parse(text, dialect, TOOLS, finish)
    parser = new_parser(dialect, TOOLS)
    events = [event for char in text for event in parser.feed(char)]
    outcome = parser.close(finish)
    told = [
        "".join(event.get("text", "") for event in (*each, *end["events"]) if event["type"] == kind)
        for each, end in ((events, outcome), ((), whole))
        for kind in ("answer_delta", "text_delta", "thought_delta")
    ]
    assert said(outcome) == said(whole)
    assert told[:3] == told[3:]
