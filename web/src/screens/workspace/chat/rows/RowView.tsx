import { memo } from "react";
import type { Row } from "@/run/state";
import { NoticeLine } from "./NoticeLine";
import { Reply } from "./Reply";
import { ToolCard } from "./ToolCard";
import { UserRow } from "./UserRow";

interface Props {
  row: Row;
  runId: string;
  isRunning: boolean;
}

export const RowView = memo(function RowView({ row, runId, isRunning }: Props) {
  switch (row.kind) {
    case "user":
      return <UserRow text={row.text} source={row.source} />;
    case "reply":
      return <Reply row={row} isRunning={isRunning} />;
    case "tool":
      return <ToolCard row={row} runId={runId} />;
    case "notice":
      return <NoticeLine row={row} />;
  }
});
