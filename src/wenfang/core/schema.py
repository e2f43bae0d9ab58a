"""From a Python function to a `Tool`: the signature is the schema, the docstring the description
(tools.md §7.1). Imported on first use only: pydantic and griffe are not needed to import the package.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Annotated, Any, Literal, cast, get_args, get_origin
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, create_model
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, to_json

from .messages import JSON
from .tools import Access, Handler, Replay, Tool, ToolContext, ToolError, ToolOutput


class _Generator(GenerateJsonSchema):
    # A default that JSON cannot show is left out of the schema; it still applies.
    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - the base class's own shape


_schemas: WeakKeyDictionary[type[BaseModel], Mapping[str, JSON]] = WeakKeyDictionary()


def parameters_schema(model: type[BaseModel]) -> Mapping[str, JSON]:
    """The JSON schema of `model` as models are shown it: no titles, `$defs` kept, and an optional
    field that may be null is its plain type (leaving it out says the same)."""
    known = _schemas.get(model)  # making one costs more than a step of a run
    if known is None:
        known = _schemas[model] = _clean(json_schema(model))
    return known


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of `model` as pydantic sees it."""
    return model.model_json_schema(schema_generator=_Generator)


_BY_NAME = ("properties", "$defs")
_SCHEMAS = ("items", "additionalProperties", "anyOf", "oneOf", "allOf", "prefixItems")


