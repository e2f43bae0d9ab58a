"""The embedded model: a pinned file that is fetched once, and the process that runs it."""

from .catalogue import DEFAULT_MODEL, ModelFile, Parts
from .errors import LocalModelError
from .model import LocalModel
from .pull import Progress, pull_model
from .server import Endpoint, LocalServer, WorkerOptions, default_options
from .store import LocalFile, default_store, find_model, list_models, remove_model

__all__ = [
    "DEFAULT_MODEL",
    "Endpoint",
    "LocalFile",
    "LocalModel",
    "LocalModelError",
    "LocalServer",
    "ModelFile",
    "Parts",
    "Progress",
    "WorkerOptions",
    "default_options",
    "default_store",
    "find_model",
    "list_models",
    "pull_model",
    "remove_model",
]
