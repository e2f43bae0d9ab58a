import type { Fact } from "@/api/types";

type Reason = Fact<"run.finished">["reason"];

interface Outcome {
  /** The same request may work when it is sent again. */
  retryable: boolean;
  /** "Go on" continues from what was stored. */
  resumable: boolean;
}

const row = (flags: string): Outcome => ({ retryable: flags.includes("r"), resumable: flags.includes("s") });

/** The table of `wenfang.core.reasons`, as far as the screen needs it. */
const OUTCOMES: Record<Reason, Outcome> = {
  completed: row(""),
  max_steps: row("s"),
  max_tool_calls: row("s"),
  no_progress: row("s"),
  budget: row("s"),
  invalid_model_output: row("rs"),
  output_truncated: row("rs"),
  stream_incomplete: row("rs"),
  provider_error: row("rs"),
  context_overflow: row("s"),
  refused: row(""),
  failover_exhausted: row("rs"),
  cancelled_by_user: row("s"),
  deadline: row("rs"),
  interrupted: row("rs"),
  listener_failed: row("rs"),
  internal_error: row("rs"),
};

export function outcomeOf(reason: Reason): Outcome {
  return OUTCOMES[reason] ?? row("r");
}
