"""`wenfang serve`: the server and the studio, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import logging
from pathlib import Path

from wenfang.server import PublicUrl, Services, bind, url_of
from wenfang.server import serve as serve_app
from wenfang.settings import data_dir, database_url

from .language import Say
from .loop import make_runner
from .project import existing_folder


def serve(
    say: Say,
    *,
    host: str,
    port: int,
    data: Path | None,
    project: Path | None,
    with_accounts: bool,
    public_url: str,
    database: str | None,
) -> None:
    """Raises `Problem` before the first line is printed, if the server cannot start."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    folder, url = data_dir(data), database_url(database)
    opened = existing_folder(project) if project is not None else None
    public = PublicUrl.parse(public_url) if public_url else None
    bound = bind(host, port, is_public=public is not None)
    address = public.origin if public else url_of(bound)

    def ready(services: Services) -> None:
        _tell(say("serve.ready", url=address))
        _tell(say("serve.data", path=folder))
        if services.accounts is not None and services.setup_code:
            _tell(say("serve.setup", url=address, code=services.setup_code))
        if url is not None:
            _tell(say("serve.database", name=services.runs.database_name))
        status = services.models.status()
        if not status.is_ready:
            why = {"why": status.why}
            _tell(say("serve.no_model", text=say.problem("model_unavailable", why)))

    with bound, make_runner() as runner:
        runner.run(
            serve_app(
                folder,
                bound,
                project=opened,
                with_accounts=with_accounts,
                public=public,
                database=url,
                ready=ready,
            )
        )


def _tell(text: str) -> None:
    print(text, flush=True)  # noqa: T201