def _clean(schema: Any) -> Any:
    """One schema node. Names of properties and definitions are data, not keywords."""
    if isinstance(schema, list):
        return [_clean(each) for each in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema  # additionalProperties: false
    out: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", schema).items():
        if key in _BY_NAME:
            out[key] = {name: _clean(each) for name, each in value.items()}
        elif key != "title":
            out[key] = _clean(value) if key in _SCHEMAS else value
    properties = out.get("properties", {})
    for name in properties.keys() - set(out.get("required", ())):
        properties[name] = _without_null(properties[name])
    return out


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    choices = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    out = {key: value for key, value in schema.items() if (key, value) != ("default", None)}
    if len(choices) < len(schema.get("anyOf", ())):
        del out["anyOf"]
        out = {**choices[0], **out} if len(choices) == 1 else {"anyOf": choices, **out}
    return out


def tool_from_function(
    fn: Callable[..., Any],
    *,
    name: str | None,
    description: str | None,
    mode: Literal["parallel", "exclusive"],
    access: Access,
    replay: Replay,
    timeout_s: float | None,
    aliases: Mapping[str, str],
    patterns: Mapping[str, str],
) -> Tool:
    """The tool that calls `fn`; see `wenfang.core.tool` for what a signature may hold.

    `fn` may return text, a `ToolOutput`, or a value that JSON can show. Raises TypeError for a
    signature that cannot be a schema, naming function, parameter and what to write instead.
    """
    label = name or getattr(fn, "__name__", type(fn).__name__)
    summary, documented = _read_docstring(inspect.getdoc(fn) or "")
    fields: dict[str, tuple[Any, Any]] = {}
    names: dict[str, str] = {}  # parameter -> field of the model
    contexts: list[str] = []
    for parameter in _parameters(fn, label):
        if parameter.annotation is ToolContext:
            contexts.append(parameter.name)
            continue
        field = _field_name(parameter.name, names.values())
        names[parameter.name] = field
        fields[field] = _definition(parameter, field, documented.get(parameter.name))
    _check_names(label, "aliases", aliases.values(), names)
    _check_names(label, "patterns", patterns, names)
    return Tool(
        name=label,
        description=summary if description is None else description,
        params=_model(label, fields),
        handler=_handler(fn, label, names, contexts),
        mode=mode,
        access=access,
        replay=replay,
        timeout_s=timeout_s,
        aliases=aliases,
        patterns=patterns,
    )


def _parameters(fn: Callable[..., Any], label: str) -> list[inspect.Parameter]:
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        raise TypeError(f"tool {label!r} is a generator; return the whole text instead of yielding")
    try:
        signature = inspect.signature(fn, eval_str=True)
    except NameError as error:
        raise TypeError(
            f"tool {label!r}: the annotation {error.name!r} is not defined where the function is; "
            "import it at the top of the module, outside of TYPE_CHECKING"
        ) from error
    parameters = list(signature.parameters.values())
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            advice = "name each argument, or take one list or dict parameter"
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            advice = "remove the '/', arguments are passed by name"
        elif parameter.annotation is parameter.empty:
            advice = f"write its type, for example '{parameter.name}: str'"
        else:
            continue
        raise TypeError(
            f"tool {label!r}: parameter {parameter.name!r} cannot be a schema; {advice}"
        )
    return parameters


def _field_name(name: str, taken: Any) -> str:
    """`name`, or another one if pydantic would take it for its own; models always see `name`."""
    field = name
    while field.startswith(("_", "model_")) or hasattr(BaseModel, field) or field in taken:
        field = f"p_{field}"
    return field


def _definition(parameter: inspect.Parameter, field: str, text: str | None) -> tuple[Any, Any]:
    """A parameter as pydantic wants it. A description of its own wins over the docstring's."""
    annotation, default = parameter.annotation, parameter.default
    notes = [each for each in (*_metadata(annotation), default) if isinstance(each, FieldInfo)]
    extra: dict[str, Any] = {} if field == parameter.name else {"alias": parameter.name}
    if text and not any(each.description for each in notes):
        extra["description"] = text
    if extra:
        annotation = Annotated[annotation, Field(**extra)]
    if default is parameter.empty:
        # `T | None` without a default: leaving it out is how a model says null.
        default = None if type(None) in get_args(_bare(annotation)) else ...
    return annotation, default


def _metadata(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()


def _bare(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _check_names(label: str, what: str, used: Any, known: Mapping[str, str]) -> None:
    for each in used:
        if each not in known:
            raise TypeError(f"tool {label!r}: {what} names {each!r}, which is no parameter of it")


def _model(label: str, fields: dict[str, tuple[Any, Any]]) -> type[BaseModel]:
    try:
        return _create(label, fields)
    except _NO_SCHEMA:
        for field, definition in fields.items():
            try:
                _create(label, {field: definition})
            except _NO_SCHEMA as error:
                raise TypeError(
                    f"tool {label!r}: parameter {field!r} has the type {definition[0]!r}, which has "
                    "no JSON schema; use JSON types, dataclasses or pydantic models"
                ) from error
        raise


_NO_SCHEMA = (PydanticUserError, PydanticInvalidForJsonSchema)


def _create(label: str, fields: dict[str, Any]) -> type[BaseModel]:
    model: type[BaseModel] = create_model(label, __config__=ConfigDict(extra="forbid"), **fields)
    parameters_schema(model)
    return model


def _handler(
    fn: Callable[..., Any], label: str, names: Mapping[str, str], contexts: list[str]
) -> Handler:
    call = _awaitable(fn)

    async def handle(ctx: ToolContext, args: BaseModel) -> ToolOutput | str:
        given: dict[str, Any] = {name: getattr(args, field) for name, field in names.items()}
        given.update(dict.fromkeys(contexts, ctx))
        return _output(label, await call(**given))

    return handle


def _awaitable(fn: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    if inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(
        getattr(fn, "__call__", None)  # noqa: B004 - an object whose call is async
    ):
        return fn

    async def in_thread(**given: Any) -> Any:
        from anyio import to_thread

        return await to_thread.run_sync(partial(fn, **given), abandon_on_cancel=True)

    return in_thread


def _output(label: str, value: Any) -> ToolOutput | str:
    if isinstance(value, str | ToolOutput):
        return value
    try:
        return to_json(value).decode()
    except PydanticSerializationError:
        kind = type(value).__name__
        raise ToolError(
            f"{label} ran, but its result, a {kind}, cannot be shown as text."
        ) from None


def _read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Description, and the descriptions of parameters, of a Google, NumPy or Sphinx docstring."""
    if "\n" not in text:
        return text, {}
    import griffe

    docstring = griffe.Docstring(text)
    style, _ = griffe.infer_docstring_style(docstring)
    if style is None:
        return text, {}
    paragraphs: list[str] = []
    parameters: dict[str, str] = {}
    for section in griffe.parse(docstring, style, warnings=False):
        if isinstance(section, griffe.DocstringSectionText):
            paragraphs.append(section.value)
        elif isinstance(section, griffe.DocstringSectionParameters):
            parameters |= {each.name: " ".join(each.description.split()) for each in section.value}
        elif isinstance(section, griffe.DocstringSectionReturns):
            returned = " ".join(each.description for each in section.value)
            paragraphs.append(f"Returns: {' '.join(returned.split())}")
    return "\n\n".join(paragraphs), parameters
