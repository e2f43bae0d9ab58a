"""What a model reads about edits that cannot be made: which edit, what is wrong, what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .values import EditField, EditReason, EditResult, FailedEdit

_WORDS: dict[EditReason, str] = {
    "missing": "{field} is missing; {advice}.",
    "empty": "{field} is empty; {advice}.",
    "same": "{old} and {new} are the same; nothing would change.",
    "occurrence": "occurrence counts from 1.",
    "not_found": "{field} is not in the file.{hint} Read the file and quote it exactly.",
    "too_few": "{field} is in the file {times} only, at {lines}; choose an occurrence that exists.",
    "ambiguous": (
        "{field} is found more than once (at {lines}); "
        "quote more of the lines around it, so that it is found once{choice}."
    ),
    "overlap": "edits {first} and {second} overlap; make one edit of them, or quote less.",
    "no_change": "the edits would change nothing; the file already reads like this.",
}
_ADVICE: dict[EditField, str] = {
    "old": "quote the passage to replace",
    "anchor": "quote the passage next to it",
    "new": "say what stands there afterwards (an empty text deletes the passage)",
    "text": "give the text to put in",
}
_NAMES: dict[EditField, str] = {"old": "old", "new": "new", "anchor": "anchor", "text": "text"}
# These speak of several edits, or of all.
_UNNUMBERED: tuple[EditReason, ...] = ("overlap", "no_change")


def describe_failures(
    result: EditResult, *, names: Mapping[EditField, str] = _NAMES, has_occurrence: bool = True
) -> str:
    """Why the failed edits failed, and what became of the others. `names` are the tool's names of the
    fields; `has_occurrence` says whether it can choose one of several places."""
    lines = dict.fromkeys(
        _line(each, {**_NAMES, **names}, has_occurrence) for each in result.failed
    )
    if not result.applied and result.total > 1:
        return "\n".join(
            (
                *lines,
                f"None of the {result.total} edits was made: correct these and send the whole list again.",
            )
        )
    return "\n".join(lines)


def _line(failed: FailedEdit, names: Mapping[EditField, str], has_occurrence: bool) -> str:
    pair = sorted((failed.index, failed.other if failed.other is not None else failed.index))
    text = _WORDS[failed.reason].format(
        field=names[failed.field],
        old=names["old"],
        new=names["new"],
        advice=_ADVICE[failed.field],
        hint=_hint(failed),
        times="once" if failed.count == 1 else f"{failed.count} times",
        lines=_lines(list(dict.fromkeys(each.line for each in failed.candidates))),
        choice=", or choose one by its occurrence" if has_occurrence else "",
        first=pair[0] + 1,
        second=pair[1] + 1,
    )
    if failed.reason == "ambiguous" and has_occurrence:
        text += "".join(
            f"\n  occurrence={each.occurrence} (line {each.line}): {each.context}"
            for each in failed.candidates
        )
    return text if failed.reason in _UNNUMBERED else f"edit {failed.index + 1}: {text}"


def _lines(lines: Sequence[int]) -> str:
    if len(lines) == 1:
        return f"line {lines[0]}"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}" if lines else ""


def _hint(failed: FailedEdit) -> str:
    if failed.other is not None:
        return (
            f" It is in the new text of edit {failed.other + 1}: all edits are matched against the file as"
            " it is now, so make one edit of the two."
        )
    if failed.line is not None:
        return f" Its first line is at line {failed.line}, but what follows differs."
    if failed.candidates:
        near = failed.candidates[0]
        return f" The most similar passage, at line {near.line}, reads: {near.context}"
    return ""
