"""Families of models as rows of data."""

import pytest

from wenfang.models import Profile, profile_for


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-5.2-mini", "gpt-reasoning"), ("o3", "gpt-reasoning"), ("openai/o4-mini", "gpt-reasoning"),
        ("gpt-4.1", "gpt"), ("gpt-4o-mini", "gpt"), ("openai/gpt-oss-120b", "gpt-oss"),
        ("deepseek-reasoner", "deepseek-reasoning"), ("DeepSeek-R1-Distill-Qwen-7B", "deepseek-reasoning"),
        ("deepseek-chat", "deepseek"), ("Qwen/Qwen3-32B", "qwen"), ("QwQ-32B", "qwen"),
        ("Qwen/Qwen3-Omni-30B-A3B-Instruct", "qwen-vision"), ("qwen2.5-coder-1.5b-instruct", "qwen-small"),
        ("kimi-k2-0905", "kimi"), ("moonshot-v1-8k", "kimi"), ("glm-4.6", "glm"), ("glm-4.5v", "glm-vision"),
        ("MiniMax-M2", "minimax"), ("doubao-seed-1-6", "doubao"), ("gemini-2.5-pro", "gemini"),
        ("anthropic/claude-sonnet-4", "claude"), ("grok-4", "grok"), ("devstral-small", "mistral"),
        ("meta-llama/Llama-3.3-70B", "llama"), ("gemma-3-12b-it", "gemma"), ("something-else", "unknown"),
        ("", "unknown"),
    ],
)  # fmt: skip
def test_family(model: str, family: str) -> None:
    assert profile_for(model).family == family


def test_the_server_changes_single_fields() -> None:
    plain = profile_for("qwen3:8b")
    ollama = profile_for("qwen3:8b", "http://localhost:11434/v1")
    assert (plain.tool_choices, ollama.tool_choices) == (frozenset({"none"}), frozenset())
    assert ollama.family == plain.family
    assert not profile_for("mistral-large", "https://api.mistral.ai/v1").stream_usage
    assert profile_for("x", "http://localhost:114340/v1") == Profile()


@pytest.mark.parametrize(
    ("model", "leaks"),
    [
        ("Qwen/Qwen3-32B", True), ("Qwen/Qwen3-Coder-30B", True), ("qwen3-vl-8b", True), ("deepseek-chat", True),
        ("deepseek-reasoner", True), ("meta-llama/Llama-3.3-70B", True), ("devstral-small", True),
        ("kimi-k2-0905", True), ("glm-4.6", True), ("glm-4.5v", True), ("MiniMax-M2", True), ("gpt-oss-120b", True),
        ("gpt-5", False), ("gpt-4o-mini", False), ("claude-sonnet-4", False), ("gemini-2.5-pro", False),
        ("grok-4", False), ("doubao-seed-1-6", False), ("something-else", False),
    ],
)  # fmt: skip
def test_dialects_5_13_families_whose_calls_leak_are_read_leniently(
    model: str, leaks: bool
) -> None:
    assert profile_for(model).dialect == ("lenient" if leaks else "native")


@pytest.mark.parametrize("model", ["gpt-5", "o3", "gpt-4.1", "gpt-4o"])
def test_who_takes_the_name_of_a_tool(model: str) -> None:
    assert profile_for(model).tool_choices == {"none", "required", "named"}


def test_small_local_models_are_asked_by_schema() -> None:
    assert profile_for("qwen2.5-coder-1.5b-instruct-q4_k_m").dialect == "schema"
    assert profile_for("gpt-5").dialect == "native"
