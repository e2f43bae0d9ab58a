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


def test_small_local_models_are_asked_by_schema() -> None:
    assert profile_for("qwen2.5-coder-1.5b-instruct-q4_k_m").dialect == "schema"
    assert profile_for("gpt-5").dialect == "native"
