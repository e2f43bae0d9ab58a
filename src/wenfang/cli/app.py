"""The commands and their options; each imports what it needs when it runs, so that help is instant.

No `from __future__ import annotations` here: the annotations hold help texts in a chosen language, so
they must be evaluated where they stand.
"""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from .language import Say

_SUITE = Path("examples/tasks.toml")
BookFormat: TypeAlias = Literal["txt", "md", "docx", "epub", "zip"]


def make_app(say: Say) -> typer.Typer:
    """All commands, with help in the language of `say`."""
    app = typer.Typer(
        name="wenfang",
        help=say("help.app"),
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def options(  # pyright: ignore[reportUnusedFunction]
        version: Annotated[bool, typer.Option("--version", help=say("help.version"))] = False,
        lang: Annotated[str | None, typer.Option("--lang", help=say("help.lang"))] = None,
    ) -> None:
        del version, lang  # both are handled before the commands are built

    _add_server(app, say)
    _add_users(app, say)
    _add_doctor(app, say)
    _add_work(app, say)
    _add_documents(app, say)
    _add_sync(app, say)
    _add_models(app, say)
    _add_eval(app, say)
    return app


def _add_server(app: typer.Typer, say: Say) -> None:
    @app.command(help=say("help.serve"))
    def serve(  # pyright: ignore[reportUnusedFunction]
        host: Annotated[str, typer.Option(help=say("help.host"))] = "127.0.0.1",
        port: Annotated[int, typer.Option(min=0, max=65535, help=say("help.port"))] = 8000,
        project: Annotated[Path | None, typer.Option(help=say("help.serve.project"))] = None,
        accounts: Annotated[bool, typer.Option("--accounts", help=say("help.accounts"))] = False,
        public_url: Annotated[
            str, typer.Option("--public-url", envvar="WENFANG_PUBLIC_URL", help=say("help.public"))
        ] = "",
        data: Annotated[Path | None, typer.Option(help=say("help.data"))] = None,
        database: Annotated[str | None, typer.Option(help=say("help.database"))] = None,
    ) -> None:
        from .serve import serve as command

        command(
            say,
            host=host,
            port=port,
            data=data,
            project=project,
            with_accounts=accounts,
            public_url=public_url,
            database=database,
        )


def _add_users(app: typer.Typer, say: Say) -> None:
    users = typer.Typer(help=say("help.users"), no_args_is_help=True)
    app.add_typer(users, name="users")
    name_argument = typer.Argument(help=say("help.users.name"))
    data_option = typer.Option("--data", help=say("help.data"))

    @users.command("list", help=say("help.users.list"))
    def list_users(  # pyright: ignore[reportUnusedFunction]
        json: Annotated[bool, typer.Option("--json", help=say("help.json"))] = False,
        data: Annotated[Path | None, data_option] = None,
    ) -> None:
        from .users import list_users as command

        command(say, data=data, as_json=json)

    @users.command(help=say("help.users.add"))
    def add(  # pyright: ignore[reportUnusedFunction]
        name: Annotated[str, name_argument],
        admin: Annotated[bool, typer.Option("--admin", help=say("help.users.admin"))] = False,
        data: Annotated[Path | None, data_option] = None,
    ) -> None:
        from .users import add as command

        command(say, name, role="admin" if admin else "member", data=data)

    @users.command(help=say("help.users.password"))
    def password(  # pyright: ignore[reportUnusedFunction]
        name: Annotated[str, name_argument],
        data: Annotated[Path | None, data_option] = None,
    ) -> None:
        from .users import set_password as command

        command(say, name, data=data)

    _add_changes(users, say)


def _add_changes(users: typer.Typer, say: Say) -> None:
    name_argument = typer.Argument(help=say("help.users.name"))
    data_option = typer.Option("--data", help=say("help.data"))

    @users.command(help=say("help.users.role"))
    def role(  # pyright: ignore[reportUnusedFunction]
        name: Annotated[str, name_argument],
        to: Annotated[Literal["admin", "member"], typer.Argument(help=say("help.users.to"))],
        data: Annotated[Path | None, data_option] = None,
    ) -> None:
        from .users import change as command

        command(say, name, data=data, role=to)

    @users.command(help=say("help.users.disable"))
    def disable(  # pyright: ignore[reportUnusedFunction]
        name: Annotated[str, name_argument],
        data: Annotated[Path | None, data_option] = None,
    ) -> None:
        from .users import change as command

        command(say, name, data=data, is_enabled=False)

    @users.command(help=say("help.users.enable"))
    def enable(  # pyright: ignore[reportUnusedFunction]
        name: Annotated[str, name_argument],
        data: Annotated[Path | None, data_option] = None,
    ) -> None:
        from .users import change as command

        command(say, name, data=data, is_enabled=True)


def _add_doctor(app: typer.Typer, say: Say) -> None:
    doctors = typer.Typer(help=say("help.doctor"), invoke_without_command=True)
    app.add_typer(doctors, name="doctor")
    json_option = typer.Option("--json", help=say("help.json"))
    data_option = typer.Option("--data", help=say("help.data"))

    @doctors.callback()
    def doctor(  # pyright: ignore[reportUnusedFunction]
        context: typer.Context,
        json: Annotated[bool, json_option] = False,
        data: Annotated[Path | None, data_option] = None,
    ) -> None:
        if context.invoked_subcommand is not None:
            context.obj = json, data
            return
        from .doctor import doctor as command

        command(say, as_json=json, data=data)

    @doctors.command(help=say("help.doctor.model"))
    def model(  # pyright: ignore[reportUnusedFunction]
        context: typer.Context,
        names: Annotated[str, typer.Option("--dialects", help=say("help.doctor.dialects"))] = "",
        provider: Annotated[
            str | None, typer.Option("--provider", help=say("help.provider"))
        ] = None,
        model: Annotated[str | None, typer.Option("--model", help=say("help.model"))] = None,
        base_url: Annotated[
            str | None, typer.Option("--base-url", help=say("help.base_url"))
        ] = None,
        timeout: Annotated[
            int, typer.Option("--timeout", min=1, max=3600, help=say("help.doctor.timeout"))
        ] = 90,
        no_store: Annotated[
            bool, typer.Option("--no-store", help=say("help.doctor.store"))
        ] = False,
        json: Annotated[bool, json_option] = False,
        data: Annotated[Path | None, data_option] = None,
    ) -> None:
        from .doctor_model import doctor_model as command

        is_json, above = context.obj  # the same options before the word "model"
        flags = {"provider": provider, "model": model, "base_url": base_url}
        command(
            say,
            names=names,
            timeout_s=timeout,
            is_stored=not no_store,
            flags=flags,
            as_json=json or is_json,
            data=data or above,
        )


def _add_work(app: typer.Typer, say: Say) -> None:
    provider_option = typer.Option("--provider", help=say("help.provider"))
    model_option = typer.Option("--model", help=say("help.model"))
    url_option = typer.Option("--base-url", help=say("help.base_url"))
    backup_url_option = typer.Option("--backup-base-url", help=say("help.backup_base_url"))
    backup_model_option = typer.Option("--backup-model", help=say("help.backup_model"))
    dialect_option = typer.Option("--dialect", help=say("help.dialect"))
    project_option = typer.Option("--project", help=say("help.project"))

    @app.command(help=say("help.run"))
    def run(  # pyright: ignore[reportUnusedFunction]
        task: Annotated[str, typer.Argument(help=say("help.run.task"))],
        project: Annotated[Path, project_option] = Path(),
        provider: Annotated[str | None, provider_option] = None,
        model: Annotated[str | None, model_option] = None,
        base_url: Annotated[str | None, url_option] = None,
        dialect: Annotated[str | None, dialect_option] = None,
        backup_base_url: Annotated[str | None, backup_url_option] = None,
        backup_model: Annotated[str | None, backup_model_option] = None,
        json: Annotated[bool, typer.Option("--json", help=say("help.json"))] = False,
        data: Annotated[Path | None, typer.Option(help=say("help.data"))] = None,
    ) -> None:
        from .run import run as command

        flags = {"provider": provider, "model": model, "base_url": base_url, "dialect": dialect}
        flags |= {"backup_base_url": backup_base_url, "backup_model": backup_model}
        command(say, task, project=project, flags=flags, as_json=json, data=data)

    @app.command(help=say("help.chat"))
    def chat(  # pyright: ignore[reportUnusedFunction]
        project: Annotated[Path, project_option] = Path(),
        provider: Annotated[str | None, provider_option] = None,
        model: Annotated[str | None, model_option] = None,
        base_url: Annotated[str | None, url_option] = None,
        dialect: Annotated[str | None, dialect_option] = None,
        backup_base_url: Annotated[str | None, backup_url_option] = None,
        backup_model: Annotated[str | None, backup_model_option] = None,
        data: Annotated[Path | None, typer.Option(help=say("help.data"))] = None,
    ) -> None:
        from .chat import chat as command

        flags = {"provider": provider, "model": model, "base_url": base_url, "dialect": dialect}
        flags |= {"backup_base_url": backup_base_url, "backup_model": backup_model}
        command(say, project=project, flags=flags, data=data)


def _add_documents(app: typer.Typer, say: Say) -> None:
    project_option = typer.Option("--project", help=say("help.project"))
    json_option = typer.Option("--json", help=say("help.json"))
    data_option = typer.Option("--data", help=say("help.data"))

    @app.command("import", help=say("help.import"))
    def import_files(  # pyright: ignore[reportUnusedFunction]
        files: Annotated[list[Path], typer.Argument(help=say("help.import.files"))],
        project: Annotated[Path, project_option] = Path(),
        folder: Annotated[str, typer.Option("--folder", help=say("help.import.folder"))] = "",
        json: Annotated[bool, json_option] = False,
        data: Annotated[Path | None, data_option] = None,
    ) -> None:
        from .documents import import_files as command

        command(say, files, project=project, folder=folder, as_json=json, data=data)

    @app.command(help=say("help.export"))
    def export(  # pyright: ignore[reportUnusedFunction]
        to: Annotated[BookFormat, typer.Option("--format", help=say("help.export.format"))],
        project: Annotated[Path, project_option] = Path(),
        output: Annotated[
            Path | None, typer.Option("--output", "-o", help=say("help.export.output"))
        ] = None,
        path: Annotated[str, typer.Option("--path", help=say("help.export.path"))] = "",
        force: Annotated[bool, typer.Option("--force", help=say("help.export.force"))] = False,
        json: Annotated[bool, json_option] = False,
        data: Annotated[Path | None, data_option] = None,
    ) -> None:
        from .documents import export as command

        command(
            say,
            to,
            project=project,
            output=output,
            path=path,
            is_forced=force,
            as_json=json,
            data=data,
        )


def _add_sync(app: typer.Typer, say: Say) -> None:
    @app.command(help=say("help.sync"))
    def sync(  # pyright: ignore[reportUnusedFunction]
        folder: Annotated[Path, typer.Argument(help=say("help.sync.folder"), metavar="DIR")],
        project: Annotated[str, typer.Option("--project", help=say("help.sync.project"))] = "",
        dry_run: Annotated[bool, typer.Option("--dry-run", help=say("help.sync.dry_run"))] = False,
        json: Annotated[bool, typer.Option("--json", help=say("help.json"))] = False,
        data: Annotated[Path | None, typer.Option("--data", help=say("help.data"))] = None,
    ) -> None:
        from .sync import sync as command

        command(say, folder, project=project, data=data, is_dry=dry_run, as_json=json)


def _add_models(app: typer.Typer, say: Say) -> None:
    models = typer.Typer(help=say("help.models"), no_args_is_help=True)
    app.add_typer(models, name="model")
    name_argument = typer.Argument(help=say("help.model.name"))

    @models.command(help=say("help.model.pull"))
    def pull() -> None:  # pyright: ignore[reportUnusedFunction]
        from .model import pull as command

        command(say)

    @models.command("list", help=say("help.model.list"))
    def list_models(  # pyright: ignore[reportUnusedFunction]
        json: Annotated[bool, typer.Option("--json", help=say("help.json"))] = False,
    ) -> None:
        from .model import list_models as command

        command(say, as_json=json)

    @models.command(help=say("help.model.remove"))
    def remove(  # pyright: ignore[reportUnusedFunction]
        name: Annotated[str, name_argument],
    ) -> None:
        from .model import remove as command

        command(say, name)


def _add_eval(app: typer.Typer, say: Say) -> None:
    evals = typer.Typer(help=say("help.eval"), no_args_is_help=True)
    app.add_typer(evals, name="eval")

    @evals.command(help=say("help.eval.tasks"))
    def tasks(  # pyright: ignore[reportUnusedFunction]
        suite: Annotated[Path, typer.Argument(help=say("help.eval.suite"))] = _SUITE,
        runs: Annotated[int, typer.Option(min=1, help=say("help.eval.runs"))] = 3,
        at_least: Annotated[int, typer.Option(min=0, help=say("help.eval.at_least"))] = 0,
        limit: Annotated[float, typer.Option(min=1, help=say("help.eval.limit"))] = 300,
        provider: Annotated[
            str | None, typer.Option("--provider", help=say("help.provider"))
        ] = None,
        model: Annotated[str | None, typer.Option("--model", help=say("help.model"))] = None,
        base_url: Annotated[
            str | None, typer.Option("--base-url", help=say("help.base_url"))
        ] = None,
        dialect: Annotated[str | None, typer.Option("--dialect", help=say("help.dialect"))] = None,
        json: Annotated[bool, typer.Option("--json", help=say("help.json"))] = False,
        data: Annotated[Path | None, typer.Option(help=say("help.data"))] = None,
    ) -> None:
        from .eval import tasks as command

        flags = {"provider": provider, "model": model, "base_url": base_url, "dialect": dialect}
        counts = {"runs": runs, "at_least": at_least}
        command(say, suite, flags=flags, as_json=json, data=data, limit_s=limit, **counts)

    @evals.command(help=say("help.eval.dialects"))
    def dialects(  # pyright: ignore[reportUnusedFunction]
        suite: Annotated[Path, typer.Argument(help=say("help.eval.suite"))] = _SUITE,
        names: Annotated[
            str, typer.Option("--dialects", help=say("help.eval.names"))
        ] = "schema,tagged,markdown,plain_zh,classic",
        limit: Annotated[float, typer.Option(min=1, help=say("help.eval.limit"))] = 300,
        provider: Annotated[
            str | None, typer.Option("--provider", help=say("help.provider"))
        ] = None,
        model: Annotated[str | None, typer.Option("--model", help=say("help.model"))] = None,
        base_url: Annotated[
            str | None, typer.Option("--base-url", help=say("help.base_url"))
        ] = None,
        json: Annotated[bool, typer.Option("--json", help=say("help.json"))] = False,
        data: Annotated[Path | None, typer.Option(help=say("help.data"))] = None,
    ) -> None:
        from .eval import dialects as command

        flags = {"provider": provider, "model": model, "base_url": base_url}
        command(say, suite, names=names, limit_s=limit, flags=flags, as_json=json, data=data)
