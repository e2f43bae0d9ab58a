"""Why a run ended: one table (design M4, behaviours §G4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["done", "partial", "stopped", "failed", "expired"]
Reason: TypeAlias = Literal[
    "completed",
    "max_steps",
    "max_tool_calls",
    "no_progress",
    "budget",
    "invalid_model_output",
    "output_truncated",
    "stream_incomplete",
    "provider_error",
    "context_overflow",
    "refused",
    "failover_exhausted",
    "cancelled_by_user",
    "deadline",
    "interrupted",
    "listener_failed",
    "internal_error",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class StopReason:
    """`status` is the outcome when there is an answer text; a reason that comes with none of it is
    a failure. `resumable`: "go on" continues from the stored results."""

    code: Reason
    status: Status
    retryable: bool
    refundable: bool
    resumable: bool
    zh: str
    en: str


def _row(code: Reason, status: Status, flags: str, zh: str, en: str) -> tuple[Reason, StopReason]:
    """flags: r retryable, f refundable, s resumable."""
    return code, StopReason(
        code=code,
        status=status,
        retryable="r" in flags,
        refundable="f" in flags,
        resumable="s" in flags,
        zh=zh,
        en=en,
    )


REASONS: dict[Reason, StopReason] = dict(
    (
        _row("completed", "done", "", "已完成。", "Done."),
        _row("max_steps", "partial", "s", "已达到步数上限，先给出目前的结果；说“继续”可接着做。",
             "The step limit was reached; this is the result so far. Say \"go on\" to continue."),
        _row("max_tool_calls", "partial", "s", "已达到工具调用上限，先给出目前的结果；说“继续”可接着做。",
             "The tool call limit was reached; this is the result so far. Say \"go on\" to continue."),
        _row("no_progress", "partial", "s", "同样的操作反复得到同样的结果，已停下；可换个说法再试。",
             "The same step kept giving the same result, so it stopped. Try asking in another way."),
        _row("budget", "partial", "s", "已用完本次的额度，先给出目前的结果。",
             "The budget for this run is used up; this is the result so far."),
        _row("invalid_model_output", "partial", "rs", "模型多次给出无法使用的输出；可重试或换一个模型。",
             "The model kept giving unusable output. Try again or choose another model."),
        _row("output_truncated", "partial", "rs", "回答超出了单次输出上限，被截断；说“继续”可接着写。",
             "The answer was cut at the output limit. Say \"go on\" to continue."),
        _row("stream_incomplete", "failed", "rs", "与模型的连接中途断开，已保留收到的部分；请重试。",
             "The connection to the model broke off. What arrived is kept; please try again."),
        _row("provider_error", "failed", "rfs", "模型服务出错；请稍后重试，或检查模型设置。",
             "The model service reported an error. Try again later or check the model settings."),
        _row("context_overflow", "failed", "s", "内容超出了模型能处理的长度；请缩短或换用更大的模型。",
             "The content is longer than the model can take. Shorten it or choose a larger model."),
        _row("refused", "failed", "f", "模型拒绝了这个请求；可换个说法再试。",
             "The model refused this request. Try asking in another way."),
        _row("failover_exhausted", "failed", "rfs", "试了几次，配置的模型都没有回答；请稍后重试，或检查模型设置。",
             "No configured model answered, also after several tries. Try again later or check the model settings."),
        _row("cancelled_by_user", "stopped", "s", "已按你的要求停止，已有内容都保留着。",
             "Stopped as you asked. Everything so far is kept."),
        _row("deadline", "expired", "rs", "超过了允许的时间，已停下，已有内容都保留着。",
             "The time allowed ran out. Everything so far is kept."),
        _row("interrupted", "failed", "rs", "服务中断，运行没有完成；已有内容都保留着，可以继续。",
             "The service was interrupted before the run finished. Everything so far is kept; you can go on."),
        _row("listener_failed", "failed", "rs", "保存或显示进度时出错，运行已停下。",
             "Saving or showing progress failed, so the run was stopped."),
        _row("internal_error", "failed", "rfs", "程序内部出错，运行已停下；已有内容都保留着。",
             "An internal error stopped the run. Everything so far is kept."),
    )
)  # fmt: skip
